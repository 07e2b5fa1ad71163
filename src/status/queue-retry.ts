/** What became of the request to retry the first task of a queue. */
export type RetryHeadOutcome =
  /** With the description of the task. */
  | { readonly type: 'retried'; readonly task: string }
  /** There is no queue of this name. */
  | { readonly type: 'unknown'; readonly reason: string }
  /** The first task does not wait for a retry. */
  | { readonly type: 'refused'; readonly reason: string };

/** Retries the first task of the named queue now. */
export type RetryHead = (queue: string) => RetryHeadOutcome;
