// The main process's side of a process with script threads. It numbers the threads, sends requests by IPC or
// over their line, and passes what they reply to their `ScriptWorker`. A request follows the same way as the
// work it belongs to, so that messages never overtake each other. When the process dies, every thread gets
// `host-gone` with the reason.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LineSplitter } from '@addon-operator/process/line-splitter';
import { OutputTail } from '@addon-operator/process/output-ends';
import type { HostReply, HostRequest, StartRequest, WorkerReply } from './host-protocol.ts';
import { WorkerLines } from './worker-lines.ts';

const SOURCE_PROGRAM = new URL('./host-main.ts', import.meta.url);
const NODE_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
];
const STDERR_TAIL_BYTES = 16 * 1024;
const MIB = 1024 * 1024;

export interface HostProcessOptions {
  /** Environment of the scripts. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How large the heap of one worker may get. */
  readonly heapLimitBytes: number;
  /** The file of `host-main`, where it is built. Default: its source. */
  readonly program?: URL;
  /** Code of these directories is no place of a failure: it does not help an author. Each ends with a slash. */
  readonly ownDirectories: readonly string[];
  /** Called with each line that a script writes past its thread, such as by a descriptor. */
  readonly onStrayLine: (line: string) => void;
}

/** An event of a worker, as the main process sees it. */
export type WorkerEvent =
  | WorkerReply
  | { readonly type: 'exited'; readonly reason: string }
  /** The process is gone with all workers; `wasAlone`: no other worker was running. */
  | { readonly type: 'host-gone'; readonly reason: string; readonly wasAlone: boolean };

interface WorkerEntry {
  readonly onEvent: (event: WorkerEvent) => void;
  readonly isBusy: () => boolean;
}

interface HostWorker extends WorkerEntry {
  /** Whether the present work went over the line of the worker: what belongs to it must not overtake it. */
  usesLine: boolean;
  /** Why its thread has ended. */
  exitReason: string | undefined;
}

/**
 * One process that runs workers. Not the main process itself: V8 aborts the whole process when a single allocation of a worker
 * exceeds its heap limit, and a growing Map is enough for that.
 */
export class HostProcess {
  readonly #child: ChildProcess;
  readonly #heapLimitBytes: number;
  readonly #workers = new Map<number, HostWorker>();
  readonly #lines: WorkerLines;
  readonly #gone = Promise.withResolvers<void>();
  #lastWorker = 0;
  #isGone = false;
  #reason: string | undefined;

  constructor({ env, cwd, heapLimitBytes, program, ownDirectories, onStrayLine }: HostProcessOptions) {
    this.#heapLimitBytes = heapLimitBytes;
    this.#lines = new WorkerLines({
      onReply: (worker, reply) => this.#workers.get(worker)?.onEvent(reply),
      onClosed: (worker) => this.#onLineClosed(worker),
    });
    // A group of its own: a Ctrl-C in the terminal reaches the main process alone, and what scripts start ends with them.
    this.#child = fork(
      fileURLToPath(program ?? SOURCE_PROGRAM),
      [String(heapLimitBytes), ...ownDirectories],
      {
        env,
        cwd,
        detached: true,
        execArgv: NODE_FLAGS,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const lines = new LineSplitter(onStrayLine);
    const errors = new OutputTail(STDERR_TAIL_BYTES);
    this.#child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
    this.#child.on('message', (reply: HostReply) => this.#onReply(reply));
    this.#child.on('error', (error) => {
      this.#reason ??= `its process cannot be started: ${error.message}`;
      // If no process or file can be created there is no process, and no other event reports it.
      if (this.#child.pid === undefined) this.#onGone(this.#reason);
    });
    // What scripts have started holds the pipes open.
    this.#child.on('exit', () => this.#killGroup());
    this.#child.on('close', (code, signal) => {
      const end = signal === null ? `exit code ${code}` : signal;
      const onGone = (): void => this.#onGone(this.#reason ?? reasonOf(errors.toString(), end));
      if (this.#child.connected) this.#child.once('disconnect', onGone);
      else onGone();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether it takes no more work: it is gone, or about to be. */
  get isEnding(): boolean {
    return this.#isGone || this.#reason !== undefined;
  }

  /** Makes room for a worker, and returns its number. */
  add(entry: WorkerEntry): number {
    this.#lastWorker += 1;
    this.#workers.set(this.#lastWorker, { ...entry, usesLine: false, exitReason: undefined });
    return this.#lastWorker;
  }

  send(request: HostRequest): void {
    if (request.type === 'start') return this.#sendToHost(this.#withLine(request));
    if (request.type === 'deadline' || request.type === 'end') return this.#sendToHost(request);
    const worker = this.#workers.get(request.worker);
    if (worker === undefined) return;
    if (request.type === 'run' || request.type === 'call') worker.usesLine = this.#lines.has(request.worker);
    if (worker.usesLine) this.#lines.send(request.worker, request);
    else this.#sendToHost(request);
  }

  /** Adds the address of the line, where lines are available. */
  #withLine(request: StartRequest): StartRequest {
    const { address } = this.#lines;
    return address === undefined ? request : { ...request, line: address };
  }

  #sendToHost(request: HostRequest): void {
    // The close event reports a process that has died.
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }

  /** Ends the process, its workers and whatever they have started; resolves when it is gone. */
  kill(reason: string): Promise<void> {
    this.#reason ??= reason;
    this.#killGroup();
    return this.#gone.promise;
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isGone) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  }

  #onReply(reply: HostReply): void {
    switch (reply.type) {
      case 'worker':
        return this.#workers.get(reply.worker)?.onEvent(reply.reply);
      case 'exited': {
        const worker = this.#workers.get(reply.worker);
        if (worker !== undefined) worker.exitReason = reply.reason;
        // Its last words may still be on the line.
        if (!this.#lines.has(reply.worker)) this.#onExited(reply.worker);
        return;
      }
      case 'over-limit':
        this.#reason ??= `it exceeded its memory limit (${(2 * this.#heapLimitBytes) / MIB} MiB, buffers included)`;
    }
  }

  /** A thread whose line is closed ends, if it has not yet. */
  #onLineClosed(number: number): void {
    if (this.#workers.get(number)?.exitReason !== undefined) this.#onExited(number);
  }

  #onExited(number: number): void {
    const worker = this.#workers.get(number);
    this.#workers.delete(number);
    worker?.onEvent({ type: 'exited', reason: worker.exitReason ?? 'its thread has ended' });
  }

  #onGone(reason: string): void {
    this.#isGone = true;
    this.#lines.close();
    const wasAlone = [...this.#workers.values()].filter((worker) => worker.isBusy()).length <= 1;
    for (const { onEvent } of this.#workers.values()) onEvent({ type: 'host-gone', reason, wasAlone });
    this.#workers.clear();
    this.#gone.resolve();
  }
}

/** The reason in the error output of Node, whose last lines name an exhausted heap. */
function reasonOf(stderr: string, end: string): string {
  if (stderr.includes('out of memory')) return 'it exceeded its memory limit';
  const said = stderr.trim();
  return `it crashed its process (${end})${said === '' ? '' : `: ${said}`}`;
}
