import type { ContentEntry } from './module-content.ts';

/** A module as it was read, once. */
export interface Candidate {
  readonly name: string;
  readonly files: readonly ContentEntry[];
  /** Of name and files. */
  readonly digest: string;
  /** Bytes of what lies beside the content; undefined where there is nothing. */
  readonly manifest: Buffer | undefined;
  readonly signature: Buffer | undefined;
}

/** Decides whether a module may be run. */
export interface AuthorizationPolicy {
  /**
   * Resolves when the module may be run. What the decision is based on is read anew each time.
   *
   * @throws OperatorError MODULE_UNAUTHORIZED saying why it may not
   */
  check(candidate: Candidate, signal: AbortSignal): Promise<void>;
}
