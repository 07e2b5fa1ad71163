import type { SteadyClock } from '../lib/clock.ts';

/** What identifies one state of one record: any write to it gives it another version. */
export interface RecordVersion {
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
