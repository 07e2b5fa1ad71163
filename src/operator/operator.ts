import type { GlobalHookRunParts } from '../hook-runs/global-hook-run.ts';
import type { ModuleHookRunParts } from '../hook-runs/module-hook-run.ts';
import type { Journal } from '../journal/journal.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import type { RunAborts } from '../model/run-aborts.ts';
import type { IsolationParts } from '../queues/isolation.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { ModuleDeploymentParts } from '../reconcile/deploy-module.ts';
import type { DiscoveryPassParts } from '../reconcile/discover-modules.ts';
import type { ModuleRemovalParts } from '../reconcile/module-delete.ts';
import type { ModuleLifecycleParts } from '../reconcile/module-lifecycle.ts';
import type { ModuleMemory } from '../reconcile/module-memory.ts';
import type { ModuleRunnerParts } from '../reconcile/module-run.ts';
import type { ModuleTasksParts } from '../reconcile/module-tasks.ts';
import type { PurgeReleasesParts } from '../reconcile/purge-releases.ts';
import type { ReconcileModuleParts } from '../reconcile/reconcile-module.ts';
import type { RefusedModulesParts } from '../reconcile/refused-modules.ts';
import type { Recorder } from '../recordings/recorder.ts';
import type { HandOverTasksParts } from '../requests/hand-over-tasks.ts';
import type { PauseTasksParts } from '../requests/pause-tasks.ts';
import type { RequestOperationParts } from '../requests/request-operation.ts';
import type { ViewedOperator } from '../views/operator-view.ts';
import type { ApplyConfigParts } from './apply-config.ts';
import type { ConfigChangesParts } from './config-changes.ts';
import type { LifecycleParts } from './lifecycle.ts';
import type { ReloadFilesParts } from './reload-files.ts';

/**
 * All parts of the operator. Only the code that builds it, or builds parts from it, has this type: each function and each
 * part of this directory declares the few parts that it uses.
 */
export type Operator = {
  readonly aborts: RunAborts;
  readonly journal: Journal;
  readonly recorder: Recorder;
  readonly traces: TaskTraces;
  readonly policy: Pick<OperatorPolicy, 'failurePolicy'>;
  readonly memory: Pick<ModuleMemory, 'filesOf' | 'names'>;
} & RequestOperationParts &
  ConfigChangesParts &
  LifecycleParts &
  ViewedOperator &
  Omit<ApplyConfigParts, 'preparation'> &
  Omit<DiscoveryPassParts, 'refusals'> &
  GlobalHookRunParts &
  HandOverTasksParts &
  IsolationParts &
  ModuleHookRunParts &
  ModuleLifecycleParts &
  ModuleTasksParts &
  Omit<ModuleDeploymentParts, 'preparation' | 'refusals'> &
  Omit<ModuleRemovalParts, 'lifecycle'> &
  Omit<ModuleRunnerParts, 'deployment' | 'lifecycle' | 'synchronizations'> &
  PauseTasksParts &
  PurgeReleasesParts &
  Omit<ReconcileModuleParts, 'removal' | 'runner'> &
  RefusedModulesParts &
  Omit<ReloadFilesParts, 'removal'>;
