/**
 * Remembers across restarts whether the ConfigMap existed, and waits for one that is missing. `config-map-store.ts` uses
 * both classes: `ConfigMapPresence` at the start, `AbsenceGrace` while the daemon runs. The fact itself is in a second
 * ConfigMap, `<name>-modules`. If that cannot be read, the ConfigMap counts as one that existed.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import {
  type ConfigMapObject,
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { untilDone } from '@addon-operator/kube-client/retry';
import type { InstanceSettings } from '../settings/config-map-settings.ts';

/** Keeps in the cluster whether the ConfigMap existed: a daemon that restarts has no other memory of it. */
export interface PresenceMemory {
  /** @throws what the API client throws */
  read(signal: AbortSignal): Promise<boolean>;
  /** @throws what the API client throws */
  write(isPresent: boolean, signal: AbortSignal): Promise<void>;
}

interface ConfigMapPresenceDeps {
  readonly memory: PresenceMemory;
  /** `namespace/name`, for the log. */
  readonly title: string;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** How long a ConfigMap that existed before may come back; 0 for not at all. */
  readonly graceMs: number;
}

type Read = (signal: AbortSignal) => Promise<ConfigMapObject | undefined>;

/** How often a start requests a ConfigMap that is absent. */
const READ_INTERVAL_MS = 1_000;

/**
 * Distinguishes a ConfigMap that never existed from one that is absent at the moment of a start, which `kubectl replace --force`
 * or a restore from a backup may delete for an instant. Taken for empty, it would uninstall what it had enabled.
 */
export class ConfigMapPresence {
  readonly #deps: ConfigMapPresenceDeps;
  /** The fact to remember; undefined until the ConfigMap was read. */
  #isPresent: boolean | undefined;
  #isWriting = false;

  constructor(deps: ConfigMapPresenceDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the ConfigMap at a start. When it is absent but existed before, reads it again until it is back or the grace is
   * over. An API error ends the wait: the next call begins a new one, since an outage shows nothing about the ConfigMap.
   *
   * @throws what `read` throws; KUBE_UNREACHABLE; `signal.reason` on abort
   */
  async firstRead(read: Read, signal: AbortSignal): Promise<ConfigMapObject | undefined> {
    const { graceMs } = this.#deps;
    const found = await read(signal);
    if (found === undefined && graceMs > 0 && !(await this.#existedBefore(signal))) {
      this.#isPresent = false;
      return undefined;
    }
    const object = found ?? (graceMs > 0 ? await this.#awaitReturn(read, signal) : undefined);
    this.record(object !== undefined, signal);
    return object;
  }

  /** Remembers in the background whether the ConfigMap exists, until the signal aborts. */
  record(isPresent: boolean, signal: AbortSignal): void {
    if (this.#isPresent === isPresent) return;
    this.#isPresent = isPresent;
    if (!this.#isWriting) void this.#write(signal);
  }

  /** A memory that cannot be read counts as present: the wait is short, but an uninstall is final. */
  async #existedBefore(signal: AbortSignal): Promise<boolean> {
    const { memory, log, title } = this.#deps;
    try {
      return await memory.read(signal);
    } catch (error) {
      if (!hasCode(error, 'KUBE_API')) throw error;
      log.warn({ error, configMap: title }, 'cannot check whether the ConfigMap existed before');
      return true;
    }
  }

  async #awaitReturn(read: Read, signal: AbortSignal): Promise<ConfigMapObject | undefined> {
    const { clock, graceMs, log, title: configMap } = this.#deps;
    log.warn(
      { configMap, graceMs },
      'ConfigMap is missing but existed before: waiting for it; after the grace period it is treated as deleted',
    );
    const endMs = clock.steadyMs() + graceMs;
    for (let leftMs = graceMs; leftMs > 0; leftMs = endMs - clock.steadyMs()) {
      await clock.sleep(Math.min(leftMs, READ_INTERVAL_MS), signal);
      const object = await read(signal);
      if (object === undefined) continue;
      log.info({ configMap }, 'ConfigMap exists again, the start continues');
      return object;
    }
    log.warn({ configMap }, 'ConfigMap is still missing after the grace period and is treated as deleted');
    return undefined;
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { memory, log, title: configMap } = this.#deps;
    const onFailure = (error: unknown): void =>
      log.warn({ error, configMap }, 'cannot record whether the ConfigMap exists, will retry');
    let written: boolean | undefined;
    const write = async (): Promise<void> => {
      const isPresent = this.#isPresent === true;
      await memory.write(isPresent, signal);
      written = isPresent;
    };
    this.#isWriting = true;
    try {
      // The fact may change during a write; then it is written once more.
      while (written !== this.#isPresent) await untilDone(write, onFailure, this.#deps, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isWriting = false;
    }
  }
}

const KEY = 'configMap';
const PRESENT = 'present';

/** The ConfigMap with what the operator remembers from one start to the next, each fact under its own key. */
export function memoryRef({ namespace, configMapName }: InstanceSettings): ConfigMapRef {
  return { namespace, name: `${configMapName}-modules` };
}

/** Keeps in the ConfigMap `ref` whether the ConfigMap with the values existed. Nothing is written that is there already. */
export function presenceMemory(kube: KubeClient, ref: ConfigMapRef): PresenceMemory {
  const read = async (signal: AbortSignal): Promise<boolean> =>
    (await readConfigMapData(kube, ref, signal))[KEY] === PRESENT;
  return {
    read,
    write: async (isPresent, signal) => {
      if ((await read(signal)) === isPresent) return;
      await changeConfigMapData(kube, ref, (data) => withPresence(data, isPresent), signal);
    },
  };
}

/** For commands that only look. */
export function readOnly(memory: PresenceMemory): PresenceMemory {
  return { read: (signal) => memory.read(signal), write: () => Promise.resolve() };
}

/** All other keys stay: this is not the only fact in that ConfigMap. */
function withPresence(
  data: Readonly<Record<string, string>>,
  isPresent: boolean,
): Readonly<Record<string, string>> {
  if (isPresent) return { ...data, [KEY]: PRESENT };
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== KEY));
}

interface Running {
  readonly over: Promise<void>;
  readonly end: AbortController;
}

/** The grace time in which a deleted object may come back before the operator acts. One at a time. */
export class AbsenceGrace {
  readonly #clock: SteadyClock;
  readonly #graceMs: number;
  #running: Running | undefined;

  /** @param graceMs 0 for none */
  constructor(clock: SteadyClock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Calls `onExpired` when the time has passed, unless {@link end} was called or the signal has aborted before. Does nothing
   * while it runs already.
   *
   * @param onExpired rejects only when the signal aborts
   */
  begin(onExpired: () => Promise<void>, signal: AbortSignal): void {
    if (this.#running !== undefined) return;
    const end = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const running = { over, end };
    this.#running = running;
    const wait = async (): Promise<void> => {
      try {
        await this.#clock.sleep(this.#graceMs, AbortSignal.any([signal, end.signal]));
        await onExpired();
      } catch (error) {
        if (!signal.aborted && !end.signal.aborted) throw error;
      } finally {
        if (this.#running === running) this.#running = undefined;
        resolve();
      }
    };
    void wait();
  }

  /** The object is back. */
  end(): void {
    this.#running?.end.abort();
    this.#running = undefined;
  }

  /** Resolves when no caller waits any more. @throws `signal.reason` on abort */
  async untilOver(signal: AbortSignal): Promise<void> {
    if (this.#running !== undefined) await resultOrAbort(this.#running.over, signal);
  }
}
