/** Runs as records of the journal's file: a run that has ended, and the start of the operator to which it belongs. */

import type { Clock } from '@addon-operator/base/clock';
import type { JournalRecord } from './journal-file.ts';
import type { Mark } from './marks.ts';
import { OutputBuffer, type OutputParts } from './output-buffer.ts';
import type { JournalRun } from './run.ts';
import type { StoredWell } from './wells.ts';

/** The beginning of the records of one start of the operator. */
export interface StoredBoot {
  readonly boot: string;
  /** The wall time at which its steady clock showed 0. */
  readonly zeroMs: number;
}

/** Ids up to this one may have been given away. */
export interface StoredIds {
  readonly ids: number;
}

export interface StoredRun {
  readonly run: Omit<JournalRun, 'traceId' | 'revision' | 'output' | 'spans' | 'bootId'> & {
    readonly output?: OutputParts | undefined;
  };
}

/** Characters of the output of a run in the file, from its beginning and its end. */
const STORED_HEAD = 1_024;
const STORED_TAIL = 3_072;

/** The content of the file. */
export interface StoredJournal {
  /** The oldest first. */
  readonly runs: readonly JournalRun[];
  readonly marks: readonly Mark[];
  readonly wells: readonly StoredWell[];
  /** The highest id that may have been given away. */
  readonly lastId: number;
}

/** Reads the records of earlier starts. Unknown ones are of no use here. */
export function readRecords(records: readonly JournalRecord[], clock: Clock): StoredJournal {
  const runs = new Map<number, JournalRun>();
  const marks: Mark[] = [];
  const wells: StoredWell[] = [];
  let lastId = 0;
  let boot: StoredBoot | undefined;
  for (const record of records) {
    if ('boot' in record) boot = record as StoredBoot;
    // An orderly stop gives back what was reserved.
    else if ('ids' in record) lastId = (record as StoredIds).ids;
    else if ('mark' in record) marks.push(record.mark as Mark);
    else if ('well' in record) wells.push(record.well as StoredWell);
    else if ('run' in record && boot !== undefined) {
      const run = restoredRun(record as StoredRun, boot, clock);
      runs.set(run.id, run);
    }
  }
  const sorted = [...runs.values()].sort((a, b) => a.id - b.id);
  return { runs: sorted, marks, wells, lastId: Math.max(lastId, sorted.at(-1)?.id ?? 0) };
}

/** The record of a start. */
export function storedBoot(boot: string, clock: Clock): StoredBoot {
  return { boot, zeroMs: clock.wallMs() - clock.steadyMs() };
}

export function storedIds(ids: number): StoredIds {
  return { ids };
}

export function storedMark(mark: Mark): { readonly mark: Mark } {
  return { mark };
}

export function storedWell(well: StoredWell): { readonly well: StoredWell } {
  return { well };
}

/** The record of a run that has ended. */
export function storedRun(run: JournalRun): StoredRun {
  const { output } = run;
  // What cannot be restored is left out by JSON.
  const none = { traceId: undefined, revision: undefined, spans: undefined, bootId: undefined };
  return { run: { ...run, ...none, output: output && shortened(output.read()) } };
}

/**
 * Reads a run of an earlier start. The steady clock of another machine, or of one that was started again, counts from
 * another moment, so its times are moved to that of this start.
 */
function restoredRun({ run }: StoredRun, { boot, zeroMs }: StoredBoot, clock: Clock): JournalRun {
  const movedMs = zeroMs - storedBoot(boot, clock).zeroMs;
  return {
    ...run,
    parent: run.parent,
    triggeredBy: run.triggeredBy,
    eventMs: run.eventMs,
    queuedMs: run.queuedMs + movedMs,
    startedMs: run.startedMs + movedMs,
    endedMs: (run.endedMs ?? run.startedMs) + movedMs,
    phases: run.phases.map(({ name, startedMs }) => ({ name, startedMs: startedMs + movedMs })),
    end: run.end,
    hookFacts: run.hookFacts,
    output: run.output && OutputBuffer.restored(run.output),
    traceId: undefined,
    revision: 0,
    spans: undefined,
    bootId: boot,
  };
}

function shortened({ head, tail, cut }: OutputParts): OutputParts {
  const begin = head.slice(0, STORED_HEAD);
  const rest = head.slice(STORED_HEAD) + tail;
  const end = rest.slice(-STORED_TAIL);
  return { head: begin, tail: end, cut: cut + rest.length - end.length };
}
