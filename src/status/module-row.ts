/** The row of a module in lists of the API: bounded strings, absent fields where there is nothing. */

import type { LastRunView, ModuleRuns } from '../journal/run-view.ts';
import { endOf, startOf } from './cut-text.ts';
import type { ModulePause, ModuleStatus, ModuleSummary } from './module-explanation.ts';
import type { ModuleUpdate } from './module-update.ts';

/** One module in a list of all. What is empty is absent, and sentences are cut: the explanation has everything. */
export interface ModuleRow {
  readonly module: string;
  readonly status: ModuleStatus;
  /** Since when it has this status: for a failing module the end of the first failure in a row. */
  readonly since: string;
  /** The source that decided the status; absent before the first discovery. */
  readonly source?: string;
  readonly reason: string;
  /** The nearest thing that it waits for, if nothing holds it up. */
  readonly waitsFor?: string;
  /** How many other things it waits for, if nothing holds it up. */
  readonly moreWaits?: number;
  /** The first thing in its way, also of a module whose last run succeeded. */
  readonly heldUpBy?: string;
  /** The object in its way, such as `queue/main`, if that has a name. */
  readonly heldUpRef?: string;
  readonly lastError?: string;
  readonly nextTryAt?: string;
  readonly paused?: Pick<ModulePause, 'reason' | 'until'>;
  /** Its result is the last letter of `recent`. */
  readonly lastRun?: Pick<LastRunView, 'startedAt' | 'durationMs'>;
  /** Its last 20 runs, the oldest first: `s` success, `f` failed, `a` aborted. */
  readonly recent?: string;
  /** Of the files that run. */
  readonly version?: string;
  /** Of its release; absent before it is known. */
  readonly revision?: number;
  /** A version that does not run yet. */
  readonly update?: Pick<ModuleUpdate, 'version' | 'reason' | 'needs' | 'until'>;
}

const MAX_LENGTH = 80;
const MAX_ERROR = 160;
/** All modules behind a task that fails have this sentence. */
const MAX_HELD = 90;

/** A module as lists have it. */
export function moduleRow(summary: ModuleSummary, runs: ModuleRuns | undefined): ModuleRow {
  const { module, status, since, source, reason, lastError, nextTryAt, paused, heldUpBy, heldUpRef } =
    summary;
  const [nearest, ...others] = summary.waitsFor;
  const { version, revision, update } = summary;
  const last = runs?.last ?? null;
  return {
    module,
    status,
    since,
    ...(source !== null && { source }),
    reason: startOf(reason, MAX_LENGTH),
    ...(heldUpBy === undefined
      ? {
          ...(nearest !== undefined && { waitsFor: startOf(nearest, MAX_LENGTH) }),
          ...(others.length > 0 && { moreWaits: others.length }),
        }
      : { heldUpBy: startOf(heldUpBy, MAX_HELD), ...(heldUpRef !== undefined && { heldUpRef }) }),
    ...(lastError !== null && { lastError: endOf(lastError, MAX_ERROR) }),
    ...(nextTryAt !== null && { nextTryAt }),
    ...(paused !== null && { paused: { reason: startOf(paused.reason, MAX_LENGTH), until: paused.until } }),
    ...(last !== null && {
      lastRun: { startedAt: last.startedAt, durationMs: Math.round(last.durationMs) },
    }),
    ...(version !== null && { version }),
    ...(revision !== null && { revision }),
    ...(update !== undefined && { update: shownUpdate(update) }),
    ...(runs !== undefined && runs.recent !== '' && { recent: runs.recent }),
  };
}

function shownUpdate({ version, reason, needs, until }: ModuleUpdate): NonNullable<ModuleRow['update']> {
  return { version, reason, needs, ...(until !== undefined && { until }) };
}
