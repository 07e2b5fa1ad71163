/**
 * Derives Events from the difference between two statuses of a module. It is pure; the old status is the one in the
 * cluster. Each function below covers one kind of change, and returns nothing if its part of the status is the same.
 */

import { fieldsOf, isObject } from '@addon-operator/json';
import { headlineOf } from '@addon-operator/strings/headline';
import { bounded, type ConditionType } from './module-conditions.ts';
import type { ModuleStatusFields } from './module-status.ts';

export type EventReason =
  | 'Enabled'
  | 'Disabled'
  | 'Deployed'
  | 'Failed'
  | 'Unauthorized'
  | 'HookFailed'
  | 'HeldUp'
  | 'Recovered'
  | 'HandedOver'
  | 'Paused'
  | 'Resumed'
  | 'UnknownOperation'
  | 'Drifted'
  | 'DriftEnded'
  | 'DeletionHeld'
  | 'Requested'
  | 'FinalizerReleased'
  | 'LeftBehind'
  | 'RolledBack'
  | 'RollbackFailed'
  | 'SettingsWarning'
  | 'VersionInstalled'
  | 'UpdatePending'
  | 'UpdateFailed'
  | 'ModuleRemoved';

/** Something that happened to a module and that a user should notice. */
export interface RecordedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
}

/**
 * The Events for the changes between two statuses of a module. The first one is the status in the cluster, so that a restarted daemon
 * repeats nothing.
 */
export function eventsBetween(before: unknown, after: ModuleStatusFields): readonly RecordedEvent[] {
  const old = fieldsOf(before);
  return [
    ...enablement(old, after),
    ...refusal(old, after),
    ...obstacle(old, after),
    ...pause(old, after),
    ...runs(old, after),
    ...hooks(old, after),
    ...drift(old, after),
  ].map((event) => ({ ...event, message: bounded(event.message) }));
}

type Fields = Readonly<Record<string, unknown>>;

/** `Enabled` and `Disabled`: only a real change, so not the first decision to disable. */
function enablement(
  old: Fields,
  { conditions, enablement: { reason } }: ModuleStatusFields,
): RecordedEvent[] {
  // Why it counts as enabled is not known then: flags in its own values are not read.
  if (isRefused(conditions)) return [];
  const now = conditions.find(({ type }) => type === 'Enabled')?.status;
  const was = conditionOf(old, 'Enabled')?.['status'];
  if (now === 'True' && was !== 'True')
    return [{ type: 'Normal', reason: 'Enabled', message: `The module is enabled: ${reason}` }];
  if (now === 'False' && was === 'True')
    return [{ type: 'Normal', reason: 'Disabled', message: `The module is disabled: ${reason}` }];
  return [];
}

/** `Unauthorized`, again when the reason changes. */
function refusal(old: Fields, { conditions }: ModuleStatusFields): RecordedEvent[] {
  const now = conditions.find(({ type }) => type === 'Stalled');
  if (now === undefined || !isRefused(conditions)) return [];
  const was = conditionOf(old, 'Stalled');
  if (was?.['reason'] === now.reason && was['message'] === now.message) return [];
  return [{ type: 'Warning', reason: 'Unauthorized', message: `The module is ${now.message}` }];
}

/** Reasons of `Ready` that other Events do not report. A hook that runs for ten seconds is not reported yet. */
const OBSTACLES: ReadonlySet<unknown> = new Set([
  'ConfigMapRefused',
  'DirectoryGone',
  'DriftNotCorrected',
  'FilesNotLoaded',
  'Forbidden',
  'HookFailed',
  'HookHangs',
  'NotReady',
  'QueueBlocked',
  'RequirementFailed',
  'RequirementMissing',
  'SourceUnavailable',
  'WatchFailed',
]);

