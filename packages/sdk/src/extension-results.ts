/** Whether a retry of what failed can succeed without a change by a user. */
export type Classification = 'retryable' | 'fatal';

/** Details of an error of a deployment. */
export interface ErrorDetails {
  readonly classification: Classification;
  /** A word for the kind of error, such as `Conflict`. */
  readonly code: string;
  /** The message for people. */
  readonly message: string;
}

/** Whether an object may be applied now. */
export type PreReconcileResult =
  | { readonly proceed: true }
  | { readonly proceed: false; readonly reason: string; readonly retryAfterMs: number };

/** Whether an object that was applied is ready. */
export type PostReconcileResult =
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: string; readonly retryAfterMs: number };

/** When one that gives no time wants to be called again. */
const RETRY_AFTER_MS = 10_000;

/** Makes the result of `classifyError`. */
export function errorDetails(classification: Classification, code: string, message: string): ErrorDetails {
  return { classification, code, message };
}

/** The result of `preReconcileCheck` for an object that may be applied. */
export function proceed(): PreReconcileResult {
  return { proceed: true };
}

/**
 * The result of `preReconcileCheck` for an object that must not be applied yet: nothing of the module is.
 *
 * @param retryAfterMs when to call again; default 10 seconds
 */
export function block(reason: string, retryAfterMs: number = RETRY_AFTER_MS): PreReconcileResult {
  return { proceed: false, reason, retryAfterMs };
}

/** The result of `postReconcileCheck` for an object that is ready. */
export function ready(): PostReconcileResult {
  return { ready: true };
}

/**
 * The result of `postReconcileCheck` for an object that is not ready yet.
 *
 * @param retryAfterMs when to call again; default 10 seconds
 */
export function notReady(reason: string, retryAfterMs: number = RETRY_AFTER_MS): PostReconcileResult {
  return { ready: false, reason, retryAfterMs };
}
