import type { TerminalPrograms } from './terminal.ts';

/** A situation in which commands of the pages are run, in the order a reader would. */
export interface CommandScenario {
  readonly title: string;
  /** Names of all commands that it runs. */
  readonly runs: readonly string[];
  /**
   * Brings the situation about, runs the commands, and fails when one of them does not do what its page says.
   *
   * @param programs those of its terminals
   * @returns the names of the commands it ran
   */
  run(programs: TerminalPrograms): Promise<readonly string[]>;
}
