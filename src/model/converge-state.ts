import { NO_SPAN, type Span } from '@addon-operator/base/trace';
import type { ModuleName } from '../values/module-key.ts';
import type { ConvergePhase } from './converge.ts';
import type { HeldPurge } from './purge-guard.ts';
import type { ConvergeEvent } from './tasks.ts';

export type ConvergeProgress = 'not-started' | 'running' | 'done';

/** When a converge began, on the steady clock, and for what. */
export interface ConvergeStart {
  readonly atMs: number;
  readonly event: ConvergeEvent;
  readonly span: Span;
}

/** Whether releases without a module may be removed; they are looked for once, after the first converge. */
export type PurgeDecision = 'undecided' | 'decided' | HeldPurge;

/** Changed files that could not be loaded. */
export interface UnloadedFiles {
  /** A description such as `modules` or `hooks of module web`. */
  readonly what: string;
  /** Undefined if all modules lack the change. */
  readonly module: ModuleName | undefined;
  readonly error: string;
}

/**
 * The progress of the converge, and the problems that keep the cluster from the configured state
 * after it. `operator/converge-modules.ts` moves the phases, the reload and the configuration tasks
 * record their problems, views and metrics read all of it.
 */
export class ConvergeState {
  readonly #deferredRuns = new Set<ModuleName>();
  #phase: ConvergePhase = 'standby';
  #start: ConvergeStart | undefined;
  #purge: PurgeDecision = 'undecided';
  #isConfigRefused = false;
  #configProblem: string | undefined;
  #unloaded: readonly UnloadedFiles[] = [];
  /** Called at the end of the reload in progress, and of the next one. */
  #atReload: (() => void)[] = [];
  #atNextReload: (() => void)[] = [];
  #first: ConvergeProgress = 'not-started';
  readonly #firstDone = Promise.withResolvers<void>();
  /** The command that edits the ConfigMap, for messages about it. */
  readonly editConfigMap: string;

  constructor(editConfigMap = 'kubectl edit configmap') {
    this.editConfigMap = editConfigMap;
  }

  /** Paused modules whose run was skipped; it is queued when they are resumed. */
  get deferredRuns(): ReadonlySet<ModuleName> {
    return this.#deferredRuns;
  }

  deferRun(module: ModuleName): void {
    this.#deferredRuns.add(module);
  }

  /**
   * Called when a module is resumed. Returns whether a run was skipped, which has to be queued now.
   */
  resumeRun(module: ModuleName): boolean {
    return this.#deferredRuns.delete(module);
  }

  get phase(): ConvergePhase {
    return this.#phase;
  }

  /** Called by the converge for each phase, and with `standby` when it ends or is dropped. */
  enter(phase: ConvergePhase): void {
    this.#phase = phase;
  }

  /**
   * Called when a converge begins. One that is started over is the same converge, and keeps its
   * start time and span.
   */
  begin(start: Omit<ConvergeStart, 'span'>, newSpan: () => Span = () => NO_SPAN): void {
    this.#start ??= { ...start, span: newSpan() };
    if (this.#first === 'not-started') this.#first = 'running';
  }

  /** Ends the converge in progress and returns its start; undefined when none has begun. */
  end(): ConvergeStart | undefined {
    const start = this.#start;
    this.#start = undefined;
    return start;
  }

  get purge(): PurgeDecision {
    return this.#purge;
  }

  decidePurge(decision: Exclude<PurgeDecision, 'undecided'>): void {
    this.#purge = decision;
  }

  /** Modules whose directories are back: their releases are no longer held. */
  releaseFromPurge(modules: ReadonlySet<string>): void {
    if (typeof this.#purge === 'string') return;
    const releases = this.#purge.releases.filter((name) => !modules.has(name));
    this.#purge = releases.length === 0 ? 'decided' : { ...this.#purge, releases };
  }

  /** The ConfigMap can be read, but does not match the schemas; the previous values stay. */
  get isConfigRefused(): boolean {
    return this.#isConfigRefused;
  }

  /** Called after each attempt to apply the content of the ConfigMap. */
  setConfigRefused(isRefused: boolean): void {
    this.#isConfigRefused = isRefused;
  }

  /** Why the ConfigMap cannot be read at all; undefined while it can. */
  get configProblem(): string | undefined {
    return this.#configProblem;
  }

  setConfigProblem(problem: string | undefined): void {
    this.#configProblem = problem;
  }

  /** Development only: the changed files that could not be loaded last. */
  get unloaded(): readonly UnloadedFiles[] {
    return this.#unloaded;
  }

  /**
   * Called before changed files are loaded; files that failed before are loaded again with them.
   */
  beginReload(): void {
    this.#unloaded = [];
    this.#atReload = this.#atNextReload.splice(0);
  }

  endReload(): void {
    for (const notify of this.#atReload.splice(0)) notify();
  }

  /**
   * Resolves when a reload that begins after this call is over. One in progress may have read the
   * files before.
   */
  untilReloaded(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#atNextReload.push(resolve);
    return promise;
  }

  addUnloaded(files: UnloadedFiles): void {
    this.#unloaded = [...this.#unloaded, files];
  }

  /** How far the first converge is. */
  get first(): ConvergeProgress {
    return this.#first;
  }

  /** Resolves when the first converge is over. */
  get firstDone(): Promise<void> {
    return this.#firstDone.promise;
  }

  finishFirst(): void {
    this.#first = 'done';
    this.#firstDone.resolve();
  }

  /** `OperatorStartup` until the first converge is over, then empty. */
  get activation(): string {
    return this.#first === 'done' ? '' : 'OperatorStartup';
  }
}
