import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { parseCrontab, type Schedule } from './crontab.ts';

/** Wall clocks jump, timers do not notice: this is how long a jump can stay unseen. */
const MAX_SLEEP_MS = 60_000;
/** A clock set back by less does not repeat any tick; set back further, all schedules start over from the new time. */
const TOLERATED_STEP_BACK_MS = 60_000;
const MAX_COUNTED_MISSES = 1_000;

interface ScheduleManagerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ticks that passed while the process slept or the clock jumped ahead; counted up to 1000. */
  readonly onMissed?: (crontab: string, count: number) => void;
  /** Zone of crontabs without `TZ=`; default: the zone of the process. */
  readonly timeZone?: string;
}

/**
 * A crontab is due. Crontabs due at the same time come in code-unit order, `ids` in the order they were added. Must not
 * wait; what it throws is logged.
 */
export type OnFire = (crontab: string, ids: readonly string[]) => void;

interface Entry {
  readonly crontab: string;
  readonly schedule: Schedule;
  /** How often each id was added. */
  readonly ids: Map<string, number>;
  dueMs: number | undefined;
}

/** Fires crontabs: one timer for all, one schedule for each distinct crontab text, as long as a binding uses it. */
export class ScheduleManager {
  readonly #deps: ScheduleManagerDeps;
  readonly #entries = new Map<string, Entry>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;

  constructor(deps: ScheduleManagerDeps) {
    this.#deps = deps;
  }

  /**
   * Makes `crontab` fire for `id`, from its first time after now. The same pair may be added more than once and is
   * removed as often.
   *
   * @throws OperatorError SCHEDULE_INVALID
   */
  add(crontab: string, id: string): void {
    let entry = this.#entries.get(crontab);
    if (entry === undefined) {
      const schedule = parseCrontab(crontab, this.#deps.timeZone);
      entry = { crontab, schedule, ids: new Map(), dueMs: schedule.next(this.#deps.clock.wallMs()) };
      this.#entries.set(crontab, entry);
      this.#wake();
    }
    entry.ids.set(id, (entry.ids.get(id) ?? 0) + 1);
  }

  /** Takes back one {@link add}; without one it does nothing. */
  remove(crontab: string, id: string): void {
    const entry = this.#entries.get(crontab);
    const count = entry?.ids.get(id);
    if (entry === undefined || count === undefined) return;
    if (count > 1) entry.ids.set(id, count - 1);
    else entry.ids.delete(id);
    if (entry.ids.size === 0) this.#entries.delete(crontab);
  }

  /** Fires what is due, when it is due, until the signal aborts. A crontab that is late fires once. */
  async run(onFire: OnFire, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#fireDue(onFire);
      await this.#sleep(signal);
    }
  }

  async #sleep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const changed = new AbortController();
    this.#wake = () => changed.abort();
    const dueMs = Math.min(
      ...[...this.#entries.values()].map((entry) => entry.dueMs ?? Number.POSITIVE_INFINITY),
    );
    const delayMs = Math.max(0, Math.min(MAX_SLEEP_MS, dueMs - clock.wallMs()));
    try {
      await clock.sleep(delayMs, AbortSignal.any([signal, changed.signal]));
    } catch (error) {
      if (!signal.aborted && !changed.signal.aborted) throw error;
    }
  }

  #fireDue(onFire: OnFire): void {
    const nowMs = this.#deps.clock.wallMs();
    if (nowMs < this.#lastMs - TOLERATED_STEP_BACK_MS) this.#planAnew(nowMs);
    this.#lastMs = nowMs;
    const due = [...this.#entries.values()]
      .filter((entry) => entry.dueMs !== undefined && entry.dueMs <= nowMs)
      .sort((a, b) => (a.crontab < b.crontab ? -1 : 1));
    for (const entry of due) {
      this.#advance(entry, nowMs);
      if (this.#entries.get(entry.crontab) === entry) this.#fire(entry, onFire);
    }
  }

  #planAnew(nowMs: number): void {
    this.#deps.log.warn({ stepBackMs: this.#lastMs - nowMs }, 'clock was set back, schedules are restarted');
    for (const entry of this.#entries.values()) entry.dueMs = entry.schedule.next(nowMs);
  }

  #fire({ crontab, ids }: Entry, onFire: OnFire): void {
    try {
      onFire(crontab, [...ids.keys()]);
    } catch (error) {
      this.#deps.log.error({ crontab, error }, 'cannot handle a tick of a schedule');
    }
  }

  /** Plans the next tick after the one that is due now, past the ones that went by unnoticed. */
  #advance(entry: Entry, nowMs: number): void {
    const { schedule, crontab } = entry;
    // The tick that is due is not a missed one.
    let misses = -1;
    let nextMs = entry.dueMs;
    while (nextMs !== undefined && nextMs <= nowMs && misses < MAX_COUNTED_MISSES) {
      nextMs = schedule.next(nextMs);
      misses += 1;
    }
    entry.dueMs = misses < MAX_COUNTED_MISSES ? nextMs : schedule.next(nowMs);
    if (misses === 0) return;
    this.#deps.log.warn({ crontab, misses }, 'ticks missed');
    this.#deps.onMissed?.(crontab, misses);
  }
}
