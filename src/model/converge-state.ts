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
  /** In words, such as `modules` or `hooks of module web`. */
  readonly what: string;
  /** Undefined if all modules lack the change. */
  readonly module: ModuleName | undefined;
  readonly error: string;
}

/** How far the converge is, and what keeps the cluster from what files and ConfigMap say although it is over. */
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

  /** Paused modules with a run that was left out; it follows when they are resumed. */
  get deferredRuns(): ReadonlySet<ModuleName> {
    return this.#deferredRuns;
  }

  deferRun(module: ModuleName): void {
    this.#deferredRuns.add(module);
  }

  /** Called when a module is resumed. Returns whether a run of it was left out, which now has to follow. */
  resumeRun(module: ModuleName): boolean {
    return this.#deferredRuns.delete(module);
  }

  get phase(): ConvergePhase {
    return this.#phase;
  }

  /** Called by the converge when it goes on, and with `standby` when it ends or is dropped. */
  enter(phase: ConvergePhase): void {
    this.#phase = phase;
  }

  /** Called when a converge begins. One that is started over is the same one, and keeps its start. */
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

  /** Modules whose directories are back: their releases wait for no decision any more. */
  releaseFromPurge(modules: ReadonlySet<string>): void {
    if (typeof this.#purge === 'string') return;
    const releases = this.#purge.releases.filter((name) => !modules.has(name));
    this.#purge = releases.length === 0 ? 'decided' : { ...this.#purge, releases };
  }

  /** The ConfigMap can be read, but what it says does not match the schemas; older values stay in force. */
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

  /** Development only: what of the files that changed last could not be loaded. */
  get unloaded(): readonly UnloadedFiles[] {
    return this.#unloaded;
  }

  /** Called when changed files are about to be loaded: what failed before is tried again. */
  beginReload(): void {
    this.#unloaded = [];
    this.#atReload = this.#atNextReload.splice(0);
  }

  endReload(): void {
    for (const notify of this.#atReload.splice(0)) notify();
  }

  /** Resolves when a reload that begins from now on is over. */
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
