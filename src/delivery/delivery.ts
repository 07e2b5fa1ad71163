/**
 * The controller of ModuleSources and ModuleInstalls. One loop starts what is due: the check of a source, one step of a
 * module. Each source is checked by one task at a time, each module steps by itself, so a slow registry delays its own
 * modules only. Only the leader runs it; a standby calls `prefetch()`.
 */

import { isDeepStrictEqual } from 'node:util';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';
import { sleepOrWake, Wakeup } from '@addon-operator/concurrency/wakeup';
import { checkSource } from './check-source.ts';
import type { Pending, UpdateLimits } from './decide.ts';
import type { DeliveredModules, UnavailableModule } from './delivered-modules.ts';
import type { DeliveryParts, SourceAccess, UpdateSettings } from './delivery-parts.ts';
import { type DeliveryView, installView, sourceView } from './delivery-view.ts';
import type { HistoryEntry } from './history.ts';
import { digestsOf } from './install-state.ts';
import { restoreContent } from './obtain-content.ts';
import type { Install, Parsed, Source } from './parse-spec.ts';
import {
  installOf,
  isWanted,
  lookupKey,
  type ModuleRecord,
  nameOfSpec,
  newModuleRecord,
  newSourceRecord,
  noteMissing,
  type SourceRecord,
} from './records.ts';
import { rollBack, type VersionRollback, type VersionRollbackRequest } from './roll-back.ts';
import { finishSwitch, type StepContext, stepModule } from './step-module.ts';

/** All documents, as they are now. */
export interface DeliverySpecs {
  readonly sources: readonly Parsed<Source>[];
  readonly installs: readonly Parsed<Install>[];
  /**
   * The definitions were missing a moment ago, and all objects with them. Modules without an install stay until there
   * is one again.
   */
  readonly areNewlyDefined?: boolean;
}

/** The version of a module that does not run yet. */
export interface ModuleUpdateState {
  /** `sinceMs`: in milliseconds since the epoch; with this version and reason. */
  readonly pending: (Pending & { readonly sinceMs: number }) | undefined;
  /** No version runs. */
  readonly isFirst: boolean;
}

const COLLECT_MS = 3_600_000;
const KEEP_CONTENT_MS = 24 * 3_600_000;
/** Reading all links for each of many modules that step at the same time would be most of the work. */
const SHARED_LINKS_MS = 2_000;
const NEVER_MS = 3_600_000;

export class Delivery implements DeliveredModules {
  readonly #parts: DeliveryParts;
  readonly #settings: UpdateSettings;
  readonly #sources = new Map<string, SourceRecord>();
  readonly #modules = new Map<string, ModuleRecord>();
  readonly #wakeup = new Wakeup();
  readonly #locks = new KeyedLock();
  readonly #running = new Set<Promise<void>>();
  #areSpecsKnown = false;
  #areNewlyDefined = false;
  #isLoaded = false;
  #collectDueMs = 0;
  #links: { readonly atMs: number; readonly read: Promise<ReadonlyMap<string, string>> } | undefined;

