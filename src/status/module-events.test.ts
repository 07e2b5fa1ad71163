import { expect, test } from 'vitest';
import { eventsBetween } from './module-events.ts';
import type { ModuleStatusFields } from './module-status.ts';

const condition = (
  type: 'Enabled' | 'Ready' | 'Drifted' | 'Stalled',
  status: 'True' | 'False' | 'Unknown',
  message = '',
) => ({
  type,
  status,
  reason: 'So',
  message,
  lastTransitionTime: '',
  observedGeneration: 1,
});
const STATUS: ModuleStatusFields = {
  observedGeneration: 1,
  operator: 'ns/cm',
  enablement: { enabled: true, reason: 'webEnabled is true' },
  release: { name: 'web', revision: 3 },
  conditions: [condition('Enabled', 'True'), condition('Drifted', 'False', 'as applied')],
};
const ENABLED = condition('Enabled', 'True');
const refused = (reason: string): ModuleStatusFields => ({
  ...STATUS,
  conditions: [
    ...STATUS.conditions,
    { ...condition('Stalled', 'True', `not authorized: ${reason}`), reason: 'Unauthorized' },
  ],
});
const ready = (
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
): ModuleStatusFields => ({
  ...STATUS,
  conditions: [...STATUS.conditions, { ...condition('Ready', status, message), reason }],
});
const BLOCKED = 'ModuleRun db at the head of queue main fails: no disk';
const FAILED_RUN = {
  hook: 'a',
  binding: 'schedule',
  startedAt: 'then',
  durationMs: 1,
  result: 'failure',
  error: 'broken',
} as const;

test.each<[string, unknown, ModuleStatusFields, readonly string[]]>([
  ['nothing changed', STATUS, STATUS, []],
  [
    'held up by a task of others',
    ready('True', 'Succeeded', ''),
    ready('False', 'QueueBlocked', BLOCKED),
    ['Warning HeldUp: QueueBlocked: ModuleRun db at the head of queue main fails: no disk'],
  ],
  [
    'held up by the same',
    ready('False', 'QueueBlocked', BLOCKED),
    ready('False', 'QueueBlocked', BLOCKED),
    [],
  ],
  [
    'held up by something else',
    ready('False', 'QueueBlocked', 'a fails'),
    ready('False', 'ConfigMapRefused', 'replicas'),
    ['Warning HeldUp: ConfigMapRefused: replicas'],
  ],
  [
    'disabled for a requirement that is missing',
    ready('False', 'Disabled', ''),
    ready('False', 'RequirementMissing', 'requires module db'),
    ['Warning HeldUp: RequirementMissing: requires module db'],
  ],
  ['waiting for a hook', ready('True', 'Succeeded', ''), ready('Unknown', 'HookRunning', 'hook a.sh'), []],
  [
    'not held up any more',
    ready('False', 'ConfigMapRefused', 'replicas'),
    ready('True', 'Succeeded', ''),
    ['Normal Recovered: Nothing is in the way of the module any more'],
  ],
  [
    'paused',
    ready('True', 'Succeeded', ''),
    ready('True', 'Paused', 'Paused: disks'),
    ['Normal Paused: Paused: disks'],
  ],
  ['still paused', ready('True', 'Paused', 'Paused: disks'), ready('False', 'Paused', 'Paused'), []],
  [
    'resumed',
    ready('True', 'Paused', 'Paused: disks'),
    ready('Unknown', 'Progressing', ''),
    ['Normal Resumed: The module is not paused any more'],
  ],
  [
    'a new object of a module that is refused',
    undefined,
    refused('no signature'),
    [
      'Warning Unauthorized: The module is not authorized: no signature',
      'Normal Deployed: Revision 3 of release web is deployed',
    ],
  ],
  [
    'a new object',
    undefined,
    STATUS,
    [
      'Normal Enabled: The module is enabled: webEnabled is true',
      'Normal Deployed: Revision 3 of release web is deployed',
    ],
  ],
  [
    'disabled',
    STATUS,
    {
      ...STATUS,
      enablement: { enabled: false, reason: 'no more' },
      conditions: [condition('Enabled', 'False')],
    },
    ['Normal Disabled: The module is disabled: no more'],
  ],
  [
    'never enabled',
    undefined,
    {
      observedGeneration: 1,
      operator: 'ns/cm',
      enablement: { enabled: false, reason: '' },
      conditions: [condition('Enabled', 'False')],
    },
    [],
  ],
  [
    'upgraded',
    STATUS,
    { ...STATUS, release: { name: 'web', revision: 4 } },
    ['Normal Deployed: Revision 4 of release web is deployed'],
  ],
  [
    'failed again',
    { ...STATUS, lastError: 'no disk', failedAttempts: 1 },
    { ...STATUS, lastError: 'no disk', failedAttempts: 2 },
    ['Warning Failed: no disk'],
  ],
  [
    'the same failure',
    { ...STATUS, lastError: 'no disk', failedAttempts: 2 },
    { ...STATUS, lastError: 'no disk', failedAttempts: 2 },
    [],
  ],
  ['a failing hook', STATUS, { ...STATUS, hookRuns: [FAILED_RUN] }, ['Warning HookFailed: schedule: broken']],
  ['a known failure', { ...STATUS, hookRuns: [FAILED_RUN] }, { ...STATUS, hookRuns: [FAILED_RUN] }, []],
  [
    'drift',
    STATUS,
    { ...STATUS, conditions: [ENABLED, condition('Drifted', 'True', 'a: /b')] },
    ['Warning Drifted: Changed by other clients: a: /b'],
  ],
  [
    'a refusal',
    STATUS,
    refused('no signature'),
    ['Warning Unauthorized: The module is not authorized: no signature'],
  ],
  ['the same refusal', refused('no signature'), refused('no signature'), []],
  [
    'a refusal for another reason',
    refused('no signature'),
    refused('no key'),
    ['Warning Unauthorized: The module is not authorized: no key'],
  ],
  [
    'the end of drift',
    { ...STATUS, conditions: [ENABLED, condition('Drifted', 'True', 'a: /b')] },
    STATUS,
    ['Normal DriftEnded: as applied'],
  ],
])('eventsBetween() for %s', (_name, before, after, expected) => {
  const events = eventsBetween(before, after);
  expect(events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual(expected);
});
