/** A situation in which commands of the pages are run, in the order a reader would. */
export interface CommandScenario {
  readonly title: string;
  /** Names of all commands that it runs. */
  readonly runs: readonly string[];
  /**
   * Brings the situation about, runs the commands, and fails when one of them does not do what its page says.
   *
   * @param helmPath the helm that is found in PATH
   * @returns the names of the commands it ran
   */
  run(helmPath: string): Promise<readonly string[]>;
}
