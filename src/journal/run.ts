/** The record of one run inside the journal, and the facts that callers pass in at its beginning and end. */

import type { Span } from '@addon-operator/base/trace';
import type { OutputBuffer } from './output-buffer.ts';

/**
 * How a run ended. `repeat`: it waits for something and is run again. `aborted`: a user ended it, or the operator stopped.
 * `skipped`: nothing was done, such as for a module that is paused.
 */
export type RunResult = 'success' | 'failed' | 'repeat' | 'skipped' | 'aborted';

/** The facts that are known when a run begins. Strings are empty where there is nothing. */
export interface RunStart {
  readonly queue: string;
  /** Of the task in its queue; empty for a run that no task requested, such as one for an admission request. */
  readonly taskId: string;
  /** The type of the task, or `HookRun` for a hook that a task runs among other things. */
  readonly type: string;
  readonly module: string;
  readonly hook: string;
  readonly binding: string;
  readonly trigger: string;
  readonly eventId: string;
  /** When the event came, on the steady clock; undefined if that is not known. */
  readonly eventMs?: number | undefined;
  /** The hook run whose changes led to the task. */
  readonly triggeredBy: { readonly hook: string; readonly binding: string } | undefined;
  /** From 1. */
  readonly attempt: number;
  /** Since when it waited, on the steady clock. */
  readonly queuedMs: number;
}

/** Input, resource usage and output of a hook run, and how its process ended. */
export interface HookFacts {
  /** Names of the bindings it is for. */
  readonly bindings: readonly string[];
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly cpuMs: number | undefined;
  readonly maxRssBytes: number | undefined;
  /** Binding contexts that it was given. */
  readonly contexts: number;
  /** Operations on values and on objects. */
  readonly patches: { readonly values: number; readonly objects: number };
  /** The command that runs the hook for the same; empty if there is none. */
  readonly command: string;
}

export interface RunEnd {
  readonly result: RunResult;
  /** Message of the failure; absent without one. */
  readonly error?: string;
  readonly code?: string | undefined;
}

/** A run as the journal keeps it. */
export interface JournalRun extends RunStart {
  readonly id: number;
  /** Id of the run that started it; undefined for an attempt of a task. */
  readonly parent: number | undefined;
  readonly startedMs: number;
  /** On the wall clock. */
  readonly startedAtMs: number;
  /** The key of its trace, unique within one start of the operator. */
  readonly traceKey: string;
  /** The start of the operator in which it ran; undefined for the current one. */
  readonly bootId: string | undefined;
  /** Made of the key when it is first needed. */
  traceId: string | undefined;
  /** Revision of the journal when it began or ended. */
  revision: number;
  /** Undefined while it runs. */
  endedMs: number | undefined;
  end: RunEnd | undefined;
  hookFacts: HookFacts | undefined;
  phases: readonly { readonly name: string; readonly startedMs: number }[];
  output: OutputBuffer | undefined;
  /** Those of the run and of its phase, until it ends. */
  spans: { readonly run: Span; readonly phase: Span | undefined } | undefined;
}
