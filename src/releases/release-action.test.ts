import type { OwnRecord, ReleaseState } from '@addon-operator/helm/recovery-table';
import { expect, test } from 'vitest';
import { nextReleaseAction, type ObservedRelease } from './release-action.ts';

const MINUTE_MS = 60_000;
const desired = { inputDigest: 'new', readsOutside: false, helmTimeoutMs: 20 * MINUTE_MS };

function observed(state: ReleaseState, own: OwnRecord = 'complete', inputDigest = 'new'): ObservedRelease {
  return { state, own, inputDigest, unchangedMs: 0 };
}

test.each([
  ['no release', observed('none', 'none'), 'install'],
  ['an uninstalled one whose history was kept', observed('uninstalled'), 'install'],
  ['deployed, equal digest', observed('deployed'), 'keep'],
  ['deployed, other digest', observed('deployed', 'complete', 'old'), 'compare'],
  ['deployed by somebody else', observed('deployed', 'none'), 'upgrade'],
  ['failed, equal digest', observed('failed'), 'upgrade'],
  ['pending, left behind', observed('pending-upgrade', 'cut-off'), 'repair'],
  ['pending, our process at work', observed('pending-install', 'at-work'), 'locked'],
  ['pending, a person at work', observed('pending-rollback', 'earlier'), 'locked'],
  ['unreadable', observed('corrupt'), 'set-aside'],
])('nextReleaseAction() for %s', (_case, release, expected) => {
  const action = nextReleaseAction(release, desired);
  expect(action.type === 'upgrade' && action.repair ? 'repair' : action.type).toBe(expected);
});

test('nextReleaseAction() takes over the lock of a person once their helm must have timed out', () => {
  const pending = observed('pending-upgrade', 'none');
  const after = (unchangedMs: number) => nextReleaseAction({ ...pending, unchangedMs }, desired);
  expect(after(21 * MINUTE_MS - 1).type).toBe('locked');
  expect(after(21 * MINUTE_MS)).toMatchObject({ repair: true });
});

test('nextReleaseAction() never trusts the digest of a chart that reads the cluster', () => {
  const reads = { ...desired, readsOutside: true };
  expect(nextReleaseAction(observed('deployed'), reads).type).toBe('compare');
});

test('nextReleaseAction() applies an unchanged chart when that is forced, but waits for others all the same', () => {
  const forced = { ...desired, isForced: true };
  expect(nextReleaseAction(observed('deployed'), forced)).toMatchObject({ type: 'upgrade', repair: false });
  expect(nextReleaseAction(observed('pending-install', 'at-work'), forced).type).toBe('locked');
});

test('nextReleaseAction() compares an unchanged chart that extensions may render in another way', () => {
  expect(nextReleaseAction(observed('deployed'), { ...desired, isOpen: true }).type).toBe('compare');
});
