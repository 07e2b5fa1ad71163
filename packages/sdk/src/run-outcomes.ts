/** Copies of this package can be loaded side by side: the operator recognizes errors by this mark, not by their class. */
const OUTCOME = Symbol.for('addon-operator.run-outcome');
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/;

/** The outcome that a thrown error requests for the run, besides its message. */
export type RunOutcome =
  | { readonly type: 'temporary'; readonly reason: string; readonly after: string | undefined }
  | { readonly type: 'permanent'; readonly reason: string };

/**
 * Thrown by a hook for which it is not yet time: nothing is wrong, and the run is repeated after a while. Nothing that the
 * run recorded is applied.
 */
export class TemporaryError extends Error {
  readonly [OUTCOME] = 'temporary' as const;
  /** When the run is repeated, such as `30s`; undefined: after 10 seconds. */
  readonly after: string | undefined;

  /**
   * @param reason what the hook waits for, such as `waiting for DNS`
   * @param options `after`: when to repeat the run, from `1s` to `1h`; default `10s`
   * @throws TypeError when `after` is no duration
   */
  constructor(reason: string, options: { readonly after?: string; readonly cause?: unknown } = {}) {
    const { after, ...rest } = options;
    if (after !== undefined && !DURATION.test(after))
      throw new TypeError(`after: ${JSON.stringify(after)} is not a duration such as "30s" or "1h30m"`);
    super(reason, rest);
    this.name = 'TemporaryError';
    this.after = after;
  }
}

/**
 * Thrown by a hook for which a retry is useless: the run is not repeated, and the failure is shown until a later run of the
 * hook succeeds. Nothing that the run recorded is applied.
 */
export class PermanentError extends Error {
  readonly [OUTCOME] = 'permanent' as const;

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(reason, options);
    this.name = 'PermanentError';
  }
}

/** The outcome that a thrown error requests; undefined for every other error. */
export function runOutcomeOf(thrown: unknown): RunOutcome | undefined {
  if (!(thrown instanceof Error) || !(OUTCOME in thrown)) return undefined;
  const { message: reason } = thrown;
  if (thrown[OUTCOME] === 'permanent') return { type: 'permanent', reason };
  const after = 'after' in thrown && typeof thrown.after === 'string' ? thrown.after : undefined;
  return { type: 'temporary', reason, after };
}
