/** A module whose content is neither in the store, nor in a backup, nor at its source. */
export interface UnavailableModule {
  /** The name of its link, such as `030-web`. */
  readonly entry: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Facts about modules of sources that do not depend on the store. */
export interface DeliveredModules {
  /** Whether a module is installed and stays: a link of it that is missing is no decision. */
  isInstalled(module: string): boolean;
  /** Installed modules whose content is nowhere, by name. They count as existing and enabled, and are held. */
  unavailable(): ReadonlyMap<string, UnavailableModule>;
}
