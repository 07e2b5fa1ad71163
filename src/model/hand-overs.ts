import { hostname } from 'node:os';
import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import { sleepOrWake, Wakeup } from '@addon-operator/concurrency/wakeup';
import { type ConfigMapRef, changeConfigMapData } from '@addon-operator/kube-client/config-map-object';
import {
  changeHandOver,
  handOverKey,
  holderName,
  nameOfHandOver,
  type OwnerNote,
  parseHandOver,
  signOfLife,
  wantedBack,
  withNote,
} from '@addon-operator/kube-client/hand-over/hand-over-entry';
import {
  type HandOverState,
  NOT_HANDED_OVER,
  nextHandOverStep,
  observeHandOver,
  permitHolder,
  removeHandOver,
} from '@addon-operator/kube-client/hand-over/hand-over-owner';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { LeaseSettings } from '../settings/lease-settings.ts';
import { type Pause, pausesRef } from './pause-entry.ts';

type Data = Readonly<Record<string, string>>;

export interface HandOversDeps {
  readonly kube: KubeClient;
  /** The ConfigMap of pauses, which has the entries. */
  readonly ref: ConfigMapRef;
  /** Holders lapse by elapsed time, which a wall clock does not measure. */
  readonly steadyClock: SteadyClock;
  readonly log: Logger;
  /** The name of this operator that holders see. */
  readonly identity: string;
}

/** The effects of a hand-over, and of taking the module back. */
export interface HandOverActions {
  /** A module is about to be handed over: nothing new begins for it, and queued tasks end. */
  readonly begin: (module: string) => Promise<void>;
  /** Stops all parts of a module; no attempt of a task for it is in progress. */
  readonly end: (module: string, signal: AbortSignal) => Promise<void>;
  /** The module is this operator's again. */
  readonly onTakenBack: (module: string) => void;
  /** Facts that the holder needs, such as the enabled modules. */
  readonly facts: () => OwnerNote['facts'];
  /**
   * Changes the data of the ConfigMap, then reads it and calls {@link HandOvers.observe}. `onWritten` is called in between, and
   * nothing is read from the change until then.
   */
  readonly change: (
    change: (data: Data) => Data,
    signal: AbortSignal,
    onWritten?: () => void,
  ) => Promise<void>;
}

// The slices of the settings and of the host that hand-overs use.
export interface HandOversOptions {
  readonly settings: InstanceSettings & Pick<LeaseSettings, 'podName'>;
  readonly host: { readonly steadyClock: SteadyClock; readonly log: Logger };
  readonly kube: KubeClient;
}

/** The modules that holders have or want; nothing is read yet. */
export function createHandOvers({ settings, host, kube }: HandOversOptions): HandOvers {
  const { namespace, podName } = settings;
  return new HandOvers({
    kube,
    ref: pausesRef(settings),
    steadyClock: host.steadyClock,
    log: componentLog(host, 'operator'),
    identity: `${namespace}/${podName || hostname()}`,
  });
}

const RETRY_MS = 1_000;

/**
 * The modules that are handed over to `addon-operator dev` on another machine, see docs/adr/017-hand-over-of-modules.md.
 * From the first reading of an entry on no attempt of a task for the module begins; the holder is permitted to act when
 * none is in progress any more, and the module is run again when no holder may act.
 */
export class HandOvers {
  readonly #deps: HandOversDeps;
  readonly #states = new Map<string, HandOverState>();
  readonly #away = new Set<string>();
  readonly #attempts = new Map<string, Set<Promise<unknown>>>();
  /** Modules about which requests are in progress. */
  readonly #busy = new Set<string>();
  readonly #changed = new Wakeup();

  constructor(deps: HandOversDeps) {
    this.#deps = deps;
  }

  /** Whether this operator must not act on a module. */
  isAway(module: string): boolean {
    return this.#away.has(module);
  }

  /** The pause that users see for a module that is handed over. */
  pauseOf(module: string): Pause | undefined {
    if (!this.isAway(module)) return undefined;
    const { entry, actor } = this.#states.get(module) ?? NOT_HANDED_OVER;
    const holder = holderName(entry?.holder || actor?.holder || '');
    const sinceMs = Date.parse(entry?.acquireTime ?? '') || 0;
    const pause = { sinceMs, untilMs: undefined, handedOverTo: holder };
    if (entry !== undefined && entry.holder !== '')
      return { ...pause, reason: `handed over to addon-operator dev of ${holder}` };
    const reason = `being taken back from addon-operator dev of ${holder}, which first ends its running hooks and helm`;
    return { ...pause, reason, isTakenBack: true };
  }

