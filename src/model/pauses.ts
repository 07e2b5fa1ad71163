import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import { componentLog } from '@addon-operator/base/log';
import { sleepOrWake, Wakeup } from '@addon-operator/concurrency/wakeup';
import { canonicalJson } from '@addon-operator/json';
import { changeConfigMapData, readConfigMapData } from '@addon-operator/kube-client/config-map-object';
import { nameOfHandOver } from '@addon-operator/kube-client/hand-over/hand-over-entry';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { untilAvailable } from '@addon-operator/kube-client/retry';
import PQueue from 'p-queue';
import { createHandOvers, type HandOvers, type HandOversOptions } from './hand-overs.ts';
import { formatPause, type Pause, parsePause, pausesRef } from './pause-entry.ts';
import { type PauseWatchDeps, watchPauses } from './pause-watch.ts';

type Data = Readonly<Record<string, string>>;

/** Means all modules; no module can have this name. */
export const ALL_MODULES = 'ALL';

export interface PausesDeps extends PauseWatchDeps {
  readonly kube: KubeClient;
  readonly hasModule: (name: string) => boolean;
  /** Modules that are handed over, which entries of the same ConfigMap say; absent where they are no concern. */
  readonly handOvers?: Pick<HandOvers, 'observe' | 'pauseOf' | 'reclaim'>;
}

/**
 * The paused modules, kept in a ConfigMap of their own so that they outlive the daemon.
 * `requests/pause-tasks.ts` writes pauses and acts on changes, `queues/task-router.ts` and the
 * pipeline read them before each task. Several writers are possible (kubectl, other instances):
 * each write changes its own entry only, and the content is read again whenever the watch reports a
 * change.
 */
export class Pauses {
  readonly #deps: PausesDeps;
  readonly #lock = new PQueue({ concurrency: 1 });
  #pauses: ReadonlyMap<string, Pause> = new Map();
  /** Problems of entries as they were logged last, to log each once. */
  #problems: ReadonlyMap<string, string> = new Map();
  readonly #changed = new Wakeup();

  constructor(deps: PausesDeps) {
    this.#deps = deps;
  }

  /** The pause a module is under: that of its hand-over, its own, else that of all modules. */
  of(module: string): Pause | undefined {
    return this.#deps.handOvers?.pauseOf(module) ?? this.#valid(module) ?? this.#valid(ALL_MODULES);
  }

  /** Whether the pause of a module is that of all modules. */
  isOfAll(module: string): boolean {
    if (this.#deps.handOvers?.pauseOf(module) !== undefined) return false;
    return this.#valid(module) === undefined && this.#valid(ALL_MODULES) !== undefined;
  }

  /**
   * Reads the ConfigMap. An entry that cannot be parsed is logged once and changes nothing; if it
   * is new, it counts as a pause without an end, because a user wanted one.
   *
   * @throws OperatorError when the request to the API server fails
   */
  load(signal: AbortSignal): Promise<void> {
    return this.#lock.add(() => this.#load(signal));
  }

  async #load(signal: AbortSignal): Promise<void> {
    const data = await this.#read(signal);
    // Without permission to read, modules that are handed over stay handed over: the holder may
    // still act.
    if (data !== undefined) this.#deps.handOvers?.observe(data);
    this.#take(data ?? {});
  }

