import { type Clock, wallTimeOf } from '@addon-operator/base/clock';
import { codeOf, hasCode, messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { type Span, traced, traceFields } from '@addon-operator/base/trace';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { jittered } from '@addon-operator/concurrency/jitter';
import { sleepOrWake, Wakeup } from '@addon-operator/concurrency/wakeup';
import type { AppliedWatch } from '@addon-operator/helm/applied-watch';
import type { DesiredObject, DesiredState } from '@addon-operator/helm/desired-objects';
import { objectKey } from '@addon-operator/helm/manifest-object';
import type { LookupOptions } from '@addon-operator/helm/object-lookup';
import { maskValues } from '@addon-operator/helm/redact';
import { canonicalJson } from '@addon-operator/json';
import { hasStatus, KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { ApiResource, ObjectMeta } from '@addon-operator/kube-client/kube-object';
import {
  type DriftEvent,
  type DriftedObject,
  type DriftPolicy,
  type HealStreak,
  nextHealAtMs,
  type UncomparedObject,
  withHeal,
} from './drift-policy.ts';
import { compareObject, healObject, type ObjectComparison } from './object-comparison.ts';
import { SETTLE_MS, WatchedObject } from './watched-object.ts';

/** The content of a deployed revision. */
export interface DesiredRevision extends DesiredState {
  readonly revision: number;
}

// All parts are injected, so that tests move the clock and answer for the API server.
interface DriftDeps {
  readonly clock: Clock;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly log: Logger;
  readonly watch: Pick<AppliedWatch, 'follow'>;
  readonly lookup: LookupOptions;
  /** The content of the newest revision of a release; undefined while it is not deployed. */
  readonly load: (module: string, signal: AbortSignal) => Promise<DesiredRevision | undefined>;
  /** The newest revision, provided it is deployed; else whether there is a release. */
  readonly revision: (module: string, signal: AbortSignal) => Promise<number | 'not-deployed' | 'gone'>;
  /** Whether the module is paused or unmanaged, so that nothing is corrected. */
  readonly isHeld: (module: string) => boolean;
  readonly onEvent: (event: DriftEvent) => void;
  /** Begins the event of comparisons, for the trace of their consequences. */
  readonly onComparison: (module: string) => Span;
  /**
   * By module and object; outlives this instance, so that restarts of the watch do not reset the
   * back-off.
   */
  readonly streaks: Map<string, HealStreak>;
}

export interface DriftOptions {
  readonly module: string;
  readonly policy: DriftPolicy;
  readonly mode: 'warn' | 'heal';
  /** Objects are not compared while hooks or helm run for the module. */
  readonly isPaused: () => boolean;
  /** An object of the release, or the release itself, is missing. */
  readonly onAbsent: () => void;
}

type Drifted = Extract<ObjectComparison, { type: 'drifted' }>;

const RETRY_MS = 30_000;

/**
 * Watches whether the objects of one release stay as helm applied them, and corrects them if the
 * policy says so. `monitor-set.ts` starts one per module after each deployment. Watch events make
 * objects suspicious (`watched-object.ts`), a dry run proves the drift (`object-comparison.ts`),
 * and a server-side apply corrects it. Comparisons pause while hooks or helm run; errors are
 * retried, and corrections that another client keeps undoing are delayed more and more.
 */
export class DriftWatch {
  readonly #deps: DriftDeps;
  readonly #options: DriftOptions;
  readonly #stopping = new AbortController();
  readonly #watched = new Map<string, WatchedObject>();
  #revision = 0;
  readonly #woken = new Wakeup();
  #ended: Promise<void> = Promise.resolve();

  private constructor(deps: DriftDeps, options: DriftOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  static start(deps: DriftDeps, options: DriftOptions): DriftWatch {
    const drift = new DriftWatch(deps, options);
    drift.#ended = drift.#run();
    return drift;
  }

  /** By resource. */
  get drifted(): readonly DriftedObject[] {
    return [...this.#watched.values()].flatMap(({ drifted }) => drifted ?? []).toSorted(byResource);
  }

  /** By resource. */
  get uncompared(): readonly UncomparedObject[] {
    return [...this.#watched.values()]
      .flatMap(({ title, failure, unwatched }) => {
        const error = failure ?? unwatched;
        return error === undefined ? [] : [{ resource: title, error }];
      })
      .toSorted(byResource);
  }

  /** Called when a pause ends: compares drifted objects again. */
  recheck(): void {
    for (const watched of this.#watched.values())
      if (watched.drifted?.remedy.type === 'held') watched.compareAt(this.#deps.clock.steadyMs());
    this.#woken.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#woken.wake();
    await this.#ended;
  }

  // One loop: objects of a module are compared one after another, which bounds the requests.
  async #run(): Promise<void> {
    const { log, clock, random } = this.#deps;
    const { signal } = this.#stopping;
    const { module } = this.#options;
    let isFollowing = false;
    while (!signal.aborted) {
      try {
        if (!isFollowing) await this.#follow(signal);
        isFollowing = true;
        await this.#untilDue(signal);
        await this.#examineDue(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ module, error }, 'cannot check for drift, will retry');
        await clock.sleep(jittered(RETRY_MS, random), signal).catch(() => undefined);
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { log, watch, lookup, load } = this.#deps;
    const { module } = this.#options;
    const release = await load(module, signal);
    if (release === undefined) return;
    for (const problem of release.problems)
      log.warn({ module, problem }, 'cannot check an object of the release for drift');
    // One watch per kind and namespace, shared by all objects of the release in it.
    const groups = Map.groupBy(release.objects, ({ apiVersion, kind, namespace }) =>
      JSON.stringify([apiVersion, kind, namespace]),
    );
    const found = await Promise.all(
      [...groups.values()].map(async (objects) => ({
        objects,
        resource: await resourceOf(objects, lookup, signal),
      })),
    );
    this.#revision = release.revision;
    for (const { objects, resource } of found) {
      if (resource === undefined) continue;
      const byName = new Map(objects.map((desired) => [desired.name, this.#watch(desired)]));
      const place = objects[0]?.namespace || lookup.namespace;
      const follower = {
        names: new Set(byName.keys()),
        onChange: (name: string, metadata: ObjectMeta | undefined) => {
          const watched = byName.get(name);
          if (watched !== undefined) this.#onChange(watched, metadata);
        },
        onUnwatched: (error: unknown) => {
          const reason = `its changes are not noticed until the watch succeeds: ${messageOf(error)}`;
          for (const watched of byName.values()) watched.noteUnwatched(reason);
        },
      };
      watch.follow(resource, resource.isNamespaced ? place : undefined, follower, signal);
    }
  }

  #watch(desired: DesiredObject): WatchedObject {
    const watched = new WatchedObject(desired);
    this.#watched.set(objectKey(desired), watched);
    return watched;
  }

  #onChange(watched: WatchedObject, metadata: ObjectMeta | undefined): void {
    const suspicion = watched.observe(metadata, this.#deps.clock.steadyMs());
    if (suspicion === 'untouched') this.#settle(watched);
    if (suspicion === 'changed') this.#woken.wake();
  }

  /** The object has no drift, or none any more. */
  #settle(watched: WatchedObject): void {
    if (watched.drifted === undefined) return;
    watched.noteDrift(undefined);
    this.#deps.log.info(
      { module: this.#options.module, resource: watched.title },
      'object matches what helm applied again',
    );
  }

  async #untilDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const dueMs = Math.min(...[...this.#watched.values()].flatMap((watched) => watched.dueMs ?? []));
      const { next } = this.#woken;
      if (this.#options.isPaused() || dueMs === Number.POSITIVE_INFINITY) {
        await next;
        continue;
      }
      const delayMs = dueMs - clock.steadyMs();
      if (delayMs <= 0) return;
      await sleepOrWake(clock, delayMs, next, signal);
    }
  }

  async #examineDue(signal: AbortSignal): Promise<void> {
    const { clock, random, revision } = this.#deps;
    const isDue = ({ dueMs }: WatchedObject): boolean => dueMs !== undefined && dueMs <= clock.steadyMs();
    const due = [...this.#watched.values()].filter(isDue);
    const { module } = this.#options;
    const newest = await revision(module, signal);
    if (newest !== this.#revision) {
      // Another client upgraded the release: the next run of the module decides, and watches again.
      // A client that uninstalls a release deletes the objects first.
      const isChanging = newest === 'not-deployed';
      const nextMs = isChanging ? clock.steadyMs() + jittered(RETRY_MS, random) : undefined;
      for (const watched of due) watched.compareAt(nextMs);
      if (newest === 'gone') this.#options.onAbsent();
      return;
    }
    const attributes = { 'addon_operator.module': module, 'addon_operator.objects': due.length };
    await traced(this.#deps.onComparison(module), 'drift compare', attributes, async (span) => {
      for (const watched of due) {
        if (this.#options.isPaused()) return;
        await this.#examine(watched, span, signal);
      }
      span.set({ 'addon_operator.objects.drifted': this.drifted.length });
    });
  }

  async #examine(watched: WatchedObject, span: Span, signal: AbortSignal): Promise<void> {
    const { lookup, clock, random, log } = this.#deps;
    const { module, policy } = this.#options;
    const noteSame = watched.beginComparison(clock.steadyMs());
    let comparison: ObjectComparison;
    try {
      comparison = await compareObject(watched.desired, policy.ignore, lookup, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isPassing(error)) watched.compareAt(clock.steadyMs() + jittered(RETRY_MS, random));
      const failure = harmlessText(error, watched.desired);
      watched.noteFailure(failure);
      log.warn(
        { module, resource: watched.title, error: failure, code: codeOf(error) },
        'cannot compare an object with what helm applied',
      );
      return;
    }
    // During the comparison a hook may have started, which changes objects on purpose.
    if (this.#options.isPaused()) {
      watched.compareAt(clock.steadyMs());
      return;
    }
    switch (comparison.type) {
      case 'same':
        noteSame(clock.steadyMs());
        this.#settle(watched);
        return;
      case 'absent':
        watched.noteDrift(undefined);
        this.#restore(watched);
        return;
      case 'drifted':
        await this.#onDrift(watched, comparison, span, signal);
    }
  }

  /** Lets the monitor find the missing object at once, unless that happened too often. */
  #restore(watched: WatchedObject): void {
    const nowMs = this.#deps.clock.steadyMs();
    if (nextHealAtMs(this.#streak(watched)) > nowMs) return;
    this.#noteHeal(watched);
    this.#options.onAbsent();
  }

  async #onDrift(
    watched: WatchedObject,
    { fields, writers, remedy }: Drifted,
    span: Span,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log, onEvent, isHeld } = this.#deps;
    const { module, mode } = this.#options;
    const { title } = watched;
    const known = watched.drifted;
    if (known === undefined || canonicalJson(known.fields) !== canonicalJson(fields)) {
      log.warn(
        { module, resource: title, fields, changedBy: writers },
        'object differs from what helm applied',
      );
      onEvent({ type: 'drifted', module, resource: title });
    }
    const nowMs = clock.steadyMs();
    const report = (next: DriftedObject['remedy']): void => {
      // The time of the first notice stays as long as the object has drift.
      const sinceMs = known?.sinceMs ?? clock.wallMs();
      watched.noteDrift({ resource: title, fields, changedBy: writers, sinceMs, remedy: next });
    };
    // Reported for every mode, corrected only for `heal`.
    if (mode === 'warn') return report({ type: 'none' });
    if (isHeld(module)) return report({ type: 'held' });
    const dueMs = nextHealAtMs(this.#streak(watched));
    if (dueMs <= nowMs) {
      const retryAtMs = await this.#heal(watched, { writers, remedy, fields, span }, signal);
      if (retryAtMs !== undefined) report({ type: 'refused', untilMs: wallTimeOf(retryAtMs, clock) });
      return;
    }
    const untilMs = wallTimeOf(dueMs, clock);
    if (known?.remedy.type !== 'delayed')
      log.warn(
        { module, resource: title, changedBy: writers, nextHealAt: isoTime(untilMs) },
        'object is changed again after each correction, so corrections are delayed: let the other field manager own the fields, or add them to drift.ignore',
      );
    report({ type: 'delayed', dueMs, untilMs });
    watched.compareAt(dueMs);
  }

  /**
   * Corrects an object. Returns the time of the next attempt, on the steady clock, if it failed.
   */
  async #heal(
    watched: WatchedObject,
    { remedy, fields, writers, span }: Omit<Drifted, 'type'> & { readonly span: Span },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, random, log, onEvent, lookup } = this.#deps;
    const { module } = this.#options;
    const { title } = watched;
    const heal = span.child({
      name: 'drift heal',
      attributes: { 'addon_operator.resource': title, 'addon_operator.fields': fields.length },
    });
    try {
      await healObject(lookup.kube, remedy, signal);
      heal.end();
    } catch (error) {
      heal.end({ error: harmlessText(error, watched.desired) });
      signal.throwIfAborted();
      const nowMs = clock.steadyMs();
      // Another client changed the object after the comparison: compare again.
      if (hasStatus(error, 409)) {
        watched.compareAt(nowMs + SETTLE_MS);
        return watched.dueMs;
      }
      log.warn(
        { module, resource: title, error: harmlessText(error, watched.desired), code: codeOf(error) },
        'cannot correct an object, will retry',
      );
      // A refused correction counts too, otherwise it would be repeated without back-off.
      this.#noteHeal(watched);
      watched.compareAt(Math.max(nowMs + jittered(RETRY_MS, random), nextHealAtMs(this.#streak(watched))));
      return watched.dueMs;
    }
    this.#noteHeal(watched);
    watched.noteDrift(undefined);
    log.info(
      { module, resource: title, fields, changedBy: writers, ...traceFields(span) },
      'object is corrected to what helm applied',
    );
    onEvent({ type: 'healed', module, resource: title });
    return undefined;
  }

  #noteHeal(watched: WatchedObject): void {
    const streak = withHeal(this.#streak(watched), this.#deps.clock.steadyMs());
    this.#deps.streaks.set(this.#streakKey(watched), streak);
  }

  #streak(watched: WatchedObject): HealStreak | undefined {
    return this.#deps.streaks.get(this.#streakKey(watched));
  }

  #streakKey({ desired }: WatchedObject): string {
    return `${this.#options.module} ${objectKey(desired)}`;
  }
}

async function resourceOf(
  objects: readonly DesiredObject[],
  { find }: LookupOptions,
  signal: AbortSignal,
): Promise<ApiResource | undefined> {
  const [first] = objects;
  if (first === undefined) return undefined;
  try {
    const resource = await find(first.apiVersion, first.kind, signal);
    return resource.verbs.includes('watch') ? resource : undefined;
  } catch (error) {
    if (hasCode(error, 'KUBE_KIND_UNKNOWN')) return undefined;
    throw error;
  }
}

/** The error without secrets: the API server quotes rejected values. */
function harmlessText(error: unknown, { kind, fields }: DesiredObject): string {
  return maskValues(messageOf(error), kind === 'Secret' ? { secret: fields['data'] } : fields);
}

/** Whether the next attempt may succeed without any change. */
function isPassing(error: unknown): boolean {
  return !(error instanceof KubeApiError) || error.status >= 500 || error.status === 429;
}

function byResource(a: { readonly resource: string }, b: { readonly resource: string }): number {
  return a.resource < b.resource ? -1 : 1;
}
