import type { HookSentence } from './problem.ts';

/** Hook runs that are not finished and not in a queue: deferred, debounced or failed for good. */
export interface UnfinishedRuns {
  /** Sentences about deferred runs, which wait outside of their queue until they are due. */
  readonly waiting: readonly string[];
  /** Sentences about events that are held back by `debounce`. */
  readonly debounced: readonly string[];
  /** Runs that failed and are not retried. */
  readonly failed: readonly FailedRun[];
}

/** A run that failed and is not retried. */
export interface FailedRun extends HookSentence {
  readonly remedy: string;
  /** Whether a user can request a run of the binding. */
  readonly isTriggerable: boolean;
}

/** A failed run in one sentence, with its remedy. */
export function failedRunText({ text, remedy }: FailedRun): string {
  return `${text}; ${remedy}`;
}

/** The same, each as a sentence. */
export type UnfinishedSentences = Readonly<Record<keyof UnfinishedRuns, readonly string[]>>;

export function unfinishedSentences(runs: UnfinishedRuns): UnfinishedSentences {
  return { ...runs, failed: runs.failed.map(failedRunText) };
}

/** The same as lines for people; empty if there are none. */
export function unfinishedText({ waiting, debounced, failed }: UnfinishedSentences): readonly string[] {
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
