import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { ifAllowed } from '@addon-operator/kube-client/kube-client';
import { type ManifestObject, objectTitle } from './manifest-object.ts';
import type { LookupOptions } from './object-lookup.ts';
import { firstAbsent } from './object-presence.ts';
import type { ReleaseStatus } from './recovery-table.ts';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';
import { isFresh, SharedResponses } from './shared-responses.ts';

/** The finding of a monitor at a tick. */
export type ReleaseFinding =
  | { readonly type: 'absent' /** `<namespace>/<Kind>/<name>` */; readonly resource: string }
  | { readonly type: 'unexpected-status'; readonly status: ReleaseStatus | 'not found' };

export interface ResourceMonitorOptions {
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** See {@link monitorDelayMs}. */
  readonly shiftMs: number;
  readonly reads: Pick<MonitorReads, 'together' | 'alone'>;
  readonly onFinding: (module: string, finding: ReleaseFinding) => void;
}

/** Looks from time to time whether the release of a module is deployed and its objects exist; content is not compared. */
export class ResourceMonitor {
  readonly #module: string;
  readonly #objects: readonly ManifestObject[];
  readonly #options: ResourceMonitorOptions;
  readonly #isPaused: () => boolean;
  readonly #stopping = new AbortController();
  #hurry = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  private constructor(
    module: string,
    objects: readonly ManifestObject[],
    isPaused: () => boolean,
    options: ResourceMonitorOptions,
  ) {
    this.#module = module;
    this.#objects = objects;
    this.#isPaused = isPaused;
    this.#options = options;
  }

  /** Starts to watch; findings of a tick during which `isPaused` was true are dropped. */
  static start(
    module: string,
    objects: readonly ManifestObject[],
    isPaused: () => boolean,
    options: ResourceMonitorOptions,
  ): ResourceMonitor {
    const monitor = new ResourceMonitor(module, objects, isPaused, options);
    monitor.#ended = monitor.#watch();
    return monitor;
  }

  /** `<namespace>/<Kind>/<name>` of each object, sorted; the namespace is empty where the manifest names none. */
  get resources(): readonly string[] {
    return this.#objects.map(objectTitle).toSorted();
  }

  /** Makes the next tick come now. */
  lookNow(): void {
    this.#hurry.abort();
  }

  /** Nothing is reported once this is called; resolves when the monitor has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    const { reads } = this.#options;
    while (!signal.aborted) {
      try {
        const isHurried = await this.#wait(signal);
        await this.#tick(isHurried ? reads.alone() : reads.together(), signal);
      } catch (error) {
        if (!signal.aborted)
          this.#options.log.warn({ module: this.#module, error }, 'cannot check the objects of a release');
      }
    }
  }

  /** Waits for the next check; returns whether it comes before its regular time. */
  async #wait(signal: AbortSignal): Promise<boolean> {
    const { clock, shiftMs } = this.#options;
    const hurry = this.#hurry.signal;
    try {
      await clock.sleep(monitorDelayMs(clock.steadyMs(), shiftMs), AbortSignal.any([signal, hurry]));
    } catch (error) {
      if (signal.aborted || !hurry.aborted) throw error;
    } finally {
      if (hurry.aborted) this.#hurry = new AbortController();
    }
    return hurry.aborted;
  }

  async #tick(look: MonitorLook, signal: AbortSignal): Promise<void> {
    if (this.#isPaused()) return;
    const finding = await this.#find(look, signal);
    if (finding === undefined || this.#isPaused() || signal.aborted) return;
    this.#options.onFinding(this.#module, finding);
  }

  async #find(look: MonitorLook, signal: AbortSignal): Promise<ReleaseFinding | undefined> {
    const status = await look.status(this.#module, signal);
    if (status !== 'deployed') return { type: 'unexpected-status', status: status ?? 'not found' };
    const absent = await look.firstAbsent(this.#objects, signal);
    return absent === undefined ? undefined : { type: 'absent', resource: objectTitle(absent) };
  }
}

const MIN_DELAY_MS = 270_000;
const STEP_MS = 30_000;
const CYCLE_MS = 300_000;

/**
 * How long a monitor waits that starts now or has just looked, in milliseconds: 270 s to less than 330 s. It ends at a
 * full half minute, so that monitors started together check together, and preferably at a full five minutes: there all
 * monitors meet within an hour, whenever they were started, and stay together from then on.
 *
 * @param shiftMs by how much the full minutes of this daemon lie before those of the clock
 */
export function monitorDelayMs(nowMs: number, shiftMs: number): number {
  const shiftedMs = nowMs + shiftMs;
  const early = Math.ceil((shiftedMs + MIN_DELAY_MS) / STEP_MS) * STEP_MS;
  const late = early + STEP_MS;
  return (late % CYCLE_MS === 0 ? late : early) - shiftedMs;
}

/** Spreads the checks of many daemons. @param random a number in [0, 1) */
export function randomShiftMs(random: () => number): number {
  return Math.floor((random() * CYCLE_MS) / 1_000) * 1_000;
}

/** Monitors that start a check within this time share their reads. */
const SAME_PASS_MS = 5_000;

interface MonitorReadsOptions {
  readonly clock: SteadyClock;
  readonly store: Pick<ReleaseStore, 'latest' | 'latestOfAll'>;
  /** Where and how objects are looked for. */
  readonly lookup: LookupOptions;
  /** That an object must carry to count as present. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The reads of a monitor at one tick. */
interface MonitorLook {
  /** Status of the latest revision of a release; undefined when there is none. */
  status(module: string, signal: AbortSignal): Promise<ReleaseStatus | undefined>;
  /** See {@link firstAbsent}. */
  firstAbsent(objects: readonly ManifestObject[], signal: AbortSignal): Promise<ManifestObject | undefined>;
}

/**
 * The reads of the monitors of all modules. Checks at the same time share one list of releases and one list for
 * each kind and namespace; only objects missing in a list are read by name, because they may exist again since.
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

  /** For a check before its regular time: something has just changed, so earlier reads are not used. */
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
  const names = new SharedResponses<ReadonlySet<string>>(clock, Number.POSITIVE_INFINITY);
  const releases = new SharedResponses<ReadonlyMap<string, ReleaseRevision>>(clock, Number.POSITIVE_INFINITY);
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
