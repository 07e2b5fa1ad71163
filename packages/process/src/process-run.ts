// One run as the daemon sees it: `launcher.ts` creates it, passes it the frames of its number and waits for
// `response()`. It splits output into lines, keeps the ends of stdout and stderr, and asks for signals: TERM
// to the group at the time limit or on abort, KILL after the grace. The clock of the limit starts with the
// first sign of the process.

import { constants } from 'node:os';
import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import {
  encodeFrame,
  FRAME_KINDS,
  type ProcessEnd,
  type SpawnFailure,
  type StartedProcess,
} from './launcher-protocol.ts';
import { LineSplitter } from './line-splitter.ts';
import { killGroupOf } from './marked-processes.ts';
import { OutputHead, OutputTail } from './output-ends.ts';
import type {
  EscapedProcesses,
  OutputStream,
  ProcessOutcome,
  ProcessResult,
  ProcessSpec,
} from './process-runner.ts';

const STDERR_START_BYTES = 8 * 1024;
const STDERR_TAIL_BYTES = 64 * 1024;
/** How long the pipes of a process that has exited may stay open, in milliseconds. */
const PIPE_GRACE_MS = 1_000;
/** Reason with which timers are aborted; without it Node would create an error with a stack for every run. */
const ENDED = 'the run has ended';

/** How one attempt to run a process ended. */
export type RunResponse =
  | { readonly type: 'ended'; readonly result: ProcessResult }
  | { readonly type: 'not-spawned'; readonly failure: SpawnFailure };

/** One run, seen from the daemon: collects its output and sets its limits of time. */
export class ProcessRun {
  readonly #id: number;
  readonly #spec: ProcessSpec;
  readonly #clock: SteadyClock;
  readonly #signal: AbortSignal;
  readonly #send: (frame: Buffer) => void;
  readonly #startedAtMs: number;
  readonly #response = Promise.withResolvers<RunResponse>();
  /** Ends timers; most runs need none. */
  #ended: AbortController | undefined;
  readonly #splitters: Readonly<Record<OutputStream, LineSplitter>> | undefined;
  readonly #head: OutputHead;
  readonly #start = new OutputHead(STDERR_START_BYTES);
  readonly #tail = new OutputTail(STDERR_TAIL_BYTES);
  #leftLineBytes: number;
  #droppedBytes = 0;
  /** Streams of which bytes were dropped. */
  readonly #cut = new Set<OutputStream>();
  #process: StartedProcess | undefined;
  #isLimited = false;
  #isStopping = false;
  #isTimedOut = false;

