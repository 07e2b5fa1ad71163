import type { Module } from '../modules/module.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import { editCommand } from '../values/operator-config-map.ts';
import { ConvergeState } from './converge-state.ts';
import { GlobalHooks } from './global-hooks.ts';
import type { HandOvers } from './hand-overs.ts';
import { ModuleOperations } from './module-operations.ts';
import { ModuleRegistry } from './module-registry.ts';
import { type OperatorPolicy, operatorPolicy } from './operator-policy.ts';
import type { Pauses } from './pauses.ts';
import { PendingUpdates } from './pending-updates.ts';
import { RunAborts } from './run-aborts.ts';
import { StatusTimes } from './status-times.ts';
import { SwitchRequests } from './switch-requests.ts';

/**
 * The state of the running operator. Each part is the only writer of its data; all rooms above read
 * it.
 */
export interface Model {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly globalHooks: GlobalHooks;
  readonly operations: ModuleOperations;
  readonly aborts: RunAborts;
  readonly updates: PendingUpdates;
  readonly switchRequests: SwitchRequests;
  readonly statusTimes: StatusTimes;
  readonly policy: OperatorPolicy;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll' | 'resume'>;
  readonly handOvers: Pick<HandOvers, 'isAway' | 'during'>;
}

export interface ModelParts {
  readonly settings: Parameters<typeof operatorPolicy>[0] & InstanceSettings;
  /** All modules that were found, in run order. */
  readonly modules: readonly Module[];
  /** Whether flags disable a module. */
  readonly isFlaggedOff: ConstructorParameters<typeof ModuleRegistry>[1];
  /** Operations that users request by annotations; undefined where there are no Module objects. */
  readonly operationSource: ConstructorParameters<typeof ModuleOperations>[0];
  readonly pauses: Model['pauses'];
  readonly handOvers: Model['handOvers'];
}

/** The state before the first task. */
export function createModel({
  settings,
  modules,
  isFlaggedOff,
  operationSource,
  pauses,
  handOvers,
}: ModelParts): Model {
  return {
    registry: new ModuleRegistry(modules, isFlaggedOff),
    converge: new ConvergeState(editCommand(settings)),
    globalHooks: new GlobalHooks(),
    operations: new ModuleOperations(operationSource),
    aborts: new RunAborts(),
    updates: new PendingUpdates(),
    switchRequests: new SwitchRequests(),
    statusTimes: new StatusTimes(),
    policy: operatorPolicy(settings),
    pauses,
    handOvers,
  };
}