  /**
   * Changes the entries of the ConfigMap that are no pauses, and reads it again.
   *
   * @param onWritten called between both; nothing is read from the change until then
   * @throws OperatorError when a request to the API server fails
   */
  change(change: (data: Data) => Data, signal: AbortSignal, onWritten?: () => void): Promise<void> {
    const { kube, ref } = this.#deps;
    return this.#lock.add(async () => {
      await changeConfigMapData(kube, ref, change, signal);
      onWritten?.();
      await this.#load(signal);
    });
  }

  /** Follows what others write into the ConfigMap, see {@link watchPauses}. */
  follow(signal: AbortSignal): Promise<void> {
    return watchPauses(this.#deps, (stop) => this.load(stop), signal);
  }

  #take(data: Data): void {
    const { log, ref } = this.#deps;
    const problems = new Map<string, string>();
    const pauses = new Map<string, Pause>();
    for (const [target, content] of Object.entries(data)) {
      if (nameOfHandOver(target) !== undefined) continue;
      const entry = parsePause(content);
      if (entry.type === 'invalid') problems.set(target, entry.problem);
      const known = entry.type === 'invalid' ? this.#pauses.get(target) : undefined;
      pauses.set(target, known ?? entry.pause);
    }
    for (const [target, problem] of problems)
      if (this.#problems.get(target) !== problem)
        log.warn(
          { configMap: ref.name, target, problem },
          'cannot parse an entry of the ConfigMap of pauses: correct it, or remove it to resume',
        );
    this.#problems = problems;
    this.#logDifference(pauses);
    if (!isEqual(this.#pauses, pauses)) this.#set(pauses);
  }

  /** Logs pauses that began or ended. An expired entry counts as none. */
  #logDifference(next: ReadonlyMap<string, Pause>): void {
    const { log, ref, hasModule } = this.#deps;
    const stillOf = (pauses: ReadonlyMap<string, Pause>): ReadonlyMap<string, Pause> =>
      new Map([...pauses].filter(([, pause]) => !this.#isOver(pause)));
    const [before, after] = [stillOf(this.#pauses), stillOf(next)];
    for (const [target, pause] of after) {
      const known = before.get(target);
      if (known !== undefined && formatPause(known) === formatPause(pause)) continue;
      log.warn({ target, reason: pause.reason }, 'paused');
      if (target === ALL_MODULES || hasModule(target)) continue;
      log.warn(
        { configMap: ref.name, target },
        'no module has the name of this pause; it takes effect when such a module exists: correct the name, or resume it',
      );
    }
    for (const target of before.keys()) if (!after.has(target)) log.info({ target }, 'resumed');
  }

  /**
   * A 403 means a role of another operator without this ConfigMap: nothing can be paused with it,
   * so modules must run.
   */
  async #read(signal: AbortSignal): Promise<Data | undefined> {
    const { kube, ref, log } = this.#deps;
    try {
      return await readConfigMapData(kube, ref, signal);
    } catch (error) {
      if (!hasStatus(error, 403)) throw error;
      log.warn(
        { configMap: ref.name, ...errorFields(error) },
        'cannot read pauses: no module is treated as paused; grant get, create and update on this ConfigMap',
      );
      return undefined;
    }
  }

  /** @param target a module, or {@link ALL_MODULES} @throws OperatorError when the request to the API server fails */
  async pause(
    target: string,
    wanted: Pick<Pause, 'reason' | 'untilMs' | 'files'>,
    signal: AbortSignal,
  ): Promise<void> {
    const pause: Pause = { ...wanted, sinceMs: this.#deps.clock.wallMs() };
    await this.#write(target, formatPause(pause), () => new Map([...this.#pauses, [target, pause]]), signal);
  }

  /** Also ends the hand-over of a module. Returns whether there was a pause to end. @throws OperatorError when the request to the API server fails */
  async resume(target: string, signal: AbortSignal): Promise<boolean> {
    const { handOvers } = this.#deps;
    const isHandedOver = handOvers?.pauseOf(target) !== undefined;
    if (isHandedOver) {
      await handOvers?.reclaim(target, signal);
      await this.load(signal);
    }
    if (!this.#pauses.has(target)) return isHandedOver;
    const without = (): ReadonlyMap<string, Pause> =>
      new Map([...this.#pauses].filter(([other]) => other !== target));
    await this.#write(target, undefined, without, signal);
    return true;
  }

  /**
   * Calls `onChange` after every change, also when a pause expires. Rejects when the signal aborts.
   */
  async watch(onChange: () => void, signal: AbortSignal): Promise<never> {
    const { clock } = this.#deps;
    for (let notifiedAtMs = clock.wallMs(); ; onChange()) {
      signal.throwIfAborted();
      await this.#untilChange(notifiedAtMs, signal);
      notifiedAtMs = clock.wallMs();
    }
  }

  /** Also resolves for a pause that expired after `notifiedAtMs`. */
  async #untilChange(notifiedAtMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const ends = [...this.#pauses.values()].flatMap(({ untilMs }) => untilMs ?? []);
    const next = ends.filter((end) => end > notifiedAtMs).toSorted((a, b) => a - b)[0];
    const changed = this.#changed.next;
    for (let isOver = false; !isOver; isOver ||= next !== undefined && next <= clock.wallMs()) {
      const sleepMs =
        next === undefined ? LONG_MS : Math.max(0, Math.min(MAX_SLEEP_MS, next - clock.wallMs()));
      isOver = (await sleepOrWake(clock, sleepMs, changed, signal)) === 'woken';
    }
  }

  #valid(target: string): Pause | undefined {
    const pause = this.#pauses.get(target);
    return pause === undefined || this.#isOver(pause) ? undefined : pause;
  }

  #isOver({ untilMs }: Pause): boolean {
    return untilMs !== undefined && untilMs <= this.#deps.clock.wallMs();
  }

  #set(pauses: ReadonlyMap<string, Pause>): void {
    this.#pauses = pauses;
    this.#changed.wake();
  }

  /** Writes one entry. Expired entries are removed with it. */
  #write(
    target: string,
    content: string | undefined,
    next: () => ReadonlyMap<string, Pause>,
    signal: AbortSignal,
  ): Promise<void> {
    const { kube, ref } = this.#deps;
    const isOver = (value: string): boolean => this.#isOver(parsePause(value).pause);
    const change = (data: Data): Data => {
      const others = Object.entries(data).filter(([key, value]) => key !== target && !isOver(value));
      return Object.fromEntries(content === undefined ? others : [...others, [target, content]]);
    };
    return this.#lock.add(async () => {
      await changeConfigMapData(kube, ref, change, signal);
      const pauses = next();
      this.#logDifference(pauses);
      this.#set(pauses);
    });
  }
}

/**
 * A pause ends at a wall time. A timer of this length at most notices a clock that was set forward.
 */
const MAX_SLEEP_MS = 30_000;
const LONG_MS = 24 * 60 * 60 * 1_000;

export interface PausesOptions extends HandOversOptions {
  readonly host: HandOversOptions['host'] & { readonly clock: Clock; readonly random: () => number };
  readonly reflectors: SharedReflectors;
  readonly stop: AbortSignal;
}

/**
 * Reads the pauses and hand-overs that the cluster keeps, and waits for the API server as long as that takes.
 *
 * @param isLone this daemon runs one module only: others pause modules that are none here, and hand over the one that is
 * @throws `stop.reason` on abort
 */
export async function createPauses(
  { settings, host, kube, reflectors, stop }: PausesOptions,
  hasModule: (name: string) => boolean,
  isLone: boolean,
): Promise<{ readonly pauses: Pauses; readonly handOvers: HandOvers }> {
  const handOvers = createHandOvers({ settings, host, kube });
  const { clock, random } = host;
  const pauses = new Pauses({
    kube,
    reflectors,
    ref: pausesRef(settings),
    clock,
    random,
    log: componentLog(host, 'operator'),
    hasModule: (name) => isLone || hasModule(name),
    ...(!isLone && { handOvers }),
  });
  await untilAvailable('pauses', () => pauses.load(stop), host, stop);
  return { pauses, handOvers };
}

function isEqual(a: ReadonlyMap<string, Pause>, b: ReadonlyMap<string, Pause>): boolean {
  return canonical(a) === canonical(b);
}

function canonical(pauses: ReadonlyMap<string, Pause>): string {
  return canonicalJson(Object.fromEntries(pauses));
}
