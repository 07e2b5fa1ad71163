import { expect, test } from 'vitest';
import type { ModuleStatusFields } from './module-status.ts';
import { statusChange } from './status-change.ts';

const CONDITION = {
  type: 'Ready',
  status: 'True',
  reason: 'Succeeded',
  message: '',
  lastTransitionTime: '1970-01-01T00:00:00Z',
  observedGeneration: 1,
} as const;
const RUN = { hook: 'a', binding: 'schedule', startedAt: 'then', durationMs: 1, result: 'success' } as const;
const STATUS: ModuleStatusFields = {
  observedGeneration: 1,
  operator: 'ns/cm',
  phase: 'Succeeded',
  enablement: { enabled: true, reason: '' },
  lastReconcileTime: 'then',
  hookRuns: [RUN],
  conditions: [CONDITION],
};

test.each<[string, ModuleStatusFields, unknown, string]>([
  ['the same', STATUS, STATUS, 'none'],
  ['keys in another order', STATUS, { ...STATUS, enablement: { reason: '', enabled: true } }, 'none'],
  ['fields of others', STATUS, { ...STATUS, endpoint: 'https://web' }, 'none'],
  [
    'conditions of others',
    STATUS,
    { ...STATUS, conditions: [{ ...CONDITION, type: 'Paid' }, CONDITION] },
    'none',
  ],
  ['no status', STATUS, undefined, 'substance'],
  ['another phase', { ...STATUS, phase: 'Failed' }, STATUS, 'substance'],
  ['another description', { ...STATUS, description: 'new' }, { ...STATUS, description: 'old' }, 'substance'],
  ['another stage', { ...STATUS, stage: 'Preview' }, STATUS, 'substance'],
  ['a field too many', STATUS, { ...STATUS, lastError: 'old' }, 'substance'],
  ['another condition', { ...STATUS, conditions: [{ ...CONDITION, status: 'False' }] }, STATUS, 'substance'],
  ['a later run', { ...STATUS, lastReconcileTime: 'now' }, STATUS, 'chatter'],
  ['a later run of a hook', { ...STATUS, hookRuns: [{ ...RUN, startedAt: 'now' }] }, STATUS, 'chatter'],
  [
    'a hook that fails now',
    { ...STATUS, hookRuns: [{ ...RUN, result: 'failure', error: 'x' }] },
    STATUS,
    'substance',
  ],
])('statusChange() with %s', (_name, wanted, current, expected) => {
  expect(statusChange(wanted, current)).toBe(expected);
});
