/** Hook runs that are not finished and not in a queue: deferred, debounced or failed for good. */
export interface UnfinishedRuns {
  /** Sentences about deferred runs, which wait outside of their queue until they are due. */
  readonly waiting: readonly string[];
  /** Sentences about events that are held back by `debounce`. */
  readonly debounced: readonly string[];
  /** Sentences about runs that failed and are not retried. */
  readonly failed: readonly string[];
}

/** The same as lines for people; empty if there are none. */
export function unfinishedText({ waiting, debounced, failed }: UnfinishedRuns): readonly string[] {
  const block = (title: string, sentences: readonly string[]): readonly string[] =>
    sentences.length === 0
      ? []
      : [`${title} (${sentences.length}):\n${sentences.map((sentence) => `- ${sentence}\n`).join('')}`];
  return [
    ...block('Waiting outside of the queues', waiting),
    ...block('Held back by debounce', debounced),
    ...block('Failed, not retried', failed),
  ];
}
