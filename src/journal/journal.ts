/**
 * The history of runs in memory: what ran when, why, with what result and output. `operator/task-pipeline.ts` and
 * `hook-runs/record-runs.ts` record (`begin`, `print`, `end`); the API, `explain` and the page read (`list`, `details`,
 * `changedSince`). It also carries the trace spans of runs in progress. Memory is bounded by count and by characters; runs
 * that have ended are kept in a file, and read back after a restart. Recording must never fail a run, so nothing here throws
 * or waits.
 */

import { type Clock, roundedMs } from '@addon-operator/base/clock';
import { NO_SPAN, type Span } from '@addon-operator/base/trace';
import { traceIdOf } from '@addon-operator/base/trace-id';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { causeOf } from './causes.ts';
import type { JournalFile } from './journal-file.ts';
import { Marks } from './marks.ts';
import { OutputBuffer } from './output-buffer.ts';
import type { HookFacts, JournalRun, RunEnd, RunStart } from './run.ts';
import type {
  EventRuns,
  LastRunView,
  ModuleRuns,
  RunDetails,
  RunEffect,
  RunList,
  RunQuery,
  RunView,
} from './run-view.ts';
import { readRecords, storedBoot, storedIds, storedMark, storedRun, storedWell } from './stored-run.ts';
import { type KnownValue, knownValues, Wells } from './wells.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** Masks secrets in errors and outputs before they are kept; default: nothing is masked. */
  readonly redact?: (message: string) => string;
  /** Different after each start of the operator; default empty. */
  readonly bootId?: string;
  /** Keeps runs that have ended over a restart; default: they are only in memory. */
  readonly file?: Pick<JournalFile, 'append' | 'take' | 'preamble'> | undefined;
  /** Default 2,000 runs, 4 Mi characters of runs, 8 Mi characters of outputs. */
  readonly limits?: Partial<JournalLimits>;
}

export interface JournalLimits {
  readonly runs: number;
  readonly runCharacters: number;
  readonly outputCharacters: number;
}

const LIMITS: JournalLimits = {
  runs: 2_000,
  runCharacters: 4 * 1024 * 1024,
  outputCharacters: 8 * 1024 * 1024,
};
const MAX_ERROR_CHARACTERS = 4_096;
/** Measured memory of a run without its strings, and of a phase. */
const RUN_SIZE = 800;
const PHASE_SIZE = 80;
const MAX_PHASES = 50;
/** A run that begins later after its event is in a trace of its own: backends cut long traces. */
const TRACE_MS = 10 * 60_000;
const SHOWN_RESULTS = 20;
/** So many ids are reserved in the file at a time, and the next ones when half of them are left. */
const RESERVED_IDS = 200;
const NO_PATCHES = { values: 0, objects: 0 };
const NO_OUTPUT = { head: '', tail: '', cut: 0 };

/**
 * The last runs, in a ring: the oldest one goes when there are too many, or they need too much memory. Recording costs a
 * few object writes; views are made when they are read. A run in progress is never dropped.
 */
export class Journal {
  /** What happened beside the runs. Texts are masked by those who add them. */
  readonly marks: Marks;
  /** What modules were like when they last ran well. */
  readonly wells: Wells;
  readonly #clock: Clock;
  readonly #redact: (message: string) => string;
  readonly #bootId: string;
  readonly #limits: JournalLimits;
  /** By id, the oldest first. */
  readonly #runs = new Map<number, JournalRun>();
  /** The attempt that runs, by queue: a queue runs one at a time. */
  readonly #attempts = new Map<string, JournalRun>();
  /** Runs whose output is kept, the oldest first. */
  readonly #withOutput = new Set<JournalRun>();
  /** The last runs of each module. */
  readonly #modules = new Map<string, ModuleRuns>();
  /** Ids of the runs that began or ended, one for each revision up to the current one. */
  #changes: number[] = [];
  readonly #followers = new Set<(runId: string, line: string) => void>();
  readonly #sizes = { runs: 0, outputs: 0 };
  readonly #file: JournalOptions['file'];
  #lastId = 0;
  /** Ids up to this one are reserved in the file. */
  #reservedId = 0;
  #revision = 0;
  /** The highest revision of a run that was dropped. */
  #forgotten = 0;

