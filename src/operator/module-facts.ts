import type { HookRunFacts, ModuleFacts } from '../status/module-facts.ts';
import { explainModule } from './explain-module.ts';
import type { HookRunEnd } from './hook-execution.ts';
import type { Operator } from './operator.ts';
import type { HookRun } from './tasks.ts';

const MAX_HOOK_RUNS = 10;

/** What the objects of all modules are made from, in run order. Asks nobody. */
export function moduleFacts(operator: Operator): readonly ModuleFacts[] {
  return operator.modules.map((module) => {
    const { release: _release, ...explanation } = explainModule(operator, module, []);
    const state = operator.moduleStates.get(module.name);
    return {
      explanation,
      release: state?.release,
      isDeployed: state?.hasSucceeded === true && state.lastRun?.result === 'success',
      hookRuns: state?.hookRuns ?? [],
    };
  });
}

/** Remembers how a run of a hook for a module ended, in place of the one before for the same binding. */
export function noteHookRun(operator: Operator, { run, startedAtMs, durationMs, error }: HookRunEnd): void {
  const { name: hook } = run.hook.hook;
  const state = stateFor(operator, run);
  if (state === undefined) return;
  const { binding } = run;
  const ended: HookRunFacts = { hook, binding, startedAtMs, durationMs, error };
  const others = state.hookRuns.filter((other) => other.hook !== hook || other.binding !== binding);
  state.hookRuns = [ended, ...others].slice(0, MAX_HOOK_RUNS);
}

/** Of the module whose hook it is, or that a hook of its deploy looks on. */
function stateFor({ moduleStates }: Operator, { hook: { hook }, reasons: [reason] }: HookRun) {
  if (hook.owner.type === 'module') return moduleStates.get(hook.owner.module);
  if (reason?.type !== 'deploy') return undefined;
  return [...moduleStates.values()].find(({ module }) => module.name === reason.facts.module.name);
}
