import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { checkReconcileSchedules, nextReconcile } from './reconcile-schedule.ts';

const NOON_MS = Date.parse('2026-05-31T12:00:00Z');
const HOUR_MS = 3_600_000;

test.each([
  ['90m', NOON_MS + 1.5 * HOUR_MS],
  ['TZ=UTC 0 15 * * *', NOON_MS + 3 * HOUR_MS],
  ['TZ=UTC 0 12 * * *', NOON_MS + 24 * HOUR_MS],
  ['TZ=UTC @hourly', NOON_MS + HOUR_MS],
])('%s is due next in its time', (reconcileEvery, expected) => {
  expect(nextReconcile(reconcileEvery, NOON_MS)).toBe(expected);
});

test('a crontab that cannot be read is refused with the file and what else is possible', () => {
  const module = (reconcileEvery: string | undefined) =>
    moduleFor('web', 1, { manifest: { ...NO_MANIFEST, reconcileEvery } });
  expect(() => checkReconcileSchedules([module('10m'), module(undefined), module('@daily')])).not.toThrow();
  expect(() => checkReconcileSchedules([module('0 25 * * *')])).toThrow(
    /^\/modules\/web\/module\.yaml: reconcileEvery: Cannot use crontab "0 25 \* \* \*": .*; a duration such as 10m is also accepted$/,
  );
});
