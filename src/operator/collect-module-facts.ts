import { codeOf, messageOf } from '@addon-operator/base/errors';
import type { Module } from '../modules/module.ts';
import type { ModuleExplanation } from '../status/module-explanation.ts';
import type { ModuleFacts } from '../status/module-facts.ts';
import type { ModuleName } from '../values/module-key.ts';
import { explainModule, heldExplanations } from './explain-module.ts';
import type { Explained } from './explained.ts';
import type { HookRunEnd } from './hook-execution.ts';
import { type Place, type PlacesByModule, placesByModule } from './module-places.ts';
import type { ModuleRegistry } from './module-registry.ts';
import type { HookRun } from './tasks.ts';

/** What the objects of all modules are made from, in run order. Sends no request. */
export function moduleFacts(operator: Explained): readonly ModuleFacts[] {
  const queued = placesByModule(operator);
  const known = operator.registry.modules.map((module) => factsOrProblem(operator, module, queued));
  return [...known, ...heldExplanations(operator, []).map(heldFacts)];
}

/** The same of one module; undefined if there is no such module. */
export function factsOfModule(operator: Explained, name: string): ModuleFacts | undefined {
  const module = operator.registry.find(name);
  if (module !== undefined) return factsOrProblem(operator, module, placesByModule(operator));
  const held = heldExplanations(operator, []).find((other) => other.module === name);
  return held && heldFacts(held);
}

function factsOrProblem(operator: Explained, module: Module, queued: PlacesByModule): ModuleFacts {
  try {
    return factsOf(operator, module, queued);
  } catch (error) {
    // The status of other modules must not depend on it.
    return unreadableFacts(operator, module, error);
  }
}

function heldFacts({ release: _release, ...explanation }: ModuleExplanation): ModuleFacts {
  return {
    explanation,
    release: undefined,
    isDeployed: false,
    progress: 'none',
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}

function factsOf(operator: Explained, module: Module, queued: PlacesByModule): ModuleFacts {
  const { release: _release, ...explanation } = explainModule(operator, module, [], queued);
  const tracked = operator.registry.tracked.get(module.name);
  return {
    explanation,
    release: tracked?.release.deployed,
    isDeployed: tracked?.isDeployed === true,
    progress: progressOf(operator, module.name, queued.get(module.name) ?? []),
    reconciledAtMs: tracked?.history.reconcileStartedMs,
    hookRuns: tracked?.history.hookRuns ?? [],
  };
}

function unreadableFacts(operator: Explained, { name, order, path }: Module, cause: unknown): ModuleFacts {
  const error = `The state of the module cannot be described, please report this: ${messageOf(cause)}`;
  return {
    explanation: {
      module: name,
      status: 'failing',
      isEnabled: operator.registry.isEnabled(name),
      source: null,
      reason: error,
      position: {
        place: operator.registry.modules.findIndex((other) => other.name === name) + 1,
        of: operator.registry.modules.length,
        order,
      },
      path,
      version: null,
      deletionPolicy: 'delete',
      requires: [],
      phase: 'not started',
      waitsFor: [],
      failure: {
        error,
        code: codeOf(cause) ?? 'INTERNAL',
        attempts: 1,
        nextAttemptAt: null,
        isGivenUp: false,
      },
      lastRun: null,
      nextReconcileAt: null,
      pause: null,
      drift: null,
    },
    release: undefined,
    isDeployed: false,
    progress: 'none',
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}

/** A converge runs all modules, and does not make each of them pending for that. */
function progressOf(
  { registry, operations }: Explained,
  module: ModuleName,
  places: readonly Place[],
): ModuleFacts['progress'] {
  const tracked = registry.tracked.get(module);
  if (tracked?.ongoing !== undefined) return 'running';
  if (tracked?.state.isRunPending === true || operations.isRunRequested(module)) return 'pending';
  const isPending = ({ entry: { task } }: Place): boolean =>
    task.type === 'ModuleRun' && !task.isPartOfConverge && task.isRecheck !== true;
  return places.some(isPending) ? 'pending' : 'none';
}

/** Remembers how a run of a hook for a module ended, in place of the one before for the same binding. */
export function noteHookRun(
  registry: ModuleRegistry,
  { run, startedAtMs, durationMs, error }: HookRunEnd,
): void {
  const { name: hook } = run.hook.hook;
  const tracked = stateFor(registry, run);
  if (tracked === undefined) return;
  const { binding } = run;
  tracked.history.noteHookRun({ hook, binding, startedAtMs, durationMs: Math.round(durationMs), error });
}

/** Of the module whose hook it is, or that a hook of its deploy looks on. */
function stateFor({ tracked }: ModuleRegistry, { hook: { hook }, reasons: [reason] }: HookRun) {
  if (hook.owner.type === 'module') return tracked.get(hook.owner.module);
  if (reason?.type !== 'deploy') return undefined;
  return [...tracked.values()].find(({ module }) => module.name === reason.facts.module.name);
}
