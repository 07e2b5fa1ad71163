import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { nextReconcile, withReadableSchedules } from './reconcile-schedule.ts';

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

test('a module with a crontab that cannot be read is not run, for a reason with the file and what else is possible', () => {
  const module = (reconcileEvery: string | undefined) =>
    moduleFor('web', 1, { manifest: { ...NO_MANIFEST, reconcileEvery } });
  const good = [module('10m'), module(undefined), module('@daily')];
  expect(withReadableSchedules(good)).toEqual(good);
  expect(withReadableSchedules([module('0 25 * * *')])).toMatchObject([
    {
      manifest: { reconcileEvery: undefined },
      refusal: {
        type: 'invalid',
        reason: expect.stringMatching(
          /^\/modules\/web\/module\.yaml: reconcileEvery: Cannot use crontab "0 25 \* \* \*": .*; a duration such as 10m is also accepted$/,
        ),
      },
    },
  ]);
});
