import type { Action } from './test-file.ts';

/** Where a case takes place. */
export interface TestWorld {
  /**
   * Does what a step says, and resolves when nothing is under way any more.
   *
   * @throws OperatorError when it cannot be done
   */
  perform(action: Action): Promise<StepFacts>;
  /** An object as it is now; undefined if it does not exist. */
  object(wanted: ObjectName): Promise<unknown>;
  /** The values that the hook would get next. */
  values(): unknown;
  configValues(): unknown;
  /** Runs that wait to be repeated, in words. */
  pending(): readonly string[];
  /**
   * Runs the hook with the input of recorded runs.
   *
   * @throws OperatorError when there are no recordings of it
   */
  replay(path: string): Promise<ReplayFacts>;
}

/** The outcome of recorded runs. */
export interface ReplayFacts {
  /** The differences from the recording, in words; absent if all runs have the same results. */
  readonly problem?: string;
  /** Requests that the hook itself sent to the API. */
  readonly requests: readonly string[];
}

export interface ObjectName {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The outcome of a step. */
export interface StepFacts {
  readonly runs: readonly ObservedRun[];
  /** The changes of objects by the hook. */
  readonly changes: readonly ChangeFacts[];
  /** Records of the operator at the level error, apart from failures of runs. */
  readonly errors: readonly string[];
  /** Requests that the hook itself sent to the API, such as `GET /api/v1/pods`. */
  readonly requests: readonly string[];
  /** Of a step `admission`. */
  readonly admission?: AdmissionFacts;
  /** Of a step `convert`. */
  readonly conversion?: ConversionFacts;
}

/** How the API server would take the response of the hook. */
export interface AdmissionFacts {
  readonly isAllowed: boolean;
  readonly message: string;
  readonly warnings: readonly string[];
  /** The object after the patch of the response. */
  readonly patched: unknown;
}

export type ConversionFacts =
  | { readonly objects: readonly unknown[] }
  /** Why it failed. */
  | { readonly message: string };

export interface ChangeFacts {
  readonly change: 'created' | 'changed' | 'deleted';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** One run of the hook. */
export interface ObservedRun {
  readonly binding: string;
  readonly contexts: readonly unknown[];
  /** As the hook wrote them. */
  readonly operations: readonly unknown[];
  readonly metrics: readonly unknown[];
  readonly output: readonly OutputLine[];
  /** Problems beside the result, such as processes that the hook left; absent without any. */
  readonly problems?: readonly string[];
  /** Absent for a run that succeeded. */
  readonly failure?: string;
  /** The verdict of the hook on a run that failed; absent for a failure that is retried as usual. */
  readonly verdict?: 'temporary' | 'permanent';
}

export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  readonly level: string;
  readonly text: string;
}
