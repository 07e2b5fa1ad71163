import { labelsAtStart, labelsAtUninstall, labelsWhenDeployed } from '@addon-operator/helm/record-metadata';
import type { ReleaseStatus } from '@addon-operator/helm/recovery-table';
import { createHolder } from '@addon-operator/helm/release-locks';
import { expect, test } from 'vitest';
import { lockLimitMs, ownRecord } from './own-record.ts';

const MINUTE_MS = 60_000;
const self = createHolder('hosta', 100, 'n1');
const other = createHolder('hosta', 90, 'n0');
const started = labelsAtStart({
  revision: 1,
  inputDigest: 'd',
  holder: other.token,
  isUnmanaged: false,
  isInstalled: true,
});
const deployed = { ...started, ...labelsWhenDeployed({ revision: 1, inputDigest: 'd', checksum: 'c' }) };

function recordOf(
  status: ReleaseStatus,
  labels: Readonly<Record<string, string>>,
  { revision = 1, livePids = [] as readonly number[], unchangedMs = 0 } = {},
): string {
  return ownRecord(
    { revision, status, labels },
    { self, isProcessAlive: (pid) => livePids.includes(pid), unchangedMs, helmTimeoutMs: 20 * MINUTE_MS },
  );
}

test('ownRecord() returns the owner of a revision, and how far its deployment came', () => {
  expect(recordOf('deployed', { owner: 'helm' })).toBe('none');
  expect(recordOf('deployed', { moduleChecksum: 'of the original operator' })).toBe('earlier');
  expect(recordOf('deployed', deployed, { revision: 2 })).toBe('earlier');
  expect(recordOf('pending-upgrade', started)).toBe('cut-off');
  expect(recordOf('pending-upgrade', started, { livePids: [90] })).toBe('at-work');
  expect(recordOf('deployed', deployed)).toBe('complete');
});

test('ownRecord() takes a process for another one with the same number once no helm can be running any more', () => {
  const at = (unchangedMs: number) => recordOf('pending-upgrade', started, { livePids: [90], unchangedMs });
  expect(at(66 * MINUTE_MS - 1)).toBe('at-work');
  expect(at(66 * MINUTE_MS)).toBe('cut-off');
});

test('ownRecord() of a release that is being uninstalled goes by who uninstalls it', () => {
  expect(recordOf('uninstalling', deployed)).toBe('earlier');
  expect(recordOf('uninstalling', { ...deployed, ...labelsAtUninstall(self.token) })).toBe('complete');
  const theirs = { ...deployed, ...labelsAtUninstall(other.token) };
  expect(recordOf('uninstalling', theirs, { livePids: [90] })).toBe('at-work');
});

test('lockLimitMs() is the time-out of helm and a margin', () => {
  expect(lockLimitMs(20 * MINUTE_MS)).toBe(21 * MINUTE_MS);
});
