import { untilDone } from '../kube/retry.ts';
import type { SteadyClock } from '../lib/clock.ts';
import { hasCode } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { ConfigMapObject } from './config-map-object.ts';

/** Keeps in the cluster whether the ConfigMap existed: a daemon that restarts has no other memory of it. */
export interface PresenceMemory {
  /** @throws what the API client throws */
  read(signal: AbortSignal): Promise<boolean>;
  /** @throws what the API client throws */
  write(isPresent: boolean, signal: AbortSignal): Promise<void>;
}

export interface ConfigMapPresenceDeps {
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
  /** What is to be remembered; undefined until the ConfigMap was read. */
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

  /** A memory that cannot be read counts as one that says yes: the wait is short, an uninstall is final. */
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
      while (written !== this.#isPresent) await untilDone(write, onFailure, this.#deps, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isWriting = false;
    }
  }
}
