/** A request for a rollback. */
export interface RollbackOrder {
  /** A revision or a version; undefined: the newest good one with other files. */
  readonly to: string | undefined;
  /** Whether the section of the ConfigMap goes back too. */
  readonly withValues: boolean;
  readonly isDryRun: boolean;
}

export type RollbackOutcome =
  /** `reason` is a sentence for the user. */
  | { readonly type: 'refused'; readonly reason: string }
  /** The module comes from a source: the version is in operation now. */
  | { readonly type: 'switched'; readonly version: string; readonly keptCrds?: readonly string[] }
  /** `continues`: it takes longer than a response may take. */
  | { readonly type: 'planned'; readonly revision?: number; readonly version: string }
  | { readonly type: 'continues'; readonly revision: number; readonly version: string }
  | {
      readonly type: 'done';
      readonly revision: number;
      readonly version: string;
      /** The revision that it is now. */
      readonly newRevision: number;
    };

/** Takes a module back to an earlier revision. @throws OperatorError when helm or the API server refuses */
export type RollbackModule = (
  module: string,
  order: RollbackOrder,
  signal: AbortSignal,
) => Promise<RollbackOutcome>;