  constructor(parts: DeliveryParts, settings: UpdateSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  /** Takes over the documents; what is not among them any more is removed or held. */
  setSpecs({ sources, installs, areNewlyDefined = false }: DeliverySpecs): void {
    this.#areSpecsKnown = true;
    this.#areNewlyDefined = areNewlyDefined;
    const names = new Set(sources.map(nameOfSpec));
    for (const name of this.#sources.keys()) if (!names.has(name)) this.#sources.delete(name);
    for (const spec of sources) {
      const record = this.#sources.get(nameOfSpec(spec));
      if (record === undefined) this.#sources.set(nameOfSpec(spec), newSourceRecord(spec));
      else if (!isDeepStrictEqual(record.spec, spec))
        Object.assign(record, { spec, access: undefined, dueMs: 0 });
    }
    const wanted = new Map(installs.map((spec) => [nameOfSpec(spec), spec]));
    for (const record of this.#modules.values()) {
      const isGone = record.spec !== undefined || this.#isLoaded;
      if (wanted.has(record.name) || !isGone) continue;
      Object.assign(record, { spec: undefined, dueMs: 0, isOrphan: areNewlyDefined });
    }
    for (const [name, spec] of wanted) this.#setInstall(name, spec);
    this.#wakeup.wake();
    this.#parts.reports.changed();
  }

  #setInstall(name: string, spec: Parsed<Install>): void {
    const record = this.#modules.get(name) ?? newModuleRecord(name);
    this.#modules.set(name, record);
    record.isOrphan = false;
    if (record.spec !== undefined && isDeepStrictEqual(record.spec, spec)) return;
    const before = installOf(record);
    Object.assign(record, { spec, dueMs: 0 });
    if (spec.type === 'invalid') return;
    if (lookupKey(before) === lookupKey(spec.value)) return;
    Object.assign(record, { candidate: undefined, approved: undefined });
    const source = this.#sources.get(spec.value.source);
    // Not while the registry has asked to wait.
    if (source !== undefined && source.problem === undefined) source.dueMs = 0;
  }

  /**
   * Reads the state, and brings the content of installed versions and their links in place, before modules are
   * discovered. What cannot be brought back is in {@link unavailable}.
   *
   * @throws OperatorError KUBE_API, KUBE_UNREACHABLE, STORE_FAILED
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const { state, history, store } = this.#parts;
    await history.load(signal);
    const states = await state.load(signal);
    const links = await store.links();
    for (const [name, known] of states) {
      const record = this.#modules.get(name) ?? newModuleRecord(name);
      this.#modules.set(name, record);
      record.state = { ...known, intent: undefined };
      record.isOrphan = this.#areNewlyDefined && record.spec === undefined;
      if (known.intent !== undefined && links.get(known.intent.entry) === known.intent.digest)
        await finishSwitch({ parts: this.#parts }, record, known.intent, signal);
    }
    this.#isLoaded = true;
    for (const record of this.#modules.values()) await this.#restore(record, signal);
  }

  async #restore(record: ModuleRecord, signal: AbortSignal): Promise<void> {
    const { installed, entry } = record.state;
    if (installed === undefined || entry === undefined) return;
    try {
      const access = await this.#open(record, signal);
      await restoreContent(this.#parts, { ...installed, module: record.name }, access, signal);
      const links = await this.#parts.store.links();
      if (links.get(entry) !== installed.digest) await this.#parts.store.link(entry, installed.digest);
      record.missing = undefined;
    } catch (error) {
      signal.throwIfAborted();
      noteMissing(record, messageOf(error), this.#parts.clock);
      this.#parts.log.error({ module: record.name, ...errorFields(error) }, 'files of a module are missing');
    }
  }

  /** The access of a source is opened when its content is needed: nothing is requested for what is in the store. */
  async #open(record: ModuleRecord, signal: AbortSignal): Promise<SourceAccess | string> {
    if (record.state.installed !== undefined && (await this.#parts.store.has(record.state.installed.digest)))
      return 'not needed';
    const source = this.#sourceOf(record);
    if (source?.spec.type !== 'valid') return this.#sourceProblem(record) ?? 'it has no source';
    try {
      source.access ??= await this.#parts.openSource(source.spec.value, signal);
      return source.access;
    } catch (error) {
      signal.throwIfAborted();
      return messageOf(error);
    }
  }

  /** Keeps the content of installed versions in the store of a standby. Writes nothing else. */
  async prefetch(signal: AbortSignal): Promise<void> {
    const states = await this.#parts.state.load(signal);
    for (const [name, state] of states) {
      const record = this.#modules.get(name) ?? newModuleRecord(name);
      const { installed } = state;
      if (installed === undefined) continue;
      record.state = state;
      try {
        const access = await this.#open(record, signal);
        await restoreContent(this.#parts, { ...installed, module: name }, access, signal);
      } catch (error) {
        signal.throwIfAborted();
        const source = this.#sourceOf(record);
        // Its account may have changed.
        if (source !== undefined) source.access = undefined;
        this.#parts.log.debug({ module: name, ...errorFields(error) }, 'content is not prefetched');
      }
    }
  }

  /** Runs until the signal aborts, and then until everything that was begun has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    try {
      for (;;) {
        signal.throwIfAborted();
        const woken = this.#wakeup.next;
        this.#startDue(signal);
        const nowMs = clock.steadyMs();
        const idle = [...this.#sources.values(), ...this.#modules.values()].filter(({ isBusy }) => !isBusy);
        const nextMs = Math.min(nowMs + NEVER_MS, this.#collectDueMs, ...idle.map(({ dueMs }) => dueMs));
        await sleepOrWake(clock, Math.max(10, nextMs - nowMs), woken, signal);
      }
    } finally {
      await Promise.all(this.#running);
    }
  }

  #startDue(signal: AbortSignal): void {
    if (!this.#areSpecsKnown || !this.#isLoaded) return;
    const nowMs = this.#parts.clock.steadyMs();
    for (const source of this.#sources.values())
      if (!source.isBusy && source.dueMs <= nowMs)
        this.#start(
          source,
          () => checkSource(this.#parts, source, this.#modulesOf(source.name), signal),
          signal,
        );
    for (const module of this.#modules.values())
      if (!module.isBusy && module.dueMs <= nowMs)
        this.#start(module, () => this.#step(module, signal), signal);
    if (this.#collectDueMs > nowMs) return;
    this.#collectDueMs = nowMs + COLLECT_MS;
    this.#start({ isBusy: false }, () => this.#collect(signal), signal);
  }

  #start(record: { isBusy: boolean }, act: () => Promise<void>, signal: AbortSignal): void {
    record.isBusy = true;
    const run = async (): Promise<void> => {
      try {
        await act();
      } catch (error) {
        if (!signal.aborted) this.#parts.log.error(errorFields(error), 'a step of delivery failed');
      } finally {
        record.isBusy = false;
        this.#wakeup.wake();
        this.#parts.reports.changed();
      }
    };
    const running = run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #step(record: ModuleRecord, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const wasUpdating = isInUpdate(record);
    // A change while the step runs makes it due again.
    record.dueMs = Number.POSITIVE_INFINITY;
    const nextMs = await this.#locks.run(record.name, signal, () =>
      stepModule(this.#context(), record, signal),
    );
    if (nextMs === undefined && record.spec === undefined) this.#modules.delete(record.name);
    else record.dueMs = Math.min(record.dueMs, clock.steadyMs() + (nextMs ?? 0));
    if (!wasUpdating || isInUpdate(record)) return;
    // A place is free now.
    for (const other of this.#modules.values())
      if (other.decision.type === 'pending' && other.decision.reason === 'UpdateLimit') other.dueMs = 0;
  }

  /** A link that a step has changed since is set once more, which changes nothing. */
  #sharedLinks(): Promise<ReadonlyMap<string, string>> {
    const nowMs = this.#parts.clock.steadyMs();
    if (this.#links === undefined || nowMs - this.#links.atMs >= SHARED_LINKS_MS)
      this.#links = { atMs: nowMs, read: this.#parts.store.links() };
    return this.#links.read;
  }

  #context(): StepContext {
    return {
      parts: this.#parts,
      links: () => this.#sharedLinks(),
      accessOf: (record) =>
        this.#sourceOf(record)?.access ?? this.#sourceProblem(record) ?? 'its source was not read yet',
      limitsFor: (record) => this.#limitsFor(record),
    };
  }

  #limitsFor(record: ModuleRecord): UpdateLimits {
    const others = [...this.#modules.values()].filter((other) => other !== record);
    return {
      running: others.filter(isInUpdate).length,
      parallel: this.#settings.updateParallel,
      failed: others.filter(({ state }) => state.failures > 0).map(({ name }) => name),
      failures: this.#settings.updateFailures,
    };
  }

  #modulesOf(source: string): readonly ModuleRecord[] {
    return [...this.#modules.values()].filter((record) => installOf(record)?.source === source);
  }

  #sourceOf(record: ModuleRecord): SourceRecord | undefined {
    return this.#sources.get(installOf(record)?.source ?? '');
  }

  #sourceProblem(record: ModuleRecord): string | undefined {
    const name = installOf(record)?.source;
    if (name === undefined) return undefined;
    const source = this.#sources.get(name);
    if (source === undefined)
      return `ModuleSource ${name} does not exist: create it, or name another one in spec.source`;
    if (source.spec.type === 'invalid')
      return `ModuleSource ${name} is invalid: ${source.spec.problems.join('; ')}`;
    return source.problem;
  }

