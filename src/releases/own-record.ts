import { isOurRevision, isOwned, ownFacts } from '@addon-operator/helm/record-metadata';
import type { OwnRecord, ReleaseStatus } from '@addon-operator/helm/recovery-table';
import { type Holder, isHolderAlive } from '@addon-operator/helm/release-locks';
import { processLimitMs } from './driver-context.ts';

/** helm needs a moment to write its result after a time-out. */
const MARGIN_MS = 60_000;

interface Revision {
  readonly revision: number;
  readonly status: ReleaseStatus;
  readonly labels: Readonly<Record<string, string>>;
}

/** The facts that decide whether a process may be using a record. */
export interface RecordObserver {
  readonly self: Holder;
  readonly isProcessAlive: (pid: number, start: string | undefined) => boolean;
  /** How long the record has not changed under observation, see {@link LockAges}. */
  readonly unchangedMs: number;
  readonly helmTimeoutMs: number;
}

/** Our relation to a revision, by our labels on it. */
export function ownRecord(
  { revision, status, labels }: Revision,
  { self, isProcessAlive, unchangedMs, helmTimeoutMs }: RecordObserver,
): OwnRecord {
  if (!isOwned(labels)) return 'none';
  if (!isOurRevision(labels, revision)) return 'earlier';
  const { checksum, holder, uninstaller } = ownFacts(labels, revision);
  // The creator of a revision need not be the process that uninstalls it.
  const worker = status === 'uninstalling' ? uninstaller : holder;
  if (worker === undefined) return status === 'uninstalling' ? 'earlier' : 'complete';
  // After the longest run of a helm process, a process with that number is another one.
  const isRecent = unchangedMs < processLimitMs(helmTimeoutMs) + MARGIN_MS;
  if (isRecent && isHolderAlive(worker, self, isProcessAlive)) return 'at-work';
  return checksum === undefined ? 'cut-off' : 'complete';
}

/**
 * How long a record has to be unchanged before a helm of unknown origin must have ended: each of
 * its waits ends with its time-out.
 */
export function lockLimitMs(helmTimeoutMs: number): number {
  return helmTimeoutMs + MARGIN_MS;
}
