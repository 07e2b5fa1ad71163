import type { FlowPhase } from '@addon-operator/sdk';
import type { FlowSubject } from '../extensions/flow/flow-pass.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ModuleDelete, ModuleRun } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { ModuleOperation } from '../status/module-object.ts';

/** The parts that describe a module. */
export interface FlowSubjectParts {
  readonly registry: ModuleRegistry;
}

interface FlowMoment {
  readonly task: ModuleRun | ModuleDelete;
  readonly operation: ModuleOperation | undefined;
  /** The result of the step; absent before. */
  readonly end?: { readonly error: string | undefined };
}

/** The module of a reconcile in the format of flow hooks. */
export function flowSubject(
  operator: FlowSubjectParts,
  tracked: TrackedModule,
  moment: FlowMoment,
): FlowSubject {
  const { module, history } = tracked;
  const release = tracked.release.deployed;
  const error = moment.end?.error;
  return {
    module: {
      name: module.name,
      path: module.path,
      version: module.version ?? null,
      isEnabled: operator.registry.isEnabled(module.name),
      phase: phaseOf(tracked, moment),
      operation: moment.operation ?? null,
      lastReconcileMs: history.reconcileStartedMs ?? null,
      lastError: history.lastError,
      reconcileEvery: module.manifest.reconcileEvery ?? null,
      release: release === undefined ? null : { revision: release.revision, digest: release.digest ?? null },
    },
    ...(error !== undefined && { error }),
  };
}

function phaseOf(tracked: TrackedModule, { task, end }: FlowMoment): FlowPhase {
  if (task.type === 'ModuleDelete') return 'Deleting';
  if (end?.error !== undefined) return 'Failed';
  // A change after a final failure counts as a new run, so the phase is not Failed any more.
  if (end === undefined && (tracked.isUnfinished || task.isRecheck !== true)) return 'Init';
  return tracked.stall === undefined ? 'Succeeded' : 'Failed';
}
