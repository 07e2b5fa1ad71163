import { OperatorError } from '@addon-operator/base/errors';
import { labelsAtStart, labelsAtUninstall, labelsWhenDeployed } from '@addon-operator/helm/record-metadata';
import type { ReleaseStatus } from '@addon-operator/helm/recovery-table';
import { createHolder, LockAges } from '@addon-operator/helm/release-locks';
import type { ReleaseRevision } from '@addon-operator/helm/release-store';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { lockedError, observeRelease, releaseState, storedObjects, unlockRelease } from './recover.ts';

const signal = new AbortController().signal;
const MINUTE_MS = 60_000;
const TIMEOUT_MS = 20 * MINUTE_MS;
const self = createHolder('hosta', process.pid, 'n1');
/** On another machine, where its process cannot be looked at. */
const other = createHolder('hostb', 90, 'n0');
const started = (holder = self): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(
      labelsAtStart({
        revision: 3,
        inputDigest: 'digest',
        holder: holder.token,
        isUnmanaged: false,
        isInstalled: true,
      }),
    ).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
const deployed = {
  ...started(),
  ...labelsWhenDeployed({ revision: 3, inputDigest: 'digest', checksum: 'c' }),
};
const corrupt = new OperatorError('HELM_RELEASE_CORRUPT', 'no gzip');

function revisionOf(status: ReleaseStatus, more: Partial<ReleaseRevision> = {}): ReleaseRevision {
  return {
    release: 'web',
    revision: 3,
    status,
    labels: {},
    objects: undefined,
    recordName: 'sh.helm.release.v1.web.v3',
    uid: 'u',
    resourceVersion: '1',
    ...more,
  };
}

/** A driver whose release has this newest record, with this manifest or an error in it. */
function driver(latest: ReleaseRevision | undefined, manifest: string | Error = '') {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const payload = async () => {
    if (manifest instanceof Error) throw manifest;
    const chart = { name: 'web', version: '1.0.0' };
    return await Promise.resolve({ manifest, chart, values: {}, info: { deployedAt: '', description: '' } });
  };
  const store = { latest: () => Promise.resolve(latest), payload };
  const lockAges = new LockAges(clock);
  return {
    clock,
    context: { store, log: log.logger, holder: self, lockAges, timeoutMs: TIMEOUT_MS },
    messages: () => log.records.map(({ msg }) => msg),
  };
}

test.each([
  { what: 'without a record', latest: undefined, manifest: corrupt, state: 'none' },
  { what: 'of a record that can be read', latest: revisionOf('failed'), manifest: '', state: 'failed' },
  {
    what: 'of a record that cannot be read',
    latest: revisionOf('deployed'),
    manifest: corrupt,
    state: 'corrupt',
  },
])('releaseState() $what is $state', async ({ latest, manifest, state }) => {
  expect(await releaseState(driver(latest, manifest).context.store, latest, signal)).toBe(state);
});

test('releaseState() throws what else the API client throws', async () => {
  const gone = new KubeApiError('gone', { status: 404, reason: 'NotFound' });
  const latest = revisionOf('deployed');
  await expect(releaseState(driver(latest, gone).context.store, latest, signal)).rejects.toBe(gone);
});

test.each([
  {
    own: 'at-work' as const,
    message:
      'Release "web" is pending-upgrade: another addon-operator process on this machine is using it. It will be retried, and taken over when this process has seen it unchanged for 1h5m0s.',
  },
  {
    own: 'none' as const,
    message:
      'Release "web" is pending-upgrade: another helm process may be using it. It will be retried, and taken over when this process has seen it unchanged for 21m0s.',
  },
])('lockedError() of a record that is $own says when it is taken over', ({ own, message }) => {
  const error = lockedError('web', 'pending-upgrade', own, TIMEOUT_MS);
  expect(error.code).toBe('HELM_LOCKED');
  expect(error.message).toContain(message);
  expect(error.message).toContain('"addon-operator module release-unlock web"');
});

