import { expect, test } from 'vitest';
import { nextReleaseAction, type ObservedRelease } from './release-action.ts';
import type { ReleaseStatus } from './release-record.ts';

const desired = { inputDigest: 'new', readsOutside: false };

function present(status: ReleaseStatus, inputDigest = 'new', isLocked = false): ObservedRelease {
  return { type: 'present', status, inputDigest, isLocked };
}

test.each([
  ['no release', { type: 'absent' } as const, 'install'],
  ['an uninstalled one whose history was kept', present('uninstalled'), 'install'],
  ['deployed, equal digest', present('deployed'), 'keep'],
  ['deployed, other digest', present('deployed', 'old'), 'compare'],
  ['deployed by somebody else', { ...present('deployed'), inputDigest: undefined }, 'compare'],
  ['failed, equal digest', present('failed'), 'upgrade'],
  ['superseded only', present('superseded'), 'upgrade'],
  ['unknown', present('unknown'), 'upgrade'],
  ['pending, left behind', present('pending-upgrade'), 'repair'],
  ['pending first install, left behind', present('pending-install'), 'repair'],
  ['pending, somebody at work', present('pending-rollback', 'new', true), 'locked'],
  ['uninstalling', present('uninstalling'), 'repair'],
])('nextReleaseAction() for %s', (_case, observed, expected) => {
  const action = nextReleaseAction(observed, desired);
  expect(action.type === 'upgrade' && action.repair ? 'repair' : action.type).toBe(expected);
});

test('nextReleaseAction() never trusts the digest of a chart that reads the cluster', () => {
  expect(nextReleaseAction(present('deployed'), { ...desired, readsOutside: true }).type).toBe('compare');
});
