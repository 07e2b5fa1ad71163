import { expect, test } from 'vitest';
import { type HealStreak, NO_DRIFT_POLICY, nextHealAtMs, readDriftPolicy, withHeal } from './drift-policy.ts';

test('readDriftPolicy() reads mode and rules, short and long', () => {
  const problems: string[] = [];
  const ignore = [
    '/spec/replicas',
    { kind: 'Deployment', name: 'web', pointer: '/metadata/annotations/a~1b' },
  ];
  expect(readDriftPolicy({ mode: 'heal', ignore }, problems)).toEqual({
    mode: 'heal',
    ignore: [
      { kind: undefined, name: undefined, path: ['spec', 'replicas'] },
      { kind: 'Deployment', name: 'web', path: ['metadata', 'annotations', 'a/b'] },
    ],
  });
  expect(problems).toEqual([]);
});

test.each([
  [undefined, NO_DRIFT_POLICY],
  [null, NO_DRIFT_POLICY],
  [{}, NO_DRIFT_POLICY],
  [{ mode: false }, { mode: 'off', ignore: [] }],
])('readDriftPolicy() takes %j', (value, expected) => {
  expect(readDriftPolicy(value, [])).toEqual(expected);
});

test('readDriftPolicy() names everything that is wrong, with its path', () => {
  const problems: string[] = [];
  readDriftPolicy(
    { mode: 'mend', when: 1, ignore: ['spec', { pointer: '/a', kind: 1, where: 2 }] },
    problems,
  );
  readDriftPolicy('heal', problems);
  readDriftPolicy({ ignore: '/a' }, problems);
  expect(problems).toEqual([
    'drift.when: unknown key, expected one of mode, ignore',
    'drift.mode: expected one of off, warn, heal, got "mend"',
    'drift.ignore[0]: expected a JSON pointer such as /spec/replicas, or a map {kind, name, pointer}, got "spec"',
    'drift.ignore[1].where: unknown key, expected one of kind, name, pointer',
    'drift.ignore[1].kind: expected a string',
    'drift: expected a map with the keys mode and ignore',
    'drift.ignore: expected a list of JSON pointers',
  ]);
});

const MINUTE_MS = 60_000;

test('an object is healed three times at once, then after 1, 2, 4 minutes, at most an hour', () => {
  let streak: HealStreak | undefined;
  let nowMs = 1_000;
  const delays: number[] = [];
  for (let heal = 0; heal < 11; heal += 1) {
    const atMs = Math.max(nowMs, nextHealAtMs(streak));
    delays.push((atMs - nowMs) / MINUTE_MS);
    nowMs = atMs;
    streak = withHeal(streak, nowMs);
  }
  expect(delays).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('ten minutes of peace end a streak, counted from when it could have been healed again', () => {
  const streak = { heals: 3, lastAtMs: 0 };
  expect(withHeal(streak, 11 * MINUTE_MS - 1).heals).toBe(4);
  expect(withHeal(streak, 11 * MINUTE_MS).heals).toBe(1);
});