  constructor({ clock, redact = (message) => message, bootId = '', limits = {}, file }: JournalOptions) {
    this.#clock = clock;
    this.#file = file;
    this.#redact = redact;
    this.#bootId = bootId;
    this.#limits = { ...LIMITS, ...limits };
    const { runs, lastId, marks, wells } = readRecords(file?.take() ?? [], clock);
    this.marks = new Marks(clock, marks, (mark) => file?.append(storedMark(mark)));
    this.wells = new Wells(wells, (well) => file?.append(storedWell(well)));
    if (file === undefined) return;
    for (const run of runs) this.#restore(run);
    this.#lastId = lastId;
    this.#reservedId = lastId;
    const boot = storedBoot(bootId, clock);
    file.append(boot);
    file.preamble = () => [boot, storedIds(this.#reservedId), ...this.wells.all.map(storedWell)];
  }

  /** Values as they are kept and compared: masked, and cut where they are long. */
  knownValues(values: Parameters<typeof knownValues>[0]): readonly KnownValue[] {
    return knownValues(values, this.#redact);
  }

  /** Grows when a run begins or ends. */
  get revision(): number {
    return this.#revision;
  }

  /** Memory in use, in characters. */
  get size(): { readonly runs: number; readonly outputs: number } {
    return { ...this.#sizes };
  }

  /** Records the beginning of an attempt of a task. */
  begin(start: RunStart): JournalRun {
    const run = this.#add(start, undefined);
    this.#attempts.set(start.queue, run);
    return run;
  }

  /** Records the beginning of a hook run that is no attempt of its own; it belongs to the attempt that runs in its queue. */
  beginHook(start: RunStart): JournalRun {
    return this.#add(start, this.#attempts.get(start.queue)?.id);
  }

  /** The attempt that runs in a queue. */
  attemptIn(queue: string): JournalRun | undefined {
    return this.#attempts.get(queue);
  }

  /** The id of the trace of which a run is part. */
  traceIdOf(run: Pick<JournalRun, 'traceKey' | 'traceId' | 'bootId'>): string {
    run.traceId ??= traceIdOf(run.bootId ?? this.#bootId, run.traceKey);
    return run.traceId;
  }

  /** Makes the phases of a run children of a span, which ends with the run. */
  trace(run: JournalRun, span: Span): void {
    run.spans = { run: span, phase: undefined };
  }

  /** The span of what the attempt in a queue does now. */
  spanIn(queue: string): Span {
    const spans = this.#attempts.get(queue)?.spans;
    return spans?.phase ?? spans?.run ?? NO_SPAN;
  }

  /** Records that the attempt in a queue has come to its next step. */
  enterPhase(queue: string, name: string): void {
    const run = this.#attempts.get(queue);
    if (run === undefined || run.phases.length >= MAX_PHASES) return;
    const startedMs = this.#clock.steadyMs();
    run.phases = [...run.phases, { name, startedMs }];
    if (run.spans !== undefined) {
      run.spans.phase?.end({ endMs: startedMs });
      const phase = run.spans.run.child({ name: `module phase ${name}`, startMs: startedMs });
      run.spans = { ...run.spans, phase };
    }
    this.#sizes.runs += PHASE_SIZE;
  }

  /** Adds what is known after a hook run: exit code, resource usage, contexts, numbers of operations. */
  noteHook(run: JournalRun, facts: HookFacts): void {
    this.#sizes.runs += facts.command.length - (run.hookFacts?.command.length ?? 0);
    run.hookFacts = facts;
  }

  /** Keeps a line that a hook has printed. */
  print(run: JournalRun, line: string): void {
    const message = this.#redact(line);
    run.output ??= new OutputBuffer();
    run.output.push(message);
    for (const follower of this.#followers) follower(String(run.id), message);
  }

  /** Calls back with each line that a hook prints, secrets masked, until the returned function is called. */
  followOutput(follower: (runId: string, line: string) => void): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** Records the end of a run; only the first call counts. Frees memory if the limits are exceeded. */
  end(run: JournalRun, { result, error, code }: RunEnd): void {
    if (run.endedMs !== undefined) return;
    run.endedMs = this.#clock.steadyMs();
    endSpans(run, { result, ...(error !== undefined && { error }), code });
    if (error === undefined) run.end = { result };
    else {
      const message = shortened(this.#redact(error));
      run.end = { result, error: message, code };
      this.#sizes.runs += message.length;
    }
    if (this.#attempts.get(run.queue) === run) this.#attempts.delete(run.queue);
    if (run.output !== undefined) this.#keepOutput(run, run.output);
    this.#noteChange(run);
    this.#noteModuleRun(run);
    this.#file?.append(storedRun(run));
    this.#shorten();
  }

  /** Records that no further run begins in this start, so that the next one continues with the next id. */
  close(): void {
    this.#file?.append(storedIds(this.#lastId));
  }

  /** Takes the last run of a module from elsewhere, if the journal knows none. */
  seedModuleRun(module: string, last: LastRunView): void {
    if (!this.#modules.has(module)) this.#modules.set(module, { last, recent: last.result.charAt(0) });
  }

  /** The newest first. */
  list({ before = Number.POSITIVE_INFINITY, limit, ...filter }: RunQuery): RunList {
    const runs: RunView[] = [];
    let next: string | null = null;
    for (const run of [...this.#runs.values()].reverse()) {
      if (run.id >= before || !matches(run, filter)) continue;
      if (runs.length === limit) {
        next = runs.at(-1)?.id ?? null;
        break;
      }
      runs.push(this.#view(run));
    }
    return { runs, next };
  }

  /** One run with what led to it and what it led to; undefined for an unknown id. */
  details(id: number): RunDetails | undefined {
    const run = this.#runs.get(id);
    if (run === undefined) return undefined;
    const related = [...this.#runs.values()].filter(({ eventId }) => eventId === run.eventId);
    const causes = new Map(related.map((other) => [other, causeOf(other, related)]));
    return {
      ...this.#view(run),
      cause: chainTo(run, causes).map((other) => this.#view(other)),
      effects: this.#effects(run, causes),
      output: run.output?.read() ?? NO_OUTPUT,
    };
  }

  /** All runs of an event; undefined if there are none. */
  event(eventId: string): EventRuns | undefined {
    const related = [...this.#runs.values()].filter((run) => run.eventId === eventId);
    if (related.length === 0) return undefined;
    const runs = related.map((run) => {
      const cause = causeOf(run, related);
      return { ...this.#view(run), causedBy: cause === undefined ? null : String(cause.id) };
    });
    return { eventId, runs };
  }

  /** The event of a run, given by its id or that of its trace; undefined if no run has it. */
  eventOf(id: string): string | undefined {
    if (/^\d{1,15}$/.test(id)) return this.#runs.get(Number(id))?.eventId;
    return [...this.#runs.values()].find((run) => this.traceIdOf(run) === id)?.eventId;
  }

  /** Runs that began or ended since, the oldest first; `isComplete` if none of them was dropped in the meantime. */
  changedSince(revision: number): { readonly runs: readonly RunView[]; readonly isComplete: boolean } {
    // Runs in progress are kept, however old their change is.
    const oldest = this.#revision - this.#changes.length;
    const ids = [...new Set(this.#changes.slice(Math.max(0, revision - oldest)))].sort((a, b) => a - b);
    const runs = ids.flatMap((id) => this.#runs.get(id) ?? []).map((run) => this.#view(run));
    return { runs, isComplete: Math.max(this.#forgotten, oldest) <= revision };
  }

  /** The last runs of each module, also of those that are forgotten: letters for their results, the oldest first, and the last one. */
  byModule(): ReadonlyMap<string, ModuleRuns> {
    return this.#modules;
  }

  #noteChange(run: JournalRun): void {
    this.#revision += 1;
    run.revision = this.#revision;
    this.#changes.push(run.id);
    // A run has two.
    const kept = 2 * this.#limits.runs;
    if (this.#changes.length > 2 * kept) this.#changes = this.#changes.slice(-kept);
  }

  /** Results of modules are kept apart, so the list of modules shows them after runs were dropped. */
  #noteModuleRun(run: JournalRun): void {
    const { type, module } = run;
    const last = type === 'ModuleRun' ? lastRunOf(run) : null;
    if (last === null || last.result === 'repeat' || last.result === 'skipped') return;
    const recent = `${this.#modules.get(module)?.recent ?? ''}${last.result.charAt(0)}`;
    this.#modules.set(module, { last, recent: recent.slice(-SHOWN_RESULTS) });
  }

  #effects(run: JournalRun, causes: ReadonlyMap<JournalRun, JournalRun | undefined>): readonly RunEffect[] {
    const led = new Set([run]);
    const effects: RunEffect[] = [];
    // Causes are older than what they lead to.
    for (const [other, cause] of causes) {
      if (cause === undefined || !led.has(cause)) continue;
      led.add(other);
      effects.push({ ...this.#view(other), causedBy: String(cause.id) });
    }
    return effects;
  }

  #add(start: RunStart, parent: number | undefined): JournalRun {
    this.#lastId += 1;
    this.#reserveIds();
    const startedMs = this.#clock.steadyMs();
    const { eventId, eventMs = startedMs } = start;
    // Retries after a long back-off would stretch the trace of the event over hours.
    const ownKey = startedMs - eventMs > TRACE_MS ? `${eventId}/${this.#lastId}` : eventId;
    const attempt = parent === undefined ? undefined : this.#runs.get(parent);
    const run: JournalRun = {
      ...start,
      id: this.#lastId,
      parent,
      traceKey: attempt?.traceKey ?? ownKey,
      traceId: attempt?.traceId,
      bootId: undefined,
      startedMs,
      startedAtMs: this.#clock.wallMs(),
      revision: 0,
      endedMs: undefined,
      end: undefined,
      hookFacts: undefined,
      phases: [],
      output: undefined,
      spans: undefined,
    };
    this.#runs.set(run.id, run);
    this.#noteChange(run);
    this.#sizes.runs += RUN_SIZE;
    return run;
  }

  /** A run in progress is not in the file. Without a reserve a later start would give its id to another run. */
  #reserveIds(): void {
    if (this.#lastId + RESERVED_IDS / 2 <= this.#reservedId) return;
    this.#reservedId = this.#lastId + RESERVED_IDS;
    this.#file?.append(storedIds(this.#reservedId));
  }

  /** Adds a run of an earlier start. It is no change: readers get it with their first list. */
  #restore(run: JournalRun): void {
    this.#runs.set(run.id, run);
    this.#sizes.runs += sizeOf(run);
    if (run.output !== undefined) this.#keepOutput(run, run.output);
    this.#noteModuleRun(run);
    this.#shorten();
  }

  /** Drops the outputs of the oldest runs first; the runs themselves stay. */
  #keepOutput(run: JournalRun, output: OutputBuffer): void {
    this.#withOutput.add(run);
    this.#sizes.outputs += output.kept;
    for (const oldest of this.#withOutput) {
      if (this.#sizes.outputs <= this.#limits.outputCharacters) return;
      this.#dropOutput(oldest);
    }
  }

  #dropOutput(run: JournalRun): void {
    if (!this.#withOutput.delete(run)) return;
    this.#sizes.outputs -= run.output?.kept ?? 0;
    run.output = undefined;
  }

  /** Drops the oldest runs that have ended. */
  #shorten(): void {
    for (const run of this.#runs.values()) {
      const { runs, runCharacters } = this.#limits;
      // A map iterates in the order of insertion, so the oldest run comes first.
      if (this.#runs.size <= runs && this.#sizes.runs <= runCharacters) return;
      if (run.endedMs === undefined) continue;
      this.#runs.delete(run.id);
      this.#forgotten = Math.max(this.#forgotten, run.revision);
      this.#dropOutput(run);
      this.#sizes.runs -= sizeOf(run);
    }
  }

  #view(run: JournalRun): RunView {
    const { startedMs, startedAtMs, endedMs, queuedMs, hookFacts, end } = run;
    const durationMs = (endedMs ?? this.#clock.steadyMs()) - startedMs;
    const waitMs = Math.max(0, startedMs - queuedMs);
    return {
      id: String(run.id),
      isOfEarlierStart: run.bootId !== undefined,
      parent: run.parent === undefined ? null : String(run.parent),
      eventId: run.eventId,
      traceId: this.traceIdOf(run),
      queue: run.queue,
      taskId: run.taskId,
      type: run.type,
      module: run.module,
      hook: run.hook,
      binding: run.binding,
      bindings: hookFacts?.bindings ?? [],
      trigger: run.trigger,
      triggeredBy: run.triggeredBy ?? null,
      attempt: run.attempt,
      queuedAt: isoTime(startedAtMs - waitMs),
      startedAt: isoTime(startedAtMs),
      endedAt: endedMs === undefined ? null : isoTime(startedAtMs + durationMs),
      waitMs: roundedMs(waitMs),
      durationMs: roundedMs(durationMs),
      result: end?.result ?? 'running',
      error: end?.error ?? '',
      code: end?.code ?? '',
      exitCode: hookFacts?.exitCode ?? null,
      signal: hookFacts?.signal ?? '',
      cpuMs: hookFacts?.cpuMs ?? null,
      maxRssBytes: hookFacts?.maxRssBytes ?? null,
      contexts: hookFacts?.contexts ?? 0,
      phases: phasesOf(run, startedMs + durationMs),
      patches: hookFacts?.patches ?? NO_PATCHES,
      command: hookFacts?.command ?? '',
      outputLength: run.output?.total ?? 0,
    };
  }
}

/** Memory of a run without its output, in characters. */
function sizeOf({ end, hookFacts, phases }: JournalRun): number {
  const characters = (end?.error?.length ?? 0) + (hookFacts?.command.length ?? 0);
  return RUN_SIZE + characters + phases.length * PHASE_SIZE;
}

function endSpans(run: JournalRun, { result, error, code }: RunEnd): void {
  const { spans, endedMs } = run;
  if (spans === undefined) return;
  run.spans = undefined;
  const end = { ...(endedMs !== undefined && { endMs: endedMs }), ...(error !== undefined && { error }) };
  spans.phase?.end(end);
  spans.run.set({ 'addon_operator.task.outcome': result, 'error.type': code });
  spans.run.end(end);
}

function lastRunOf({ startedAtMs, startedMs, endedMs, end }: JournalRun): LastRunView | null {
  if (end === undefined || endedMs === undefined) return null;
  const durationMs = roundedMs(endedMs - startedMs);
  return { startedAt: isoTime(startedAtMs), durationMs, result: end.result };
}

function phasesOf({ phases }: JournalRun, endMs: number): RunView['phases'] {
  return phases.map(({ name, startedMs }, index) => ({
    name,
    ms: roundedMs((phases[index + 1]?.startedMs ?? endMs) - startedMs),
  }));
}

/** The runs that led to a run, the first one first. */
function chainTo(
  run: JournalRun,
  causes: ReadonlyMap<JournalRun, JournalRun | undefined>,
): readonly JournalRun[] {
  const chain: JournalRun[] = [];
  for (let cause = causes.get(run); cause !== undefined; cause = causes.get(cause)) chain.unshift(cause);
  return chain;
}

function matches(
  run: JournalRun,
  { module, hook, queue, type, result, event, sinceMs }: Omit<RunQuery, 'limit'>,
): boolean {
  return (
    (module === undefined || run.module === module) &&
    (hook === undefined || run.hook === hook || `${run.module}/${run.hook}` === hook) &&
    (queue === undefined || run.queue === queue || run.queue.startsWith(`${queue}[`)) &&
    (type === undefined || run.type === type) &&
    (event === undefined || run.eventId === event) &&
    (sinceMs === undefined || endedAtMs(run) >= sinceMs) &&
    (result === undefined || (run.end?.result ?? 'running') === result)
  );
}

/** On the wall clock; without an end for a run in progress. */
function endedAtMs({ startedAtMs, startedMs, endedMs = Number.POSITIVE_INFINITY }: JournalRun): number {
  return startedAtMs + endedMs - startedMs;
}

/** Programs print the reason for their failure last, and what they were about first. */
function shortened(message: string): string {
  if (message.length <= MAX_ERROR_CHARACTERS) return message;
  const half = MAX_ERROR_CHARACTERS / 2;
  return `${message.slice(0, half - 1)}…${message.slice(-half)}`;
}
