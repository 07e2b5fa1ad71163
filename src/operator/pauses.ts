import { hasStatus, type KubeClient } from '../kube/kube-client.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { Exclusive } from '../lib/exclusive.ts';
import { isObject } from '../lib/json.ts';
import type { Logger } from '../lib/log.ts';
import type { ConfigMapRef } from '../values/config-map-object.ts';
import { changeConfigMapData, readConfigMapData } from './pause-record.ts';

/** A module, or all of them, is left alone on somebody's wish. */
export interface Pause {
  readonly reason: string;
  /** Milliseconds since the epoch, as is `untilMs`. */
  readonly sinceMs: number;
  /** Undefined: until it is resumed. */
  readonly untilMs: number | undefined;
}

/** Stands for all modules; no module can have this name. */
export const ALL_MODULES = 'ALL';

export interface PausesDeps {
  readonly kube: KubeClient;
  /** The ConfigMap that pauses are kept in. */
  readonly ref: ConfigMapRef;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Which modules are paused. Kept in a ConfigMap of their own, so that they outlive the daemon. */
export class Pauses {
  readonly #deps: PausesDeps;
  readonly #exclusive = new Exclusive();
  #pauses: ReadonlyMap<string, Pause> = new Map();
  #changed = Promise.withResolvers<void>();

  constructor(deps: PausesDeps) {
    this.#deps = deps;
  }

  /** The pause a module is under: its own, else that of all modules. */
  of(module: string): Pause | undefined {
    return this.#valid(module) ?? this.#valid(ALL_MODULES);
  }

  /** Whether the pause of a module is that of all modules. */
  isOfAll(module: string): boolean {
    return this.#valid(module) === undefined && this.#valid(ALL_MODULES) !== undefined;
  }

  /** Reads what was paused before. @throws OperatorError when the API server cannot be asked */
  async load(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    const data = await this.#read(signal);
    this.#pauses = new Map(Object.entries(data).map(([target, text]) => [target, parsePause(text)]));
    for (const [target, { reason }] of this.#pauses) log.warn({ target, reason }, 'paused');
  }

  /** With a role that was made for another operator nobody can have paused anything, and modules must run. */
  async #read(signal: AbortSignal): ReturnType<typeof readConfigMapData> {
    const { kube, ref, log } = this.#deps;
    try {
      return await readConfigMapData(kube, ref, signal);
    } catch (error) {
      if (!hasStatus(error, 403)) throw error;
      log.warn(
        { configMap: ref.name, error: messageOf(error) },
        'pauses cannot be read: no module counts as paused; allow get, create and update of this ConfigMap',
      );
      return {};
    }
  }

  /** @param target a module, or {@link ALL_MODULES} @throws OperatorError when the API server cannot be asked */
  async pause(
    target: string,
    { reason, untilMs }: Pick<Pause, 'reason' | 'untilMs'>,
    signal: AbortSignal,
  ): Promise<void> {
    const pause: Pause = { reason, untilMs, sinceMs: this.#deps.clock.now() };
    await this.#write(target, formatPause(pause), signal);
    this.#set(new Map([...this.#pauses, [target, pause]]));
    this.#deps.log.warn({ target, reason }, 'paused');
  }

  /** Returns whether there was a pause to end. @throws OperatorError when the API server cannot be asked */
  async resume(target: string, signal: AbortSignal): Promise<boolean> {
    if (!this.#pauses.has(target)) return false;
    await this.#write(target, undefined, signal);
    this.#set(new Map([...this.#pauses].filter(([other]) => other !== target)));
    this.#deps.log.info({ target }, 'resumed');
    return true;
  }

  /** Calls `onChange` after every change, also when the time of a pause is over. Rejects when the signal aborts. */
  async watch(onChange: () => void, signal: AbortSignal): Promise<never> {
    const { clock } = this.#deps;
    for (let toldAtMs = clock.now(); ; onChange()) {
      signal.throwIfAborted();
      await this.#untilChange(toldAtMs, signal);
      toldAtMs = clock.now();
    }
  }

  /** Also when a pause ended since `toldAtMs`. */
  async #untilChange(toldAtMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const ends = [...this.#pauses.values()].flatMap(({ untilMs }) => untilMs ?? []);
    const next = ends.filter((end) => end > toldAtMs).toSorted((a, b) => a - b)[0];
    const awake = new AbortController();
    const either = AbortSignal.any([signal, awake.signal]);
    try {
      const sleeping = clock.sleep(
        next === undefined ? LONG_MS : Math.max(0, Math.min(LONG_MS, next - clock.now())),
        either,
      );
      await Promise.race([this.#changed.promise, sleeping]);
    } finally {
      awake.abort();
    }
  }

  #valid(target: string): Pause | undefined {
    const pause = this.#pauses.get(target);
    const isOver = pause?.untilMs !== undefined && pause.untilMs <= this.#deps.clock.now();
    return isOver ? undefined : pause;
  }

  #set(pauses: ReadonlyMap<string, Pause>): void {
    this.#pauses = pauses;
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  /** Entries whose time is over go with the next write. */
  #write(target: string, text: string | undefined, signal: AbortSignal): Promise<void> {
    const { kube, ref, clock } = this.#deps;
    const isOver = (value: string): boolean => (parsePause(value).untilMs ?? Infinity) <= clock.now();
    return this.#exclusive.run(() =>
      changeConfigMapData(
        kube,
        ref,
        (data) => {
          const others = Object.entries(data).filter(([key, value]) => key !== target && !isOver(value));
          return Object.fromEntries(text === undefined ? others : [...others, [target, text]]);
        },
        signal,
      ),
    );
  }
}

/** Timers cannot be set for longer than about 24 days. */
const LONG_MS = 24 * 60 * 60 * 1_000;

function formatPause({ reason, sinceMs, untilMs }: Pause): string {
  const since = new Date(sinceMs).toISOString();
  return JSON.stringify({
    reason,
    since,
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
  });
}

/** Whatever the text says: somebody wanted a pause. */
function parsePause(text: string): Pause {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { reason, since, until } = isObject(value) ? value : {};
  const untilMs = Date.parse(String(until));
  return {
    reason: typeof reason === 'string' ? reason : text,
    sinceMs: Date.parse(String(since)) || 0,
    untilMs: Number.isNaN(untilMs) ? undefined : untilMs,
  };
}
