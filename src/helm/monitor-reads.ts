import { ifAllowed } from '../kube/kube-client.ts';
import type { SteadyClock } from '../lib/clock.ts';
import type { ManifestObject } from './manifest-object.ts';
import { type LookupOptions } from './object-lookup.ts';
import { firstAbsent } from './object-presence.ts';
import type { ReleaseStatus } from './recovery-table.ts';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';
import { isFresh, SharedAnswers } from './shared-answers.ts';

/** Monitors that begin to look within this time look together. */
const SAME_PASS_MS = 5_000;

interface MonitorReadsOptions {
  readonly clock: SteadyClock;
  readonly store: Pick<ReleaseStore, 'latest' | 'latestOfAll'>;
  /** Where and how objects are looked for. */
  readonly lookup: LookupOptions;
  /** That an object must carry to count as present. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a monitor reads at one tick. */
export interface MonitorLook {
  /** Status of the latest revision of a release; undefined when there is none. */
  status(module: string, signal: AbortSignal): Promise<ReleaseStatus | undefined>;
  /** See {@link firstAbsent}. */
  firstAbsent(objects: readonly ManifestObject[], signal: AbortSignal): Promise<ManifestObject | undefined>;
}

/**
 * What the monitors of all modules read. Those that look at the same time share one list of releases and one list for
 * each kind and namespace; only what is amiss in a list is read by name, because it may have been mended since.
 */
export class MonitorReads {
  readonly #options: MonitorReadsOptions;
  #pass: { readonly beganAtMs: number; readonly look: MonitorLook } | undefined;

  constructor(options: MonitorReadsOptions) {
    this.#options = options;
  }

  /** For a tick that is due: shared with all monitors whose ticks are due now. */
  together(): MonitorLook {
    const { clock } = this.#options;
    if (this.#pass === undefined || !isFresh(this.#pass.beganAtMs, SAME_PASS_MS, clock))
      this.#pass = { beganAtMs: clock.steadyMs(), look: sharedLook(this.#options) };
    return this.#pass.look;
  }

  /** For a look out of turn: something has just changed, so nothing read before will do. */
  alone(): MonitorLook {
    const { store, lookup, labels } = this.#options;
    return {
      status: async (module, signal) => (await store.latest(module, signal))?.status,
      firstAbsent: (objects, signal) => firstAbsent(objects, labels, lookup, signal),
    };
  }
}

function sharedLook({ clock, store, lookup, labels }: MonitorReadsOptions): MonitorLook {
  // However long a pass takes: it is used by those who began together.
  const names = new SharedAnswers<ReadonlySet<string>>(clock, Number.POSITIVE_INFINITY);
  const releases = new SharedAnswers<ReadonlyMap<string, ReleaseRevision>>(clock, Number.POSITIVE_INFINITY);
  const lists = {
    names: (list: string, read: () => Promise<ReadonlySet<string>>, signal: AbortSignal) =>
      names.get(list, read, signal),
  };
  return {
    status: async (module, signal) => {
      const all = await ifAllowed(releases.get('', () => readReleases(store, signal), signal));
      const known = all?.get(module);
      return known?.status === 'deployed' ? known.status : (await store.latest(module, signal))?.status;
    },
    firstAbsent: (objects, signal) => firstAbsent(objects, labels, { ...lookup, lists }, signal),
  };
}

async function readReleases(
  store: MonitorReadsOptions['store'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReleaseRevision>> {
  const revisions = await store.latestOfAll(signal);
  return new Map(revisions.map((revision) => [revision.release, revision]));
}
