import type { ContentEntry } from './module-content.ts';

/** The content of a module. */
export interface CandidateContent {
  readonly files: readonly ContentEntry[];
  /** Of name and files. */
  readonly digest: string;
}

/** A module that is to be run. */
export interface Candidate {
  readonly name: string;
  /** Bytes of the manifest and the signature, which are not part of the content; undefined where the file is missing. */
  readonly manifest: Buffer | undefined;
  readonly signature: Buffer | undefined;
  /** Whether an explicit rollback wants it: content that has run before may run again then, however old. */
  readonly isReturn?: boolean;
  /**
   * Is read at the first call and is the same from then on. To be called last: before the
   * other checks have passed, the candidate is not trusted.
   *
   * @throws OperatorError MODULE_UNAUTHORIZED for what has no place in a module, see `readContent`
   */
  content(): Promise<CandidateContent>;
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
