/** `/timeline`: the runs of modules within the last hours, and what happened beside them. */

import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { MarkView } from '../../journal/marks.ts';
import type { RunView } from '../../journal/run-view.ts';
import type { DaemonView } from '../../status/daemon-view.ts';

const HOUR_MS = 3_600_000;
/** The newest ones: more cannot be told apart on a screen. */
const MAX_RUNS = 1_000;
export const MAX_TIMELINE_HOURS = 24;

/** A bar of the timeline. */
export type TimelineRun = Pick<
  RunView,
  'id' | 'type' | 'hook' | 'binding' | 'startedAt' | 'durationMs' | 'result'
>;

export interface Timeline {
  readonly from: string;
  readonly to: string;
  /** False if runs at its beginning are left out. */
  readonly isComplete: boolean;
  /** Those that ran, in run order. */
  readonly modules: readonly { readonly module: string; readonly runs: readonly TimelineRun[] }[];
  readonly marks: readonly MarkView[];
}

/** Attempts of tasks by module, the oldest first. @param nowMs on the wall clock */
export function timelineData(
  { journal, modules }: Pick<DaemonView, 'journal' | 'modules'>,
  nowMs: number,
  hours: number,
): Timeline {
  const sinceMs = nowMs - hours * HOUR_MS;
  const { runs, next } = journal.list({ sinceMs, limit: MAX_RUNS });
  // Hooks of a module run are within its bar.
  const attempts = runs.filter(({ parent, module }) => parent === null && module !== '').reverse();
  const byModule = Map.groupBy(attempts, ({ module }) => module);
  const known = modules().map(({ module }) => module);
  const names = new Set([...known.filter((name) => byModule.has(name)), ...byModule.keys()]);
  return {
    from: isoTime(sinceMs),
    to: isoTime(nowMs),
    isComplete: next === null,
    modules: [...names].map((module) => ({ module, runs: (byModule.get(module) ?? []).map(barOf) })),
    marks: journal.marks.since(sinceMs),
  };
}

function barOf({ id, type, hook, binding, startedAt, durationMs, result }: RunView): TimelineRun {
  return { id, type, hook, binding, startedAt, durationMs, result };
}
