import { expect, test } from 'vitest';
import type { RevisionView } from '../status/module-details.ts';
import { rollbackTarget } from './rollback-target.ts';

/** A revision in few words: `2 failed 1.1.0 b`; its files are `-` where they are not recorded. */
function revision(words: string): RevisionView {
  const [number = '', outcome = '', version = '', files = ''] = words.split(' ');
  return {
    revision: Number(number),
    status: '',
    outcome,
    reason: '',
    version,
    files: files === '-' ? null : files,
    hasSection: true,
    deployedAt: null,
    chart: '',
    description: '',
  };
}

const UPGRADED = ['3 running 1.1.0 b', '2 replaced 1.0.0 a', '1 replaced 0.9.0 z'];
const FAILED = ['3 failed 1.1.0 b', '2 running 1.0.0 a', '1 replaced 0.9.0 z'];
const ROLLED_BACK = ['3 running 1.0.0 a', '2 rolled-back 1.1.0 b', '1 replaced 1.0.0 a'];

test.each<readonly [string, readonly string[], string | undefined, number | string]>([
  ['the newest revision with other files', UPGRADED, undefined, 2],
  ['not one that differs by values only', ['4 running 1.1.0 b', ...UPGRADED], undefined, 2],
  ['by the version, where files are not recorded', ['2 running 1.1.0 b', '1 replaced 1.0.0 -'], undefined, 1],
  ['after a failure the newest good one', FAILED, undefined, 2],
  [
    'after a failure by values that with the same files',
    ['2 failed 1.0.0 a', '1 running 1.0.0 a'],
    undefined,
    1,
  ],
  ['no revision that was rolled back', ROLLED_BACK, undefined, 'no earlier revision'],
  [
    'no revision where only values changed',
    ['2 running 1 a', '1 replaced 1 a'],
    undefined,
    'no earlier revision',
  ],
  ['no revision without a release', [], undefined, 'it has no release'],
  ['no failed one', ['2 running 1.1.0 b', '1 failed 1.0.0 a'], undefined, 'no earlier revision'],
  ['a revision by its number', UPGRADED, '1', 1],
  ['one that was rolled back, by its number', ROLLED_BACK, '2', 2],
  [
    'the newest one of a version',
    ['4 running 1.2.0 c', ...UPGRADED.slice(1), '1 replaced 1.0.0 y'],
    '1.0.0',
    2,
  ],
  ['a version with v', UPGRADED, 'v0.9.0', 1],
  [
    'a version that ran before it failed',
    ['4 running 1.0.0 a', '3 failed 1.1.0 b', '2 replaced 1.1.0 b'],
    '1.1.0',
    2,
  ],
  ['no unknown number', UPGRADED, '7', 'it has no revision 7'],
  ['no unknown version', UPGRADED, '2.0.0', 'it has no revision of version 2.0.0'],
  ['not the newest revision', UPGRADED, '3', 'revision 3 is its newest one already'],
  ['not the version that runs', UPGRADED, '1.1.0', 'version 1.1.0 is running already'],
  [
    'no failed revision',
    ['3 running 2 c', '2 failed 1 b'],
    '2',
    'revision 2 was never deployed well: it is failed',
  ],
])('rollbackTarget() takes %s', (_name, revisions, to, expected) => {
  const target = rollbackTarget(revisions.map(revision), to);
  const found = target.type === 'none' ? target.reason : target.revision.revision;
  expect(String(found)).toMatch(typeof expected === 'number' ? new RegExp(`^${expected}$`) : expected);
});
