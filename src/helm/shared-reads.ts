import type { Clock } from '../lib/clock.ts';
import type { ReleaseRevision } from './release-store.ts';

/** How old an answer of the API server may be when it is used for another module too. */
const MAX_AGE_MS = 5_000;

interface Answer<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

type Names = Answer<Promise<ReadonlySet<string>>> & {
  /** Of the reader that asks for all. */
  readonly signal: AbortSignal;
};

/**
 * What was read of the cluster for many modules at once: while modules that have not changed are looked through one
 * after another, each list is asked for once. It may only be the ground for leaving a release alone, never for acting.
 */
export class SharedReads {
  readonly #clock: Clock;
  #releases: Answer<Map<string, ReleaseRevision>> | undefined;
  readonly #names = new Map<string, Names>();
  /** For each read of all releases that is under way, those that were changed since it began. */
  readonly #changedWhileReading = new Set<Set<string>>();
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads the newest revision of every release, which is known from then on. Those we change meanwhile are not. */
  async readReleases(read: () => Promise<readonly ReleaseRevision[]>): Promise<readonly ReleaseRevision[]> {
    const changed = new Set<string>();
    this.#changedWhileReading.add(changed);
    try {
      const revisions = await read();
      const certain = revisions.filter(({ release }) => !changed.has(release));
      const value = new Map(certain.map((revision) => [revision.release, revision]));
      this.#releases = { value, readAtMs: this.#clock.now() };
      return revisions;
    } finally {
      this.#changedWhileReading.delete(changed);
    }
  }

  /** The newest revision of a release; undefined when it is not known well enough. */
  release(name: string): ReleaseRevision | undefined {
    const releases = this.#releases;
    return releases !== undefined && this.#isFresh(releases) ? releases.value.get(name) : undefined;
  }

  /** To be called before and after we change a release ourselves. */
  forgetRelease(name: string): void {
    this.#releases?.value.delete(name);
    for (const changed of this.#changedWhileReading) changed.add(name);
  }

  /**
   * Names of the objects in a list, read at most once in five seconds.
   *
   * @param signal the one that `read` ends with; a reader whose signal aborts takes only itself down
   * @returns undefined when lists do not pay: something keeps making them worthless
   */
  names(
    list: string,
    read: () => Promise<ReadonlySet<string>>,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> | undefined {
    const known = this.#names.get(list);
    if (known !== undefined && this.#isFresh(known)) {
      return known.value.catch((error: unknown) => {
        if (!known.signal.aborted || signal.aborted) throw error;
        return this.names(list, read, signal) ?? read();
      });
    }
    if (this.#clock.now() - this.#forgottenAtMs < MAX_AGE_MS) return undefined;
    const value = read();
    const answer = { value, readAtMs: this.#clock.now(), signal };
    this.#names.set(list, answer);
    value.catch(() => {
      if (this.#names.get(list) === answer) this.#names.delete(list);
    });
    return value;
  }

  /** A hook has run: it may have deleted anything. */
  forget(): void {
    this.#names.clear();
    this.#forgottenAtMs = this.#clock.now();
  }

  #isFresh({ readAtMs }: Answer<unknown>): boolean {
    return this.#clock.now() - readAtMs < MAX_AGE_MS;
  }
}
