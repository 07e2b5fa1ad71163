import { expect, test } from 'vitest';
import { NO_DRIFT_POLICY, readDriftPolicy } from './drift-policy.ts';

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
