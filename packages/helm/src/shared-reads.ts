import type { SteadyClock } from '@addon-operator/base/clock';
import type { ReleaseRevision } from './release-store.ts';
import { isFresh, SharedResponses } from './shared-responses.ts';

/** Maximum age of a response of the API server that is shared between modules. */
const MAX_AGE_MS = 5_000;

interface ReleaseNames {
  readonly value: Map<string, ReleaseRevision>;
  readonly readAtMs: number;
}

/**
 * Lists of the cluster that many modules share: while unchanged modules are checked one after another, each list is
 * requested once. A shared response may only be a reason to skip a release, never to act on it.
 */
export class SharedReads {
  readonly #clock: SteadyClock;
  #releases: ReleaseNames | undefined;
  readonly #names: SharedResponses<ReadonlySet<string>>;
  /** Repeated reads of all releases, of which one is under way at a time. */
  readonly #reads: SharedResponses<readonly ReleaseRevision[]>;
  /** For each read of all releases that is under way, those that were changed since it began. */
  readonly #changedWhileReading = new Set<Set<string>>();
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
    this.#names = new SharedResponses(clock, MAX_AGE_MS);
    this.#reads = new SharedResponses(clock, MAX_AGE_MS);
  }

  /** Reads the newest revision of every release, which is known from then on, except releases that this process changes during the read. */
  async readReleases(read: () => Promise<readonly ReleaseRevision[]>): Promise<readonly ReleaseRevision[]> {
    const changed = new Set<string>();
    this.#changedWhileReading.add(changed);
    try {
      const revisions = await read();
      const certain = revisions.filter(({ release }) => !changed.has(release));
      const value = new Map(certain.map((revision) => [revision.release, revision]));
      this.#releases = { value, readAtMs: this.#clock.steadyMs() };
      return revisions;
    } finally {
      this.#changedWhileReading.delete(changed);
    }
  }

  /** The newest revision of a release; undefined when it is not known well enough. */
  release(name: string): ReleaseRevision | undefined {
    const releases = this.#releases;
    return releases !== undefined && isFresh(releases.readAtMs, MAX_AGE_MS, this.#clock)
      ? releases.value.get(name)
      : undefined;
  }

  /**
   * As {@link release}, but reads all releases again when they were read more than five seconds ago: one list takes the place
   * of several requests for each release that is looked at later.
   *
   * @param signal the one that `read` ends with; a reader whose signal aborts takes only itself down
   * @returns undefined also when nothing has read the releases before
   */
  async currentRelease(
    name: string,
    read: () => Promise<readonly ReleaseRevision[]>,
    signal: AbortSignal,
  ): Promise<ReleaseRevision | undefined> {
    const releases = this.#releases;
    if (releases !== undefined && !isFresh(releases.readAtMs, MAX_AGE_MS, this.#clock))
      await this.#reads.get('', () => this.readReleases(read), signal);
    return this.release(name);
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
    const isWorthless = isFresh(this.#forgottenAtMs, MAX_AGE_MS, this.#clock);
    return isWorthless && !this.#names.has(list) ? undefined : this.#names.get(list, read, signal);
  }

  /** A hook has run: it may have deleted anything. */
  forget(): void {
    this.#names.clear();
    this.#forgottenAtMs = this.#clock.steadyMs();
  }
}
