import type { OwnRecord, ReleaseState } from '@addon-operator/helm/recovery-table';
import { expect, test } from 'vitest';
import { nextReleaseAction, type ObservedRelease } from './release-action.ts';

const MINUTE_MS = 60_000;
const HELM_TIMEOUT_MS = 20 * MINUTE_MS;
const LIMIT_MS = 21 * MINUTE_MS;
const desired = { inputDigest: 'new', readsOutside: false, helmTimeoutMs: HELM_TIMEOUT_MS };
const forced = { ...desired, isForced: true };

function observed(state: ReleaseState, own: OwnRecord = 'complete', unchangedMs = 0): ObservedRelease {
  return { state, own, inputDigest: 'new', unchangedMs };
}

const older = { ...observed('deployed'), inputDigest: 'old' };
const unlabelled = { ...observed('deployed'), inputDigest: undefined };
const install = { type: 'install' };
const keep = { type: 'keep' };
const locked = { type: 'locked' };
const setAside = { type: 'set-aside' };
const upgrade = (reason: string) => ({ type: 'upgrade', reason, repair: false });
const repair = (reason: string) => ({ type: 'upgrade', reason, repair: true });
const compare = (reason: string) => ({ type: 'compare', reason });

test.each([
  ['a release that does not exist', observed('none', 'none'), desired, install],
  ['an uninstalled release whose records were kept', observed('uninstalled'), desired, install],
  ['an unchanged release', observed('deployed'), desired, keep],
  ['an unchanged release on request', observed('deployed'), forced, upgrade('it was requested')],
  ['changed inputs', older, desired, compare('inputs changed')],
  ['changed inputs on request', older, forced, upgrade('it was requested')],
  ['a release whose inputs are unknown', unlabelled, desired, compare('inputs changed')],
  [
    'a chart that reads the cluster',
    observed('deployed'),
    { ...desired, readsOutside: true },
    compare('chart reads the cluster'),
  ],
  [
    'an extension whose result may differ each time',
    observed('deployed'),
    { ...desired, isOpen: true },
    compare('an extension may change the result'),
  ],
  [
    'a release that a process of this operator left after helm was done',
    observed('deployed', 'cut-off'),
    desired,
    keep,
  ],
  [
    'a release of another helm client',
    observed('deployed', 'none'),
    desired,
    upgrade('another helm client created the last revision'),
  ],
  [
    'a release that another helm client upgraded',
    observed('deployed', 'earlier'),
    desired,
    upgrade('another helm client created the last revision'),
  ],
  ['a failed release', observed('failed'), desired, upgrade('last release is failed')],
  [
    'a failed release of another helm client',
    observed('failed', 'none'),
    desired,
    upgrade('last release is failed'),
  ],
  [
    'a release whose newest record is gone',
    observed('superseded'),
    desired,
    upgrade('last release is superseded'),
  ],
  [
    'an upgrade that a dead process of this operator left',
    observed('pending-upgrade', 'cut-off'),
    desired,
    repair('last release was left pending-upgrade'),
  ],
  [
    'an uninstall that a dead process of this operator left',
    observed('uninstalling', 'complete'),
    desired,
    repair('last release was left uninstalling'),
  ],
  [
    'an install by a running process of this operator',
    observed('pending-install', 'at-work'),
    desired,
    locked,
  ],
  [
    'an install by a running process of this operator, on request',
    observed('pending-install', 'at-work'),
    forced,
    locked,
  ],
  [
    'an install by a running process of this operator, beyond the limit of others',
    observed('pending-install', 'at-work', LIMIT_MS),
    desired,
    locked,
  ],
  [
    'an upgrade by another helm client within its time-out',
    observed('pending-upgrade', 'none', LIMIT_MS - 1),
    desired,
    locked,
  ],
  [
    'an upgrade by another helm client beyond its time-out',
    observed('pending-upgrade', 'none', LIMIT_MS),
    desired,
    repair('last release was left pending-upgrade'),
  ],
  [
    'a rollback of our release by another helm client',
    observed('pending-rollback', 'earlier'),
    desired,
    locked,
  ],
  [
    'a status that no helm leaves for long',
    observed('unknown'),
    desired,
    repair('last release was left unknown'),
  ],
  ['a record that cannot be read', observed('corrupt'), desired, setAside],
  ['a record that cannot be read, on request', observed('corrupt'), forced, setAside],
  [
    'a record that cannot be read while a process of this operator runs helm',
    observed('corrupt', 'at-work'),
    desired,
    locked,
  ],
])('nextReleaseAction() for %s', (_case, release, wanted, expected) => {
  expect(nextReleaseAction(release, wanted)).toEqual(expected);
});
