import type { Backend } from '../support/world.ts';

/** A situation that is brought about on a real daemon, with the samples of the pages. */
export interface Scenario {
  readonly title: string;
  /** Samples that are its input: configurations, and what hooks write. */
  readonly takes: readonly string[];
  /** Samples that come out of it. */
  readonly gives: readonly string[];
  /**
   * Runs it, with the texts of the samples it takes, and fails when one of them does not do what its page says.
   *
   * @returns the texts of the samples it gives
   */
  run(backend: Backend, taken: (name: string) => string): Promise<Readonly<Record<string, string>>>;
}