  /** Takes over the entries of the ConfigMap. */
  observe(data: Data): void {
    const nowMs = this.#deps.steadyClock.steadyMs();
    const names = Object.keys(data).flatMap((key) => nameOfHandOver(key) ?? []);
    for (const name of new Set([...this.#states.keys(), ...names])) {
      const before = this.#states.get(name) ?? NOT_HANDED_OVER;
      const state = observeHandOver(before, parseHandOver(data[handOverKey(name)]), nowMs);
      this.#states.set(name, state);
      if (nextHandOverStep(state, nowMs).type !== 'act') this.#away.add(name);
    }
    this.#changed.wake();
  }

  /**
   * Runs an attempt of a task for a module. A hand-over of the module waits until it has ended.
   */
  async during<T>(module: string, run: () => Promise<T>): Promise<T> {
    const attempts = this.#attempts.get(module) ?? new Set();
    this.#attempts.set(module, attempts);
    const attempt = run();
    attempts.add(attempt);
    try {
      return await attempt;
    } finally {
      attempts.delete(attempt);
      if (attempts.size === 0) this.#attempts.delete(module);
    }
  }

  /** Makes the holder of a module stop: it is taken back when the holder has stopped for certain. @throws OperatorError */
  async reclaim(module: string, signal: AbortSignal): Promise<void> {
    const { kube, ref } = this.#deps;
    await changeConfigMapData(kube, ref, (data) => changeHandOver(data, module, wantedBack), signal);
  }

  /** Hands modules over and takes them back, as the entries say. Rejects when the signal aborts. */
  async run(actions: HandOverActions, signal: AbortSignal): Promise<never> {
    const { steadyClock } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const changed = this.#changed.next;
      const dueMs = Math.min(...[...this.#away].map((name) => this.#next(name, actions, signal)));
      const sleepMs = Math.min(MAX_SLEEP_MS, Math.max(1, Math.ceil(dueMs - steadyClock.steadyMs())));
      await sleepOrWake(steadyClock, sleepMs, changed, signal);
    }
  }

  /**
   * Begins the next step for a module, and returns when to check it again, on the steady clock.
   */
  #next(name: string, actions: HandOverActions, signal: AbortSignal): number {
    if (this.#busy.has(name)) return Number.POSITIVE_INFINITY;
    const state = this.#states.get(name) ?? NOT_HANDED_OVER;
    const step = nextHandOverStep(state, this.#deps.steadyClock.steadyMs());
    switch (step.type) {
      case 'wait':
        return step.untilMs;
      case 'act':
        this.#away.delete(name);
        this.#states.delete(name);
        actions.onTakenBack(name);
        break;
      case 'hand-over':
        void this.#alone(name, () => this.#handOver(name, step.holder, actions, signal), signal);
        break;
      case 'take-back':
        void this.#alone(name, () => this.#takeBack(name, state, actions, signal), signal);
        break;
    }
    return Number.POSITIVE_INFINITY;
  }

  async #alone(module: string, act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    this.#busy.add(module);
    try {
      await act();
    } catch (error) {
      if (signal.aborted) return;
      this.#deps.log.warn({ module, ...errorFields(error) }, 'cannot hand over a module, will retry');
      await this.#deps.steadyClock.sleep(RETRY_MS, signal).catch(() => undefined);
    } finally {
      this.#busy.delete(module);
      this.#changed.wake();
    }
  }

  async #handOver(
    module: string,
    holder: string,
    actions: HandOverActions,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, identity: by } = this.#deps;
    const note = this.#states.get(module)?.entry?.note;
    if (note?.holder !== holder) {
      log.warn(
        { module, holder: holderName(holder) },
        'module is handed over: its running hooks and helm end, and it does not run here until it is returned',
      );
      await this.#note(module, { holder, by, state: 'ending', facts: {} }, actions, signal);
    }
    await actions.begin(module);
    // An attempt that ends may have started another one: wait until none is left.
    for (
      let running = this.#attempts.get(module);
      running !== undefined;
      running = this.#attempts.get(module)
    )
      await Promise.allSettled(running);
    signal.throwIfAborted();
    await actions.end(module, signal);
    const state = this.#states.get(module);
    // The holder may have gone while the module was stopped: then no holder is permitted to act.
    if (state?.entry?.holder !== holder) return;
    this.#states.set(module, permitHolder(state, holder));
    await this.#note(module, { holder, by, state: 'accepted', facts: actions.facts() }, actions, signal);
    log.info({ module, holder: holderName(holder) }, 'module is handed over');
  }

  /** Writes a note into the entry if it still is that of the holder. */
  async #note(module: string, note: OwnerNote, actions: HandOverActions, signal: AbortSignal): Promise<void> {
    const noted = (value: string): string =>
      parseHandOver(value)?.holder === note.holder ? withNote(value, note) : value;
    await actions.change((data) => changeHandOver(data, module, noted), signal);
  }

  async #takeBack(
    module: string,
    state: HandOverState,
    actions: HandOverActions,
    signal: AbortSignal,
  ): Promise<void> {
    const { log } = this.#deps;
    const { entry } = state;
    const key = handOverKey(module);
    let isRemoved = false;
    // Removed only if the holder did not renew in the meantime: a holder that came back keeps the
    // module.
    const change = (data: Data): Data => {
      const { [key]: value, ...others } = data;
      isRemoved = signOfLife(parseHandOver(value)) === signOfLife(entry);
      return isRemoved ? others : data;
    };
    if (entry !== undefined && entry.holder !== '')
      log.warn(
        { module, holder: holderName(entry.holder) },
        'the holder of a module does not renew its entry any more: the module is taken back',
      );
    await actions.change(change, signal, () => {
      if (isRemoved) this.#states.set(module, removeHandOver(this.#states.get(module) ?? state));
    });
  }
}

/** `dueMs` is infinite while nothing is due, and a timer takes no infinite time. */
const MAX_SLEEP_MS = 60 * 60 * 1_000;
