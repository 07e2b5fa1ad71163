/**
 * The reflector of the operator's ConfigMap, and its only writer. `load` reads it at the start, `watch` reports each
 * change to `operator/config-changes.ts`, and `save` writes the patch of a hook. Invalid content and a deletion do not
 * take effect at once: the last valid content stays in use. The watch can be behind our own writes, so the resource
 * versions of those writes are remembered until the watch has delivered them.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, type OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson, type JsonObject } from '@addon-operator/json';
import {
  CONFIG_MAPS,
  type ConfigMapObject,
  type ConfigMapRef,
  MAX_CONFIG_MAP_BYTES,
  parseConfigMap,
  readConfigMap,
  sizeBytes,
} from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { ReflectorEvent, SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { untilDone } from '@addon-operator/kube-client/retry';
import PQueue from 'p-queue';
import {
  type ConfigDifference,
  type ConfigMapContent,
  configDifference,
  EMPTY_CONTENT,
  isEmptyDifference,
  parseConfigMapData,
  sectionIn,
  withSection,
} from './config-map-content.ts';
import { AbsenceGrace, ConfigMapPresence, type PresenceMemory } from './config-map-presence.ts';
import { saveSection } from './config-map-save.ts';
import { sectionOf, type ValuesOwner } from './module-key.ts';
import { patchSection } from './section-patch.ts';
import type { ValuesOperation } from './values-patch.ts';

/** From here on a hook that saves more into the ConfigMap may soon find it full. */
const WARN_FROM_SHARE = 0.8;

/**
 * A new content of the watched ConfigMap.
 *
 * `changed`: valid content that means something else than the last valid one. `invalid`: it cannot be understood; the
 * last valid content stays in use. `missing`: it is gone, and the last valid content stays in use for `graceMs` unless
 * it comes back before. `valid`: understood, or back, or known to be gone; `changed` follows unless it means what the last
 * valid content meant.
 */
export type ConfigChange =
  | { readonly type: 'changed'; readonly content: ConfigMapContent; readonly difference: ConfigDifference }
  | { readonly type: 'invalid'; readonly error: OperatorError }
  | { readonly type: 'missing'; readonly graceMs: number }
  | { readonly type: 'valid' };

/** Whether the ConfigMap, as last read, can be understood. */
type ConfigState =
  | { readonly type: 'valid' }
  | { readonly type: 'missing' }
  | { readonly type: 'invalid'; readonly error: OperatorError };

interface ConfigMapStoreDeps {
  readonly kube: KubeClient;
  readonly reflectors: Pick<SharedReflectors, 'subscribe'>;
  readonly ref: ConfigMapRef;
  readonly clock: SteadyClock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** How long a ConfigMap that disappears may come back before that counts; 0 for not at all. */
  readonly graceMs: number;
  readonly memory: PresenceMemory;
  /** Called at every event of the watch: whether it is logged, with the whole object. Without it none is. */
  readonly logsEvents?: () => boolean;
}

/**
 * The ConfigMap of the operator: what it says, when it changes, and the only way to write it. What it says is understood
 * whole or not at all; while it cannot be understood or read, the last valid content counts. Deleting the ConfigMap
 * falls back to the files, but only when it does not come back within a grace: `kubectl replace --force` deletes it for an
 * instant. Until then nothing is saved: a ConfigMap with one section of a hook would be read as the user's configuration.
 */
export class ConfigMapStore {
  readonly #deps: ConfigMapStoreDeps;
  readonly #lock = new PQueue({ concurrency: 1 });
  readonly #grace: AbsenceGrace;
  readonly #presence: ConfigMapPresence;
  #content: ConfigMapContent = EMPTY_CONTENT;
  #state: ConfigState = { type: 'valid' };
  /** Whether there was a ConfigMap when it was read last, so that its absence would be news. */
  #isPresent = false;
  #onChange: (change: ConfigChange) => void = () => undefined;
  #watching: AbortSignal | undefined;
  /**
   * Versions that are known already (written or read outside the watch) and that the watch has yet to pass, oldest
   * first. Until it has, what it delivers may be older than what is known.
   */
  #ahead: readonly string[] = [];

  constructor(deps: ConfigMapStoreDeps) {
    this.#deps = deps;
    this.#grace = new AbsenceGrace(deps.clock, deps.graceMs);
    this.#presence = new ConfigMapPresence({ ...deps, title: this.title });
  }

  /** The last valid content; the same object as long as it means the same. */
  get content(): ConfigMapContent {
    return this.#content;
  }

  /** `namespace/name`, for messages. */
  get title(): string {
    const { namespace, name } = this.#deps.ref;
    return `${namespace}/${name}`;
  }

  get state(): ConfigState {
    return this.#state;
  }

