import { expect, test } from 'vitest';
import { problem } from './operator-problems.ts';
import { standbyStatus } from './standby.ts';

const STANDBY = { replica: 'operator-b', namespace: 'ns' };

test.each([
  [
    'operator-a',
    'well',
    'this replica is a standby: operator-a leads, see kubectl -n ns exec operator-a -- addon-operator status',
  ],
  ['', 'waiting', 'this replica is a standby, and no replica leads at the moment'],
  ['operator-b', 'waiting', 'this replica leads, and is still starting'],
])('the status of a standby while the leader is "%s"', (leader, level, text) => {
  expect(standbyStatus({ ...STANDBY, leader })).toEqual({
    details: level === 'well' ? [] : [problem('waiting', text)],
    level,
    text,
    problems: level === 'well' ? [] : [text],
    modules: {},
    tasks: 0,
  });
});