test('observeRelease() without a record', () => {
  const { context } = driver(undefined);
  expect(observeRelease(context, undefined)).toEqual({
    state: 'none',
    own: 'none',
    inputDigest: undefined,
    unchangedMs: 0,
  });
});

test('observeRelease() counts for how long the same record is seen', async () => {
  const latest = revisionOf('pending-upgrade', { labels: started(other) });
  const { context, clock } = driver(latest);
  expect(observeRelease(context, latest)).toEqual({
    state: 'pending-upgrade',
    own: 'cut-off',
    inputDigest: 'digest',
    unchangedMs: 0,
  });
  await clock.advance(MINUTE_MS);
  expect(observeRelease(context, latest).unchangedMs).toBe(MINUTE_MS);
  expect(observeRelease(context, { ...latest, resourceVersion: '2' }).unchangedMs).toBe(0);
});

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const object = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '' };
test.each([
  { what: 'no record', latest: undefined, manifest: corrupt, objects: [], messages: [] },
  {
    what: 'the note of a record, without reading its manifest',
    latest: revisionOf('deployed', { objects: [object] }),
    manifest: corrupt,
    objects: [object],
    messages: [],
  },
  {
    what: 'the manifest of a record',
    latest: revisionOf('deployed'),
    manifest: CONFIG_MAP,
    objects: [expect.objectContaining({ kind: 'ConfigMap', name: 'a' })],
    messages: [],
  },
  {
    what: 'a manifest that is no YAML',
    latest: revisionOf('deployed'),
    manifest: 'a: [',
    objects: [],
    messages: ['stored manifest is unreadable'],
  },
])('storedObjects() of $what', async ({ latest, manifest, objects, messages }) => {
  const lab = driver(latest, manifest);
  expect(await storedObjects(lab.context, latest, signal)).toEqual(objects);
  expect(lab.messages()).toEqual(messages);
});

const TAKEN_OVER = 'release is taken over on request, even if another helm process is using it';
test.each([
  { what: 'without a record', latest: undefined, result: { type: 'absent' } },
  {
    what: 'that is deployed',
    latest: revisionOf('deployed', { labels: deployed }),
    result: { type: 'not-locked', state: 'deployed' },
  },
  {
    what: 'that this process works on',
    latest: revisionOf('pending-upgrade', { labels: started() }),
    result: { type: 'busy', state: 'pending-upgrade' },
  },
  {
    what: 'that this process uninstalls',
    latest: revisionOf('uninstalling', { labels: { ...deployed, ...labelsAtUninstall(self.token) } }),
    result: { type: 'busy', state: 'uninstalling' },
  },
  {
    what: 'that a process on another machine has left',
    latest: revisionOf('pending-upgrade', { labels: started(other) }),
    result: { type: 'not-locked', state: 'pending-upgrade' },
  },
  {
    what: 'that another helm may work on',
    latest: revisionOf('pending-install'),
    result: { type: 'unlocked', state: 'pending-install', revision: 3 },
  },
])('unlockRelease() of a release $what', async ({ latest, result }) => {
  const lab = driver(latest);
  expect(await unlockRelease(lab.context, 'web', signal)).toEqual(result);
  const isUnlocked = result.type === 'unlocked';
  expect(lab.messages()).toEqual(isUnlocked ? [TAKEN_OVER] : []);
  const { unchangedMs } = observeRelease(lab.context, latest);
  expect(unchangedMs).toBe(isUnlocked ? Number.POSITIVE_INFINITY : 0);
});

test('a release that was unlocked is locked again when its record is written', async () => {
  const latest = revisionOf('pending-install');
  const { context } = driver(latest);
  await unlockRelease(context, 'web', signal);
  expect(observeRelease(context, { ...latest, resourceVersion: '2' }).unchangedMs).toBe(0);
});
