/**
 * Derives the cause of a run from times, tasks and queues. Tasks carry no reference to the run that queued them, so the
 * cause is computed when it is read, among the runs of the same event.
 */

import type { JournalRun } from './run.ts';

/** Between the end of an attempt and the arrival of the tasks that follow it. */
const SETTLE_MS = 2;

/**
 * The run that led to another one, among runs of the same event: its parent, the attempt before, the hook run that
 * triggered it, or the run that put its task into a queue. Undefined for the first run of an event, and when the journal no
 * longer has the other one.
 *
 * @param runs those of the event, the oldest first
 */
export function causeOf(run: JournalRun, runs: readonly JournalRun[]): JournalRun | undefined {
  if (run.parent !== undefined) return runs.find(({ id }) => id === run.parent);
  const earlier = runs.filter((other) => other.id < run.id && other.startedMs <= run.queuedMs);
  const before = earlier.findLast((other) => isSameTask(run, other));
  if (before !== undefined) return before;
  const { triggeredBy } = run;
  if (triggeredBy !== undefined) {
    const { hook, binding } = triggeredBy;
    const trigger = earlier.findLast((other) => other.hook === hook && other.binding === binding);
    if (trigger !== undefined) return trigger;
  }
  const attempts = earlier.filter(({ parent }) => parent === undefined);
  // What a run puts into a queue comes there while it runs, or at its end.
  const active = attempts.filter(
    ({ endedMs = Number.POSITIVE_INFINITY }) => endedMs + SETTLE_MS >= run.queuedMs,
  );
  return active.findLast(({ queue }) => queue === run.queue) ?? active.at(-1) ?? attempts.at(-1);
}

function isSameTask(run: JournalRun, other: JournalRun): boolean {
  return run.taskId !== '' && other.taskId === run.taskId && other.parent === undefined;
}