  constructor(id: number, options: ProcessRunOptions) {
    const { spec, clock, signal, send } = options;
    this.#id = id;
    this.#spec = spec;
    this.#clock = clock;
    this.#signal = signal;
    this.#send = send;
    this.#startedAtMs = clock.steadyMs();
    this.#head = new OutputHead(spec.captureStdoutBytes ?? 0);
    this.#leftLineBytes = spec.maxLineBytes ?? Number.POSITIVE_INFINITY;
    const { onLine } = spec;
    if (onLine !== undefined) {
      this.#splitters = {
        stdout: new LineSplitter((line) => onLine('stdout', line)),
        stderr: new LineSplitter((line) => onLine('stderr', line)),
      };
    }
  }

  /** Resolves when the process is gone, or could not be started; rejects only when the launcher is lost. */
  async response(): Promise<RunResponse> {
    const onAbort = (): void => this.#stop();
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await this.#response.promise;
    } finally {
      this.#signal.removeEventListener('abort', onAbort);
      this.#ended?.abort(ENDED);
    }
  }

  /** The process exists and has lasted a few milliseconds. */
  onStarted(started: StartedProcess): void {
    this.#process = started;
    this.#spec.onStart?.(started.pid);
    this.#limitTime();
  }

  /** A piece of output; its memory is reused after the call. */
  onOutput(stream: OutputStream, bytes: Buffer): void {
    this.#limitTime();
    if (stream === 'stdout') this.#head.push(bytes);
    else {
      this.#start.push(bytes);
      this.#tail.push(bytes);
    }
    if (this.#splitters === undefined) return;
    const kept = bytes.subarray(0, this.#leftLineBytes);
    this.#leftLineBytes -= kept.length;
    this.#droppedBytes += bytes.length - kept.length;
    if (kept.length < bytes.length) this.#cut.add(stream);
    this.#splitters[stream].push(kept);
  }

  /**
   * The process has exited, but something holds its pipes: after a grace the launcher stops waiting for them.
   */
  onExited(): void {
    this.#after(PIPE_GRACE_MS, () => this.#send(encodeFrame(FRAME_KINDS.finish, this.#id)));
  }

  /** The number of its process, which is that of its group; undefined before it is there. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  onEscaped(escaped: EscapedProcesses): void {
    this.#spec.onEscaped?.(escaped);
  }

  /** The last frame of a run that was spawned. */
  onDone(end: ProcessEnd): void {
    if (end.escaped !== undefined) this.onEscaped(end.escaped);
    this.#splitters?.stdout.end(this.#cut.has('stdout'));
    this.#splitters?.stderr.end(this.#cut.has('stderr'));
    this.#response.resolve({
      type: 'ended',
      result: {
        outcome: this.#outcome(end),
        stdout: this.#head.toString(),
        isStdoutTruncated: this.#head.isTruncated,
        ...(this.#droppedBytes > 0 && { droppedBytes: this.#droppedBytes }),
        stderr: this.#tail.toString(),
        ...(this.#tail.isTruncated && { stderrStart: this.#start.toString() }),
        ...(end.usage !== undefined && { usage: end.usage }),
        durationMs: this.#clock.steadyMs() - this.#startedAtMs,
      },
    });
  }

  /** The only frame of a run that was not spawned. */
  onFailed(failure: SpawnFailure): void {
    this.#response.resolve({ type: 'not-spawned', failure });
  }

  /** The launcher is gone: kills the group, which would otherwise continue unseen. */
  onLost(error: OperatorError): void {
    if (this.#process !== undefined) killGroupOf(this.#process.pid, this.#process.start);
    this.#response.reject(error);
  }

  /** A process that was ended for its time limit counts as timed out, regardless of its exit code. */
  #outcome({ exit }: ProcessEnd): ProcessOutcome {
    const { timeoutMs } = this.#spec;
    if (this.#isTimedOut && timeoutMs !== undefined) return { type: 'timed-out', timeoutMs };
    if ('code' in exit) return { type: 'exited', exitCode: exit.code };
    return { type: 'signalled', signal: signalName(exit.signal) };
  }

  /** From the first sign of the process: a start is reported late, and not at all when the process ends at once. */
  #limitTime(): void {
    const { timeoutMs } = this.#spec;
    if (timeoutMs === undefined || this.#isLimited) return;
    this.#isLimited = true;
    this.#after(timeoutMs, () => {
      this.#isTimedOut = true;
      this.#stop();
    });
  }

  /** TERM to the group, and KILL after the grace. Further calls do nothing. */
  #stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#signalGroup(constants.signals.SIGTERM);
    this.#after(this.#spec.graceMs, () => this.#signalGroup(constants.signals.SIGKILL));
  }

  /** Asks the launcher, since it knows whether the process was reaped. */
  #signalGroup(signalNumber: number): void {
    this.#send(encodeFrame(FRAME_KINDS.signal, this.#id, Uint8Array.of(signalNumber)));
  }

  /** Acts after a delay, unless the run ends before. */
  #after(delayMs: number, act: () => void): void {
    this.#ended ??= new AbortController();
    this.#clock.sleep(delayMs, this.#ended.signal).then(act, () => undefined);
  }
}

export interface ProcessRunOptions {
  readonly spec: ProcessSpec;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  /** Sends a frame to the launcher that has this run. */
  readonly send: (frame: Buffer) => void;
}

function signalName(signalNumber: number): string {
  for (const [name, value] of Object.entries(constants.signals)) if (value === signalNumber) return name;
  return `signal ${signalNumber}`;
}
