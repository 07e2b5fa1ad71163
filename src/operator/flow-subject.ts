import type { FlowSubject } from '../extensions/flow/flow-pass.ts';
import type { FlowPhase } from '../sdk/flow-hooks.ts';
import type { ModuleOperation } from '../status/module-object.ts';
import { isUnfinished, type ModuleState } from './module-state.ts';
import type { Operator } from './operator.ts';
import type { ModuleDelete, ModuleRun } from './tasks.ts';

interface FlowMoment {
  readonly task: ModuleRun | ModuleDelete;
  readonly operation: ModuleOperation | undefined;
  /** Why the step failed. */
  readonly error?: string;
}

/** What flow hooks are told of the module that is reconciled. */
export function flowSubject(
  operator: Operator,
  state: ModuleState,
  { task, operation, error }: FlowMoment,
): FlowSubject {
  const { module, release, lastError } = state;
  return {
    module: {
      name: module.name,
      path: module.path,
      version: module.version ?? null,
      isEnabled: operator.isEnabled(module.name),
      phase: phaseOf(state, task),
      operation: operation ?? null,
      lastReconcileMs: state.reconcileStartedMs ?? null,
      lastError,
      reconcileEvery: null,
      release: release === undefined ? null : { revision: release.revision, digest: release.digest ?? null },
    },
    ...(error !== undefined && { error }),
  };
}

function phaseOf(state: ModuleState, task: ModuleRun | ModuleDelete): FlowPhase {
  if (task.type === 'ModuleDelete') return 'Deleting';
  if (state.ongoing !== undefined) return 'Progressing';
  if (state.givenUp !== undefined) return 'Failed';
  return isUnfinished(state) || task.isRecheck !== true ? 'Init' : 'Succeeded';
}