  /**
   * Reads the ConfigMap for the first time. An absent one is empty; one that existed before is waited for until the grace
   * is over.
   *
   * @throws OperatorError CONFIG_MAP_INVALID when it cannot be understood, KUBE_API or KUBE_UNREACHABLE when it cannot
   *   be read
   */
  async load(signal: AbortSignal): Promise<ConfigMapContent> {
    const { kube, ref } = this.#deps;
    const object = await this.#presence.firstRead((stop) => readConfigMap(kube, ref, stop), signal);
    this.#warnAboutData(object);
    this.#content = this.#parse(object);
    this.#isPresent = object !== undefined;
    return this.#content;
  }

  /**
   * Watches the ConfigMap until the signal aborts, then rejects with its reason. What {@link save} wrote itself is no
   * change. While the API server is unreachable the request is repeated, after 0.8 s growing to 30 s.
   */
  async watch(onChange: (change: ConfigChange) => void, signal: AbortSignal): Promise<never> {
    this.#onChange = onChange;
    this.#watching = signal;
    await this.#retry('cannot watch the ConfigMap', () => this.#subscribe(signal), signal);
    return untilAborted(signal);
  }

  /**
   * Applies a hook's patch to the owner's section as it is in the cluster now, writes it, and returns the section
   * as written (or as it was, when the patch changes nothing). All other keys stay untouched. While the ConfigMap is gone
   * but may come back, it waits.
   *
   * @param check throws when the section must not be written as it would be; that error is passed on
   * @throws OperatorError VALUES_PATCH_INVALID when the patch does not apply to the section in the cluster,
   *   CONFIG_MAP_INVALID when that section cannot be understood or the ConfigMap would exceed 1 MiB,
   *   CONFIG_MAP_CONFLICT when others keep writing at the same time, KUBE_API or KUBE_UNREACHABLE when the API server
   *   refuses or is away
   */
  async save(
    owner: ValuesOwner,
    operations: readonly ValuesOperation[],
    check: (section: JsonObject) => void,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { kube, ref } = this.#deps;
    const key = sectionOf(owner);
    const change = (section: JsonObject): JsonObject =>
      patchSection(owner, section, operations, 'config values');
    const checkedChange = (section: JsonObject): JsonObject => {
      const changed = change(section);
      if (canonicalJson(changed) !== canonicalJson(section)) check(changed);
      return changed;
    };
    for (;;) {
      // Outside of the lock: the watch needs the lock to see that the ConfigMap is back.
      await this.#grace.untilOver(signal);
      const saved = await this.#lock.add(async () => {
        if (this.#grace.isRunning) return undefined;
        const isCreated = !this.#isPresent || this.#grace.graceMs === 0;
        const written = await saveSection(kube, ref, key, checkedChange, { isCreated }, signal);
        if (written === undefined) this.#startGrace(this.#watching ?? signal);
        else if (written.resourceVersion !== undefined) {
          this.#ahead = [...this.#ahead, written.resourceVersion];
          this.#isPresent = true;
          this.#presence.record(true, this.#watching ?? signal);
          this.#adoptOwnWrite(owner, change);
        }
        return written;
      });
      if (saved !== undefined) return saved.section;
    }
  }

  /** Takes over our own write, and only that: what others changed in the section is still to be noticed. */
  #adoptOwnWrite(owner: ValuesOwner, change: (section: JsonObject) => JsonObject): void {
    const key = sectionOf(owner);
    try {
      this.#content = withSection(this.#content, key, change(sectionIn(this.#content, key) ?? {}));
    } catch (error) {
      // The patch fits the section in the cluster but not the one known here, so another client changed it in the meantime.
      if (!hasCode(error, 'VALUES_PATCH_INVALID')) throw error;
    }
  }

  async #subscribe(signal: AbortSignal): Promise<void> {
    const { reflectors, ref } = this.#deps;
    let isPresent = false;
    const selection = {
      resource: CONFIG_MAPS,
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
    };
    await reflectors.subscribe(
      selection,
      {
        stage: async (objects) => {
          isPresent ||= objects.length > 0;
          for (const object of objects) {
            this.#logEvent('Added', object);
            await this.#handleSeen(parseConfigMap(object), signal);
          }
        },
        discard: () => {
          isPresent = false;
        },
        commit: () => undefined,
        apply: (event) => this.#apply(event, signal),
      },
      signal,
    );
    // An empty list calls the sink with no object, so the absence is handled here.
    if (!isPresent) await this.#handleSeen(undefined, signal);
  }

  #apply(event: ReflectorEvent, signal: AbortSignal): Promise<void> {
    this.#logEvent(event.type, event.object);
    switch (event.type) {
      case 'Added':
      case 'Modified':
        return this.#handleSeen(parseConfigMap(event.object), signal);
      case 'Deleted':
        return this.#handleSeen(undefined, signal);
    }
  }

  #logEvent(type: ReflectorEvent['type'], object: KubeObject | undefined): void {
    const { log, logsEvents } = this.#deps;
    if (logsEvents?.() !== true) return;
    log.info({ configMap: this.title, watchEvent: type, object }, 'event of the ConfigMap');
  }

  /** Handles what the watch delivered. A deletion of the ConfigMap is always verified with a read by name. */
  #handleSeen(object: ConfigMapObject | undefined, signal: AbortSignal): Promise<void> {
    const handle = (): Promise<void> =>
      this.#lock.add(async () => {
        const position = object === undefined ? -1 : this.#ahead.indexOf(object.resourceVersion);
        const isCurrent = position === this.#ahead.length - 1;
        if (object !== undefined && isCurrent) {
          this.#ahead = [];
          this.#observe(object, signal);
        } else if (position >= 0) {
          this.#ahead = this.#ahead.slice(position + 1);
        } else {
          await this.#observeNow(object, signal);
        }
      });
    return this.#retry('cannot read the ConfigMap', handle, signal);
  }

  async #observeNow(seen: ConfigMapObject | undefined, signal: AbortSignal): Promise<void> {
    const { kube, ref } = this.#deps;
    const now = await readConfigMap(kube, ref, signal);
    if (now === undefined && this.#isPresent && this.#grace.graceMs > 0) return this.#startGrace(signal);
    this.#isPresent = now !== undefined;
    const isAhead = now !== undefined && now.resourceVersion !== seen?.resourceVersion;
    this.#ahead = isAhead ? [now.resourceVersion] : [];
    this.#observe(now, signal);
  }

  /** The ConfigMap is gone. Its content stays in use until it is back, or the grace time is over. */
  #startGrace(signal: AbortSignal): void {
    if (this.#grace.isRunning) return;
    this.#state = { type: 'missing' };
    this.#onChange({ type: 'missing', graceMs: this.#grace.graceMs });
    const onExpired = (): Promise<void> =>
      this.#lock.add(async () => {
        if (!this.#grace.isRunning) return;
        this.#isPresent = false;
        await this.#observeNow(undefined, signal);
      });
    this.#grace.begin(() => this.#retry('cannot read the ConfigMap', onExpired, signal), signal);
  }

  #observe(object: ConfigMapObject | undefined, signal: AbortSignal): void {
    this.#isPresent = object !== undefined;
    this.#presence.record(this.#isPresent, signal);
    if (object !== undefined) this.#grace.end();
    this.#warnAboutData(object);
    const previous = this.#state;
    let content: ConfigMapContent;
    try {
      content = this.#parse(object);
    } catch (error) {
      if (!hasCode(error, 'CONFIG_MAP_INVALID')) throw error;
      // The same mistake, after an edit elsewhere in the ConfigMap, is reported once.
      if (previous.type === 'invalid' && previous.error.message === error.message) return;
      this.#state = { type: 'invalid', error };
      this.#onChange({ type: 'invalid', error });
      return;
    }
    this.#state = { type: 'valid' };
    if (previous.type !== 'valid') this.#onChange({ type: 'valid' });
    const difference = configDifference(this.#content, content);
    if (isEmptyDifference(difference)) return;
    this.#content = content;
    this.#onChange({ type: 'changed', content, difference });
  }

  #parse(object: ConfigMapObject | undefined): ConfigMapContent {
    const keys: string[] = [];
    const content = parseConfigMapData(object?.data ?? {}, (key) => keys.push(key));
    if (keys.length > 0)
      this.#deps.log.warn({ keys }, 'only the first YAML document of a section of the ConfigMap is used');
    return content;
  }

  #warnAboutData(object: ConfigMapObject | undefined): void {
    if (object === undefined) return;
    const keys = Object.keys(object.binaryData);
    if (keys.length > 0) this.#deps.log.warn({ keys }, 'binaryData of the ConfigMap is ignored');
    const bytes = sizeBytes(object);
    if (bytes < WARN_FROM_SHARE * MAX_CONFIG_MAP_BYTES) return;
    this.#deps.log.warn(
      { bytes, maxBytes: MAX_CONFIG_MAP_BYTES },
      'the ConfigMap is nearly full: move large values into files of modules, or let hooks write memory values',
    );
  }

  /** Rejects only when the signal aborts. */
  #retry(what: string, attempt: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { log, ref } = this.#deps;
    const onFailure = (error: unknown): void =>
      log.warn({ error, configMap: ref.name }, `${what}, will retry`);
    return untilDone(attempt, onFailure, this.#deps, signal);
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
