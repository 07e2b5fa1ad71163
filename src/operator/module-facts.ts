import type { QueueEntry } from '../queue/task-queue.ts';
import { type HookRunFacts, MAX_HOOK_RUNS, type ModuleFacts } from '../status/module-facts.ts';
import type { ModuleName } from '../values/module-key.ts';
import { explainModule } from './explain-module.ts';
import type { HookRunEnd } from './hook-execution.ts';
import type { Operator } from './operator.ts';
import type { HookRun, Task } from './tasks.ts';

/** What the objects of all modules are made from, in run order. Asks nobody. */
export function moduleFacts(operator: Operator): readonly ModuleFacts[] {
  return operator.modules.map((module) => {
    const { release: _release, ...explanation } = explainModule(operator, module, []);
    const state = operator.moduleStates.get(module.name);
    return {
      explanation,
      release: state?.release,
      isDeployed:
        state?.hasSucceeded === true && state.lastRun?.result === 'success' && state.givenUp === undefined,
      progress: progressOf(operator, module.name),
      reconciledAtMs: state?.reconcileStartedMs,
      hookRuns: state?.hookRuns ?? [],
    };
  });
}

/** A converge runs all modules, and does not make each of them pending for that. */
function progressOf({ moduleStates, deps }: Operator, module: ModuleName): ModuleFacts['progress'] {
  const state = moduleStates.get(module);
  if (state?.ongoing !== undefined) return 'running';
  if (state?.isRunOwed === true) return 'pending';
  const isPending = ({ task }: QueueEntry<Task>): boolean =>
    task.type === 'ModuleRun' && task.module === module && !task.isPartOfConverge && task.isRecheck !== true;
  return deps.queues.all.some(({ entries }) => entries.some(isPending)) ? 'pending' : 'none';
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
