/**
 * The controller of Module objects. A `ModuleSource` gives the facts about each module; this class derives the status,
 * compares it with the object in the cluster, writes the difference with server-side apply, and records Events about it.
 * Changes are coalesced for a second. Objects of other operators are skipped. Nothing waits for it: an error of one object
 * pauses that object, a refusal of all of them pauses the controller for five minutes.
 */

import type { Clock } from '@addon-operator/base/clock';
import { errorFields, hasCode, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { isObject } from '@addon-operator/json';
import {
  hasStatus,
  KubeApiError,
  type KubeClient,
  type KubeRequest,
} from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { EventRecorder, type RecordedEvents } from './event-recorder.ts';
import { installModuleCrd } from './install-module-crd.ts';
import { LatestFacts } from './latest-facts.ts';
import { MODULE_API_VERSION, MODULE_RESOURCE } from './module-crd.ts';
import { eventsBetween, type RecordedEvent } from './module-events.ts';
import type { ModuleFacts } from './module-facts.ts';
import {
  FIELD_MANAGER,
  HOOK_FINALIZER,
  type ModuleObject,
  newModuleObject,
  OPERATOR_ANNOTATION,
  ownerMarks,
  respondedObject,
} from './module-object.ts';
import { ModuleObjectStore, type ModuleObjectsView } from './module-object-store.ts';
import { moduleStatus, statusUntilDecided } from './module-status.ts';
import { withoutRepetitions } from './shared-events.ts';
import { statusChange } from './status-change.ts';

export interface ModuleObjectsOptions {
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the operator and its ConfigMap are: who owns the objects. */
  readonly namespace: string;
  readonly configMapName: string;
  /** Masks secrets in messages of other components before they are recorded in an Event. */
  readonly redact: (message: string) => string;
}

/** Where the state of modules is read from. */
export interface ModuleSource {
  /** All known modules, with secrets masked. */
  readonly facts: () => readonly ModuleFacts[];
  /** Whether an object of a module that is not among them may go: not before it is known which modules are left. */
  readonly mayRemove: () => boolean;
  /**
   * Called for an object that waits for a reconcile webhook to finalize a module, while no task does so; at most every five
   * minutes unless it was too early.
   */
  readonly finishDeletion: (module: string, signal: AbortSignal) => Promise<'done' | 'too early'>;
}

/** The cluster, or a defect of ours, keeps the object of one module from being written. */
interface RefusedStatus {
  readonly module: string;
  readonly error: unknown;
}

const NO_MODULES: ModuleSource = {
  facts: () => [],
  mayRemove: () => false,
  finishDeletion: async () => await Promise.resolve('too early'),
};

/** From a change until it is written: changes in the meantime are written with it. */
export const COALESCE_MS = 1_000;
/** How often modules are looked at although no task began or ended. */
const LOOK_MS = 10_000;
/** Minimum delay of a write that only updates times of runs, after the last write. */
const CHATTER_MS = 30_000;
/** The same after the start, which is busy with other things: an operator that has come to rest sends no requests. */
const CHATTER_AFTER_START_MS = 8_000;
/** After a refusal. */
const PAUSE_MS = 5 * 60_000;
/** Modules whose objects are written at the same time: the client has no limit on the rate of its requests. */
const WRITES_AT_ONCE = 16;
/** Each write under way has a connection: few modules are not worth opening many. */
const WRITES_PER_CONNECTION = 6;
/** Without a reason each abort makes an error with a stack, and there is one for each write. */
const CHANGED = 'changed';
const SERVED_TRIES = 100;
const SERVED_PAUSE_MS = 100;

/**
 * Keeps the status of a Module object for each module, and records Events. It runs independently of the queues, and nothing
 * waits for it: what the cluster refuses is logged once and tried again after five minutes.
 */
export class ModuleObjects {
  readonly #options: ModuleObjectsOptions;
  readonly #store = new ModuleObjectStore();
  readonly #recorder: EventRecorder;
  readonly #operator: string;
  /** By module, the time of the last status write, on the steady clock. */
  readonly #writtenAtMs = new Map<string, number>();
  /** Modules whose objects belong to another operator, each logged once. */
  readonly #foreign = new Set<string>();
  /** Objects whose deletion waits for the reconcile webhook, each reported once. */
  readonly #heldUids = new Set<string>();
  /** By module, when its deletion was finished last: limits how often it is tried. */
  readonly #finishedAtMs = new Map<string, number>();
  /** Modules whose object alone is refused, and since when, on the steady clock. */
  readonly #refusedAtMs = new Map<string, number>();
  readonly #known = Promise.withResolvers<void>();
  #isKept = false;
  #isRead = false;
  #wake = new AbortController();
  #isLogged = false;
  #source = NO_MODULES;
  #startedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ModuleObjectsOptions) {
    this.#options = options;
    const { kube, clock, log, namespace, configMapName } = options;
    this.#operator = `${namespace}/${configMapName}`;
    this.#recorder = new EventRecorder({ kube, clock, log, instance: this.#operator });
  }

  /** Whether what is in the cluster was read, so that an object that is not known does not exist. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The objects in the cluster; empty until `run` has read them. */
  get objects(): ModuleObjectsView {
    return this.#store;
  }

  /**
   * Whether there are objects in the cluster, and they are kept up to date; false while the cluster refuses that.
   * Resolves when that is known, soon after the start. @throws `signal.reason` on abort
   */
  async isKept(signal: AbortSignal): Promise<boolean> {
    await resultOrAbort(this.#known.promise, signal);
    return this.#isKept;
  }

  /** Writes an Event about a module that has an object. @throws `signal.reason` on abort, nothing else */
  async record(module: string, event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const object = this.#store.get(module);
    if (object === undefined) return;
    const message = this.#options.redact(event.message);
    await this.#recorder.record(object, { ...event, message }, signal);
  }

  /** Something may be different now. Costs nothing; returns at once. */
  changed(): void {
    this.#wake.abort(CHANGED);
  }

  /**
   * Keeps the objects up to date with what `source` says. When `ending` aborts, what is different by then is written, without another try, and it
   * resolves. Rejects with `signal.reason` on abort, and never otherwise.
   */
  async run(source: ModuleSource, ending: AbortSignal, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#source = source;
    this.#startedAtMs = clock.steadyMs();
    this.#store.onChange(() => this.changed());
    for (;;) {
      try {
        const isNew = await installModuleCrd(this.#options.kube, signal);
        // Before the first write: without the watch every object would be taken for missing.
        if (!this.#isRead) await this.#watch(isNew, signal);
        this.#isRead = true;
        this.#setKept(true);
        for (;;) {
          // Read before the sync, so that a change during the last one is written by one more.
          const isLast = ending.aborted;
          await this.#sync(isLast, signal);
          if (isLast) return;
          this.#isLogged = false;
          await this.#untilChanged(ending, signal);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (ending.aborted) return;
        if (isRefusal(error)) this.#setKept(false);
        const pauseMs = isRefusal(error) ? PAUSE_MS : LOOK_MS;
        this.#report(error, pauseMs);
        await sleepUntil(ending, clock, pauseMs, signal);
      }
    }
  }

  /** @param isNew the definition was written a moment ago: a server that knows no Modules yet gets another request */
  async #watch(isNew: boolean, signal: AbortSignal): Promise<void> {
    const { reflectors, clock } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await reflectors.subscribe({ resource: MODULE_RESOURCE }, this.#store, signal);
        return;
      } catch (error) {
        if (!isNew || !hasStatus(error, 404) || tries === SERVED_TRIES) throw error;
      }
      await clock.sleep(SERVED_PAUSE_MS, signal);
    }
  }

  async #untilChanged(ending: AbortSignal, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await sleepUntil(AbortSignal.any([ending, this.#wake.signal]), clock, LOOK_MS, signal);
    // The signal is replaced after the wait: changes during the wait belong to the coming pass.
    await sleepUntil(ending, clock, COALESCE_MS, signal);
    this.#wake = new AbortController();
  }

  /** @param isLast nothing is left for later */
  async #sync(isLast: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { facts: read } = this.#source;
    const mayRemove = this.#source.mayRemove();
    const hasChanged = (): boolean => this.#wake.signal.aborted;
    const latest = new LatestFacts({ clock, maxAgeMs: COALESCE_MS, hasChanged, read });
    const facts = latest.all;
    const atOnce = Math.min(WRITES_AT_ONCE, Math.ceil(facts.length / WRITES_PER_CONNECTION));
    const written = await mapParallel(facts, atOnce, (one) => this.#syncOne(latest.of(one), isLast, signal));
    const refused = written.filter((one) => one !== undefined && 'error' in one);
    // An error that concerns every module is not handled for a single object.
    if (refused[0] !== undefined && refused.length === facts.length) throw refused[0].error;
    for (const { module, error } of refused) this.#refuse(module, error);
    const recorded = written.filter((one) => one !== undefined && 'object' in one);
    this.#recorder.recordInBackground(withoutRepetitions(recorded), signal);
    if (isLast) await this.#recorder.idle;
    if (!mayRemove) return;
    // Objects of modules that no longer exist, among those of this operator only.
    const known = new Set(facts.map(({ explanation }) => explanation.module));
    for (const object of this.#store.all)
      if (object.operator === this.#operator && !known.has(object.name)) await this.#remove(object, signal);
  }

  /**
   * Writes the object of a module where it is different. Returns what was written, with the Events about it, or why it
   * cannot be written: the objects of other modules are to be written all the same.
   */
  async #syncOne(
    facts: ModuleFacts,
    isLast: boolean,
    signal: AbortSignal,
  ): Promise<RecordedEvents | RefusedStatus | undefined> {
    const { clock } = this.#options;
    const { module } = facts.explanation;
    const refusedAtMs = this.#refusedAtMs.get(module) ?? Number.NEGATIVE_INFINITY;
    if (clock.steadyMs() - refusedAtMs < PAUSE_MS) return undefined;
    const isNew = this.#store.get(module) === undefined;
    try {
      const object = await this.#ownObject(module, signal);
      if (object === undefined) return undefined;
      if (object.finalizers.includes(HOOK_FINALIZER)) await this.#reconcileHeld(object, facts, signal);
      const nowMs = clock.steadyMs();
      const { generation, status: before } = object;
      const context = { nowMs: clock.wallMs(), operator: this.#operator, generation, before };
      const status =
        facts.explanation.status === 'undecided' && isObject(before)
          ? statusUntilDecided(facts, { ...context, before })
          : moduleStatus(facts, context);
      if (status === undefined) return undefined;
      const change = statusChange(status, before);
      if (change === 'none') return undefined;
      if (change === 'chatter' && !isLast && nowMs < this.#chatterFromMs(module)) return undefined;
      this.#writtenAtMs.set(module, nowMs);
      const metadata = { name: module, uid: object.uid };
      const written = await this.#request(
        {
          method: 'PATCH',
          path: resourcePath(MODULE_RESOURCE, undefined, module, 'status'),
          query: { fieldManager: FIELD_MANAGER, force: 'true' },
          contentType: 'application/apply-patch+yaml',
          body: { apiVersion: MODULE_API_VERSION, kind: MODULE_RESOURCE.kind, metadata, status },
        },
        module,
        signal,
      );
      return { object: written, events: eventsBetween(before, status) };
    } catch (error) {
      // A new object is refused so when the definition is missing.
      if (isNew && hasStatus(error, 404)) throw error;
      if (isOfOneObject(error, signal)) return { module, error };
      this.#ignoreConflict(module, error);
      return undefined;
    }
  }

  /** When only new times of runs are written again, on the steady clock. */
  #chatterFromMs(module: string): number {
    const writtenAtMs = this.#writtenAtMs.get(module);
    if (writtenAtMs === undefined) return this.#startedAtMs + CHATTER_AFTER_START_MS;
    return writtenAtMs + CHATTER_MS;
  }

  /** The object of a module, made when it is missing; undefined when it belongs to another operator. */
  async #ownObject(module: string, signal: AbortSignal): Promise<ModuleObject | undefined> {
    const object = this.#store.get(module);
    const { namespace, log } = this.#options;
    if (object === undefined) {
      const body = newModuleObject(module, namespace, this.#operator);
      const query = { fieldManager: FIELD_MANAGER };
      return await this.#request(
        { method: 'POST', path: resourcePath(MODULE_RESOURCE), query, body },
        module,
        signal,
      );
    }
    if (object.operator === undefined) {
      // An object without an owner, as `kubectl create` leaves it, is adopted. The version makes the write conditional.
      const { resourceVersion } = object;
      return await this.#request(
        {
          method: 'PATCH',
          path: resourcePath(MODULE_RESOURCE, undefined, module),
          query: { fieldManager: FIELD_MANAGER },
          contentType: 'application/merge-patch+json',
          body: { metadata: { resourceVersion, ...ownerMarks(namespace, this.#operator) } },
        },
        module,
        signal,
      );
    }
    if (object.operator === this.#operator) {
      this.#foreign.delete(module);
      return object;
    }
    if (!this.#foreign.has(module))
      log.warn(
        { module, operator: object.operator, annotation: OPERATOR_ANNOTATION },
        'Module object belongs to another operator and is not written; delete it if that operator is gone',
      );
    this.#foreign.add(module);
    return undefined;
  }

  async #reconcileHeld(
    object: ModuleObject,
    { explanation: { isEnabled, status } }: ModuleFacts,
    signal: AbortSignal,
  ): Promise<void> {
    if (status === 'disabled') await this.#finishDeletion(object.name, signal);
    // Users who delete the object of an enabled module should see why it stays.
    if (!isEnabled || !object.isDeleting || this.#heldUids.has(object.uid)) return;
    this.#heldUids.add(object.uid);
    const message =
      'The object is deleted when the module is disabled and its reconcile webhook has finalized it; the module stays enabled until then';
    await this.#recorder.record(object, { type: 'Warning', reason: 'DeletionHeld', message }, signal);
  }

  async #finishDeletion(module: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { finishDeletion } = this.#source;
    if (clock.steadyMs() - (this.#finishedAtMs.get(module) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    if ((await finishDeletion(module, signal)) === 'done') this.#finishedAtMs.set(module, clock.steadyMs());
  }

  #setKept(isKept: boolean): void {
    this.#isKept = isKept;
    this.#known.resolve();
  }

  async #remove({ name, uid, isDeleting, finalizers }: ModuleObject, signal: AbortSignal): Promise<void> {
    this.#recorder.forget(name);
    this.#writtenAtMs.delete(name);
    if (finalizers.includes(HOOK_FINALIZER)) await this.#finishDeletion(name, signal);
    if (isDeleting) return;
    try {
      await this.#options.kube.request(
        {
          method: 'DELETE',
          path: resourcePath(MODULE_RESOURCE, undefined, name),
          body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
        },
        signal,
      );
    } catch (error) {
      this.#ignoreConflict(name, error);
    }
  }

  async #request(request: KubeRequest, module: string, signal: AbortSignal): Promise<ModuleObject> {
    return this.#store.put(respondedObject(await this.#options.kube.request(request, signal), module));
  }

  #refuse(module: string, error: unknown): void {
    this.#refusedAtMs.set(module, this.#options.clock.steadyMs());
    this.#options.log.warn(
      { module, ...errorFields(error), retryAfterMs: PAUSE_MS },
      'cannot update a Module object; those of other modules are updated',
    );
  }

  /** An error that concerns one object only: a conflict, or the object is deleted. The watch delivers its new state. */
  #ignoreConflict(module: string, error: unknown): void {
    if (![404, 409].some((status) => hasStatus(error, status))) throw error;
    this.#options.log.debug({ module, ...errorFields(error) }, 'Module object will be written later');
  }

  #report(error: unknown, retryAfterMs: number): void {
    // The clients that need the API server log that it is unreachable.
    const isReported = isRefusal(error) || !(error instanceof KubeApiError || error instanceof OperatorError);
    const level = this.#isLogged || !isReported ? 'debug' : 'warn';
    if (isReported) this.#isLogged = true;
    this.#options.log[level](
      { ...errorFields(error), retryAfterMs },
      'cannot update Module objects; modules continue to run',
    );
  }
}

/** Sleeps, but not longer than until `awake` aborts. @throws `signal.reason` on abort */
async function sleepUntil(awake: AbortSignal, clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, AbortSignal.any([signal, awake]));
  } catch (error) {
    signal.throwIfAborted();
    if (!awake.aborted) throw error;
  }
}

/** Whether the objects of other modules may be written although this one cannot. */
function isOfOneObject(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || hasCode(error, 'KUBE_UNREACHABLE')) return false;
  return !(error instanceof KubeApiError) || ![404, 409, 429, 503, 504].includes(error.status);
}

/** The response stays the same until permissions or definitions change. */
function isRefusal(error: unknown): boolean {
  return error instanceof KubeApiError && error.status < 500 && error.status !== 429;
}
