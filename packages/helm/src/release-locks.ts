import type { SteadyClock } from '@addon-operator/base/clock';

/** Identifies one state of one record: any write to it gives it another version. */
interface RecordVersion {
  readonly release: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Sighting {
  readonly version: string;
  readonly sinceMs: number;
  readonly isUnlocked: boolean;
}

/**
 * How long this process has seen the newest records of releases unchanged, by its own steady clock. helm locks a release
 * by writing a status into its record. The time written there is that of another machine, and a clock may be set: it says
 * nothing about how long the lock has been held. A daemon that restarts begins to count anew.
 */
export class LockAges {
  readonly #clock: Pick<SteadyClock, 'steadyMs'>;
  readonly #seen = new Map<string, Sighting>();

  constructor(clock: Pick<SteadyClock, 'steadyMs'>) {
    this.#clock = clock;
  }

  /** Milliseconds since this state of the record was first seen; infinite after {@link unlock}. */
  unchangedMs(record: RecordVersion): number {
    const nowMs = this.#clock.steadyMs();
    const version = versionOf(record);
    const seen = this.#seen.get(record.release);
    if (seen?.version === version) return seen.isUnlocked ? Number.POSITIVE_INFINITY : nowMs - seen.sinceMs;
    this.#seen.set(record.release, { version, sinceMs: nowMs, isUnlocked: false });
    return 0;
  }

  /** From now on this state of the record counts as abandoned. */
  unlock(record: RecordVersion): void {
    this.#seen.set(record.release, {
      version: versionOf(record),
      sinceMs: this.#clock.steadyMs(),
      isUnlocked: true,
    });
  }
}

function versionOf({ uid, resourceVersion }: RecordVersion): string {
  return `${uid}@${resourceVersion}`;
}

/** The process that runs helm, as written into a release label: `<host>.<pid>.<random>-<start>`, fit for a label value. */
export interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
}

/**
 * Our own identity as a holder.
 *
 * @param hostHash short hash of the host's name, `[a-z0-9]`
 * @param nonce text that no other process on this host has, `[a-z0-9]`
 * @param start when the process began, in any unit, `[a-z0-9]`; undefined where that is not known
 */
export function createHolder(hostHash: string, pid: number, nonce: string, start?: string): Holder {
  const suffix = start === undefined ? '' : `-${start}`;
  return { token: `${hostHash}.${pid}.${nonce}${suffix}`, host: hostHash, pid };
}

/**
 * Whether another operator process may still be running, by the token it left. One on another host counts as dead:
 * only one may act at a time (by its Lease, or by the Recreate strategy). On this host its process is looked at. Our
 * own number means a helm that has ended: for each release there is one at a time. In a container that was started again
 * the number of the process before may well be that of a thread of ours: hence the start.
 */
export function isHolderAlive(
  token: string,
  self: Holder,
  isProcessAlive: (pid: number, start: string | undefined) => boolean,
): boolean {
  const [host, pid, mark] = token.split('.');
  if (host !== self.host || Number(pid) === self.pid) return false;
  return isProcessAlive(Number(pid), mark?.split('-')[1]);
}
