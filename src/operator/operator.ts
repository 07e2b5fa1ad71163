import type { Recorder } from '@addon-operator/hook-recordings/recorder';
import type { Journal } from '../journal/journal.ts';
import type { ConfigChangesParts } from './config-changes.ts';
import type { HandOverTasksParts } from './hand-over-tasks.ts';
import type { ApplyConfigParts } from './handlers/apply-config.ts';
import type { ModuleDeploymentParts } from './handlers/deploy-module.ts';
import type { DiscoveryPassParts } from './handlers/discover-modules.ts';
import type { GlobalHookRunParts } from './handlers/global-hook-run.ts';
import type { ModuleRemovalParts } from './handlers/module-delete.ts';
import type { ModuleHookRunParts } from './handlers/module-hook-run.ts';
import type { ModuleLifecycleParts } from './handlers/module-lifecycle.ts';
import type { ModuleRunnerParts } from './handlers/module-run.ts';
import type { ModuleTasksParts } from './handlers/module-tasks.ts';
import type { PurgeReleasesParts } from './handlers/purge-releases.ts';
import type { ReloadFilesParts } from './handlers/reload-files.ts';
import type { IsolationParts } from './isolation.ts';
import type { LifecycleParts } from './lifecycle.ts';
import type { ModuleMemory } from './module-memory.ts';
import type { OperatorPolicy } from './operator-policy.ts';
import type { ViewedOperator } from './operator-view.ts';
import type { PauseTasksParts } from './pause-tasks.ts';
import type { ReconcileModuleParts } from './reconcile-module.ts';
import type { RefusedModulesParts } from './refused-modules.ts';
import type { RequestOperationParts } from './request-operation.ts';
import type { RunAborts } from './run-aborts.ts';
import type { TaskTraces } from './task-traces.ts';

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
