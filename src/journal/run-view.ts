/** The types in which the API and `explain` show runs. Their fields are described in `server/api/run-schemas.ts`. */

import type { OutputParts } from './output-buffer.ts';
import type { RunResult } from './run.ts';

/** One run. Times are RFC 3339 in UTC; strings are empty, and others null, where there is nothing. */
export interface RunView {
  /** A number that grows, also over starts of the operator as long as the file of the journal is kept. */
  readonly id: string;
  /** It ended before the last start of the operator. */
  readonly isOfEarlierStart: boolean;
  /** The run that started it, such as the ModuleRun of a beforeHelm hook; null for an attempt of a task. */
  readonly parent: string | null;
  readonly eventId: string;
  /** Name of the trace, whether or not it is recorded: 32 hexadecimal digits. */
  readonly traceId: string;
  readonly queue: string;
  readonly taskId: string;
  /** Type of the task, `HookRun` for a hook that a task runs among other things. */
  readonly type: string;
  readonly module: string;
  readonly hook: string;
  /** Kind of the bindings. */
  readonly binding: string;
  /** Names of the bindings that a hook runs for. */
  readonly bindings: readonly string[];
  readonly trigger: string;
  readonly triggeredBy: { readonly hook: string; readonly binding: string } | null;
  /** From 1. */
  readonly attempt: number;
  readonly queuedAt: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** From `queuedAt` to `startedAt`. */
  readonly waitMs: number;
  /** Until now for a run in progress. */
  readonly durationMs: number;
  readonly result: RunResult | 'running';
  readonly error: string;
  readonly code: string;
  /** Of an executable that ended by itself. */
  readonly exitCode: number | null;
  /** The signal that killed it, such as `SIGKILL`. */
  readonly signal: string;
  readonly cpuMs: number | null;
  readonly maxRssBytes: number | null;
  readonly contexts: number;
  /** Steps of a module run, in order. */
  readonly phases: readonly { readonly name: string; readonly ms: number }[];
  /** Operations of a hook, as numbers: the journal has no values. */
  readonly patches: { readonly values: number; readonly objects: number };
  /** The command that runs the hook for the same. */
  readonly command: string;
  /** Characters that the hook printed. */
  readonly outputLength: number;
}

/** A run with what led to it, and what it led to. */
export interface RunDetails extends RunView {
  /** From the first run of the event to the one that led to this. */
  readonly cause: readonly RunView[];
  /** Its further attempts, the runs it started and the runs they led to, in order. */
  readonly effects: readonly RunEffect[];
  /** The output of the hook. */
  readonly output: OutputParts;
}

/** All runs of one event, the oldest first. */
export interface EventRuns {
  readonly eventId: string;
  readonly runs: readonly (RunView & {
    /** Id of the run that directly led to it; null for the first one, and if the journal does not have the other any more. */
    readonly causedBy: string | null;
  })[];
}

export interface RunEffect extends RunView {
  /** Id of the run that directly led to it. */
  readonly causedBy: string;
}

/** Which runs to list; a filter that is absent accepts all. */
export interface RunQuery {
  readonly module?: string | undefined;
  /** The name of the hook, or `<module>/<hook>`. */
  readonly hook?: string | undefined;
  readonly queue?: string | undefined;
  /** Type of the task, or `HookRun`. */
  readonly type?: string | undefined;
  readonly result?: RunView['result'] | undefined;
  /** An event id. */
  readonly event?: string | undefined;
  /** Only runs that had not ended at this time, in milliseconds since the epoch. */
  readonly sinceMs?: number | undefined;
  /** Only runs older than the one with this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The newest first. */
export interface RunList {
  readonly runs: readonly RunView[];
  /** The id to continue with as `before`; null at the end. */
  readonly next: string | null;
}

export interface LastRunView {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: RunResult;
}

/** The runs of a module that have ended. */
export interface ModuleRuns {
  readonly last: LastRunView | null;
  /** The last 20 results, the oldest first: `s` success, `f` failed, `a` aborted. */
  readonly recent: string;
}