  /** Content and backups that no module needs any more. */
  async #collect(signal: AbortSignal): Promise<void> {
    const { store, backup, history } = this.#parts;
    const all = new Set<string>();
    for (const record of this.#modules.values()) {
      const old = history.entries(record.name).map(({ digest }) => digest);
      for (const digest of [...digestsOf(record.state), ...old]) all.add(digest);
      for (const found of [record.candidate, record.approved])
        if (found?.digest !== undefined) all.add(found.digest);
    }
    await store.collect(all, KEEP_CONTENT_MS);
    await backup.collect(all, signal);
  }

  isInstalled(module: string): boolean {
    const record = this.#modules.get(module);
    if (record?.state.installed === undefined) return false;
    // Without the documents nothing is a decision.
    return isWanted(record) || !this.#areSpecsKnown;
  }

  unavailable(): ReadonlyMap<string, UnavailableModule> {
    const missing = [...this.#modules.values()].flatMap(({ name, missing: why, state: { entry } }) =>
      why === undefined || entry === undefined || !this.isInstalled(name)
        ? []
        : [[name, { entry, ...why }] as const],
    );
    return new Map(missing);
  }

  /** The versions that a module ran with, the newest first; undefined for a module without a ModuleInstall. */
  history(name: string): readonly HistoryEntry[] | undefined {
    return this.#modules.has(name) ? this.#parts.history.entries(name) : undefined;
  }

  /** The version of a module that does not run yet; undefined for a module without a ModuleInstall. */
  updateOf(name: string): ModuleUpdateState | undefined {
    const record = this.#modules.get(name);
    if (record === undefined) return undefined;
    const { decision, pendingSinceMs: sinceMs, state } = record;
    return {
      pending: decision.type === 'pending' ? { ...decision, sinceMs } : undefined,
      isFirst: state.installed === undefined,
    };
  }

  /**
   * Returns a module to a version that ran before, on request. What it leaves is not installed again without approval.
   *
   * @throws OperatorError MODULE_UNKNOWN, REQUEST_REFUSED with the reason, and errors of the registry and the store
   */
  async rollback(
    name: string,
    request: VersionRollbackRequest,
    signal: AbortSignal,
  ): Promise<VersionRollback> {
    const record = this.#modules.get(name);
    if (record === undefined) throw new OperatorError('MODULE_UNKNOWN', `there is no ModuleInstall ${name}`);
    const outcome = await this.#locks.run(name, signal, () =>
      rollBack(this.#context(), record, request, signal),
    );
    this.#wakeup.wake();
    return outcome;
  }

  view(): DeliveryView {
    const { history, operator } = this.#parts;
    const context = {
      history,
      operator,
      sourceProblem: (record: ModuleRecord) => this.#sourceProblem(record),
    };
    return {
      sources: [...this.#sources.values()].map((record) =>
        sourceView(record, this.#modulesOf(record.name).length),
      ),
      installs: [...this.#modules.values()].map((record) => installView(record, context)),
    };
  }
}

/** From the decision to the last gate. A first installation is no update. */
function isInUpdate({ isUpdating, state }: ModuleRecord): boolean {
  return isUpdating || (state.observedSinceMs !== undefined && state.lastGood !== undefined);
}
