import type { ModuleName } from '../values/module-key.ts';
import type { ConvergePhase } from './converge.ts';
import type { HeldPurge } from './purge-guard.ts';
import type { ConvergeEvent } from './tasks.ts';

export type ConvergeProgress = 'not-started' | 'running' | 'done';

/** How far the converge is, and what keeps the cluster from what files and ConfigMap say although it is over. */
export class ConvergeState {
  phase: ConvergePhase = 'standby';
  /** When the converge in progress began, and for what; one that is started over is the same one. */
  start: { readonly atMs: number; readonly event: ConvergeEvent } | undefined;
  /** Paused modules with a run that was left out; it follows when they are resumed. */
  readonly deferredRuns = new Set<ModuleName>();
  /** Whether releases without a module may be removed; they are looked for once, after the first converge. */
  purge: 'undecided' | 'decided' | HeldPurge = 'undecided';
  /** The ConfigMap can be read, but what it says does not match the schemas; older values stay in force. */
  isConfigRefused = false;
  /** Why the ConfigMap cannot be read at all; undefined while it can. */
  configProblem: string | undefined;
  /** Development only: what of the files that changed last could not be loaded, in words. */
  unloaded: string[] = [];
  #first: ConvergeProgress = 'not-started';
  readonly #firstDone = Promise.withResolvers<void>();

  /** How far the first converge is. */
  get first(): ConvergeProgress {
    return this.#first;
  }

  /** Resolves when the first converge is over. */
  get firstDone(): Promise<void> {
    return this.#firstDone.promise;
  }

  beginFirst(): void {
    if (this.#first === 'not-started') this.#first = 'running';
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