/** `HeldUp` for a new obstacle, `Recovered` when `Ready` becomes true again. */
function obstacle(old: Fields, { conditions }: ModuleStatusFields): RecordedEvent[] {
  const now = conditions.find(({ type }) => type === 'Ready');
  const was = conditionOf(old, 'Ready');
  if (now === undefined) return [];
  if (now.status === 'True' && was?.['status'] !== 'True' && OBSTACLES.has(was?.['reason']))
    return [{ type: 'Normal', reason: 'Recovered', message: 'Nothing is in the way of the module any more' }];
  if (!OBSTACLES.has(now.reason) || now.status === 'True') return [];
  if (was?.['reason'] === now.reason && was['message'] === now.message) return [];
  return [{ type: 'Warning', reason: 'HeldUp', message: `${now.reason}: ${now.message}` }];
}

/** `Paused`, `Resumed` and `HandedOver`. */
function pause(old: Fields, { conditions }: ModuleStatusFields): RecordedEvent[] {
  const now = conditions.find(({ type }) => type === 'Ready');
  const before = conditionOf(old, 'Ready')?.['reason'];
  if (now?.reason === 'HandedOver')
    return before === 'HandedOver' ? [] : [{ type: 'Normal', reason: 'HandedOver', message: now.message }];
  if (before === 'HandedOver')
    return [{ type: 'Normal', reason: 'Resumed', message: 'The module is taken back' }];
  const isPaused = now?.reason === 'Paused';
  const wasPaused = before === 'Paused';
  if (isPaused && !wasPaused) return [{ type: 'Normal', reason: 'Paused', message: now.message }];
  // Something else may be in front of the pause.
  if (wasPaused && now?.status !== 'False')
    return isPaused
      ? []
      : [{ type: 'Normal', reason: 'Resumed', message: 'The module is not paused any more' }];
  return [];
}

function isRefused(conditions: ModuleStatusFields['conditions']): boolean {
  return conditions.some(({ type, reason }) => type === 'Stalled' && reason === 'Unauthorized');
}

/** `Deployed` for a new revision, `Failed` for each further failed attempt. */
function runs(old: Fields, { release, lastError, failedAttempts }: ModuleStatusFields): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  const revision = isObject(old['release']) ? old['release']['revision'] : undefined;
  if (release !== undefined && release.revision !== revision) {
    const message = `Revision ${release.revision} of release ${release.name} is deployed`;
    events.push({ type: 'Normal', reason: 'Deployed', message });
  }
  const isNew = failedAttempts !== old['failedAttempts'] || lastError !== old['lastError'];
  if (lastError !== undefined && isNew)
    events.push({ type: 'Warning', reason: 'Failed', message: headlineOf(lastError) });
  return events;
}

/** `HookFailed` for each failed run that the old status does not contain. */
function hooks(old: Fields, { hookRuns = [] }: ModuleStatusFields): RecordedEvent[] {
  const known = (Array.isArray(old['hookRuns']) ? old['hookRuns'] : []).filter(isObject);
  return hookRuns
    .filter(({ result }) => result === 'failure')
    .filter(
      ({ hook, binding, startedAt }) =>
        !known.some(
          (run) => run['hook'] === hook && run['binding'] === binding && run['startedAt'] === startedAt,
        ),
    )
    .map(({ binding, error }) => ({
      type: 'Warning',
      reason: 'HookFailed',
      message: `${binding}: ${error ?? ''}`,
    }));
}

/** `Drifted`, again when other objects change, and `DriftEnded`. */
function drift(old: Fields, { conditions }: ModuleStatusFields): RecordedEvent[] {
  const now = conditions.find(({ type }) => type === 'Drifted');
  const was = conditionOf(old, 'Drifted');
  if (now?.status === 'True' && (was?.['status'] !== 'True' || was['message'] !== now.message))
    return [{ type: 'Warning', reason: 'Drifted', message: `Changed by other clients: ${now.message}` }];
  if (now?.status === 'False' && was?.['status'] === 'True')
    return [{ type: 'Normal', reason: 'DriftEnded', message: now.message }];
  return [];
}

function conditionOf({ conditions }: Fields, type: ConditionType): Fields | undefined {
  const known: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return known.filter(isObject).find((condition) => condition['type'] === type);
}
