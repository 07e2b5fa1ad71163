import type { ModuleName } from '../values/module-key.ts';

/** Queues in which modules run at the same time are named so, with a number. */
export const PARALLEL_QUEUE_PREFIX = 'parallel_queue_';

/**
 * The runs of several modules at the same time: the unfinished ones, and why their last attempts
 * failed. `operator/converge-modules.ts` creates the group, the queues `parallel_queue_…` run its
 * members, and the task ParallelModuleRun in `main` waits for {@link whenDone}.
 */
export class ParallelRuns<Run extends { readonly module: ModuleName }> {
  readonly runs: readonly Run[];
  readonly #pending: Set<ModuleName>;
  readonly #errors = new Map<ModuleName, string>();
  readonly #done = Promise.withResolvers<void>();
  #isSpread = false;

  constructor(runs: readonly Run[]) {
    this.runs = runs;
    this.#pending = new Set(runs.map(({ module }) => module));
  }

  get isDone(): boolean {
    return this.#pending.size === 0;
  }

  /** Whether the runs were put into their queues. */
  get isSpread(): boolean {
    return this.#isSpread;
  }

  /** Called when the runs are put into their queues. */
  noteSpread(): void {
    this.#isSpread = true;
  }

  /** Modules whose run is not finished. */
  get pending(): readonly ModuleName[] {
    return [...this.#pending];
  }

  /** All modules, as the queue shows them. */
  get title(): string {
    return `Parallel run for ${this.runs.map(({ module }) => module).join(', ')}`;
  }

  /** Why the last attempts of unfinished modules failed; empty when none did. */
  get errorText(): string {
    if (this.#errors.size === 0) return '';
    const lines = [...this.#errors].map(([module, error]) => `\t- ${module}: ${error}`);
    return ['', '\tErrors:', ...lines].join('\n');
  }

  failed(module: ModuleName, error: string): void {
    if (this.#pending.has(module)) this.#errors.set(module, error);
  }

  succeeded(module: ModuleName): void {
    this.#errors.delete(module);
    this.#pending.delete(module);
    if (this.isDone) this.#done.resolve();
  }

  /** Resolves when every run has succeeded. */
  whenDone(): Promise<void> {
    if (this.isDone) this.#done.resolve();
    return this.#done.promise;
  }
}
