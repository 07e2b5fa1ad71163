// Speaks with one jq process, of either engine. Lines go in, one line per object comes back in the same
// order, so the request at the head of the list owns the next line. A process that dies or takes too long
// fails the head only; the rest is sent to a new process. The callers are `jq-binary.ts` (one process a
// program) and `jq-builtin.ts`.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { OutputTail } from '@addon-operator/process/output-ends';

/** Largest result for one object; a longer one ends the process. The daemon parses it in its own thread. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** About the size of a pipe's buffer. */
const BATCH_CHARACTERS = 64 * 1024;
const STDERR_TAIL_BYTES = 4 * 1024;
const LF = 0x0a;
/** Exit codes of a shell whose program cannot be executed, or is not there. */
const NOT_EXECUTED: ReadonlySet<number | null> = new Set([126, 127]);

/**
 * A shell waits with the process and kills it when fd 3 ends, that is, when the daemon does: a program in an endless
 * loop never sees the end of its input.
 */
const GUARDED = `
  [ -z "$1" ] || ulimit -v "$1" 2>/dev/null
  shift
  exec 4<&0
  "$@" <&4 3<&- 4<&- &
  exec 4<&- 0<&- 1>&-
  read -r _ <&3
  kill -9 $! 2>/dev/null
  wait $!
`;

interface JqProcessOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Limit of its address space, where the system can set it. */
  readonly maxMemoryKiB?: number;
  readonly clock: SteadyClock;
  /** Longest time for one result, in milliseconds, if the request names no other. */
  readonly timeLimitMs: number;
}

interface Child {
  readonly stdin: Writable;
  /** Writes a line, together with others of the same turn: a write for each would cost more than jq's work. */
  readonly send: (line: string) => void;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly shell: ChildProcess;
  /** Ends the process and its shell. */
  kill(): void;
}

interface Request {
  readonly line: string;
  readonly response: PromiseWithResolvers<string>;
  readonly timeLimitMs: number;
  /** When the process began with it: the previous result had come. */
  startedAtMs: number;
}

/**
 * A child process that writes one line of output for each line of input, in order. It is started when needed and
 * again when it dies; a request that it dies of, or that takes too long, fails; those after it are sent again.
 */
export class JqProcess {
  readonly #options: JqProcessOptions;
  #requests: Request[] = [];
  #child: Child | undefined;
  #closed: Promise<void> = Promise.resolve();
  readonly #drained = Promise.withResolvers<void>();
  #watch = new AbortController();
  #isRetired = false;
  #isStopped = false;

  constructor(options: JqProcessOptions) {
    this.#options = options;
  }

  /**
   * The result for one line, both without line end. An abort ends the wait with `signal.reason`, not the work.
   *
   * @param timeLimitMs for this result, in milliseconds; the start of the process counts
   * @throws OperatorError JQ_TIMEOUT, JQ_RUNTIME when the process dies, JQ_UNAVAILABLE when none can be started, ABORTED
   * after {@link stop}
   */
  async query(
    line: string,
    signal: AbortSignal,
    timeLimitMs: number = this.#options.timeLimitMs,
  ): Promise<string> {
    signal.throwIfAborted();
    if (this.#isStopped) throw stopped();
    const request: Request = {
      line,
      response: Promise.withResolvers(),
      timeLimitMs,
      startedAtMs: this.#options.clock.steadyMs(),
    };
    const onAbort = (): void => request.response.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#requests.push(request);
    this.#send(request);
    if (this.#requests.length === 1) this.#watchHead();
    try {
      return await request.response.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the process after its last result; resolves when it is gone. */
  retire(): Promise<void> {
    this.#isRetired = true;
    this.#endIfDone();
    return this.#drained.promise;
  }

  /** Kills the process; open requests fail with ABORTED. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watch.abort();
    for (const request of this.#requests.splice(0)) request.response.reject(stopped());
    this.#child?.kill();
    await this.#closed;
  }

  /** When no process can be started all requests fail: each result belongs to the request at the head. */
  #send(request: Request): void {
    try {
      this.#child ??= this.#start();
    } catch (cause) {
      const error = notStarted(messageOf(cause), cause);
      for (const waiting of this.#requests.splice(0)) waiting.response.reject(error);
      return;
    }
    this.#child.send(request.line);
  }

  /** Starts the process. Its end is handled once, in 'close', when all of its output has been read. */
  #start(): Child {
    const child = spawnGuarded(this.#options);
    const errors = new OutputTail(STDERR_TAIL_BYTES);
    const closed = Promise.withResolvers<void>();
    this.#closed = closed.promise;
    let failure: string | undefined;
    let isStarted = true;
    readResponses(child.stdout, {
      onResponse: (response) => this.#settleHead(child, response),
      onTooLong: () => {
        failure = `its output for one object is larger than ${MAX_RESPONSE_BYTES} bytes`;
        child.kill();
      },
    });
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.shell.on('error', (error) => {
      isStarted = false;
      failure = error.message;
    });
    child.shell.on('close', (code, signal) => {
      closed.resolve();
      const end = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      const reason = failure ?? [end, errors.toString().trim()].filter(Boolean).join(': ');
      this.#onGone(child, reason, isStarted && !NOT_EXECUTED.has(code));
    });
    return child;
  }

  /**
   * The next line answers the request at the head. A process that was given up may still write; its lines are
   * dropped.
   */
  #settleHead(child: Child, response: string): void {
    if (child !== this.#child) return;
    this.#requests.shift()?.response.resolve(response);
    this.#afterHead();
  }

  /** The time of the next request begins now: while it waited the process worked on others. */
  #afterHead(): void {
    const [head] = this.#requests;
    if (head === undefined) this.#watch.abort();
    else head.startedAtMs = this.#options.clock.steadyMs();
    this.#endIfDone();
  }

  /** The end of the current process; that of one that was given up has no meaning. */
  #onGone(child: Child, reason: string, isStarted: boolean): void {
    if (child !== this.#child) return;
    const died = (): OperatorError =>
      new OperatorError('JQ_RUNTIME', `The jq process did not respond: ${reason}`);
    this.#failHead(isStarted ? died() : notStarted(reason));
  }

  /** Fails the request at the head and ends its process; the others are sent to a new one. */
  #failHead(error: OperatorError): void {
    this.#child?.kill();
    this.#child = undefined;
    this.#requests.shift()?.response.reject(error);
    for (const request of this.#requests) this.#send(request);
    this.#afterHead();
  }

  /** Watches the time of whatever is at the head, until nothing is. */
  #watchHead(): void {
    const { clock, timeLimitMs } = this.#options;
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    const check = (): void => {
      const [head] = this.#requests;
      if (signal.aborted || head === undefined) return;
      const leftMs = head.startedAtMs + head.timeLimitMs - clock.steadyMs();
      // In the meantime another may become the head, which has less time.
      if (leftMs > 0) return wait(Math.min(leftMs, timeLimitMs));
      const message = `jq took longer than ${head.timeLimitMs} ms for one object`;
      this.#failHead(new OperatorError('JQ_TIMEOUT', message));
      check();
    };
    const wait = (delayMs: number): void => {
      clock.sleep(delayMs, signal).then(check, () => undefined);
    };
    wait(timeLimitMs);
  }

  /** A retired process ends when its input does. */
  #endIfDone(): void {
    if (!this.#isRetired || this.#requests.length > 0) return;
    this.#child?.stdin.end();
    this.#drained.resolve(this.#closed);
  }
}

function notStarted(reason: string, cause?: unknown): OperatorError {
  return new OperatorError('JQ_UNAVAILABLE', `The jq process cannot be started: ${reason}`, { cause });
}

/**
 * Starts the process under a shell. stdio 3 is the lifeline: the kernel closes it when the daemon dies,
 * however it dies.
 */
function spawnGuarded({ file, args, maxMemoryKiB }: JqProcessOptions): Child {
  // In a session of its own a Ctrl-C in the terminal reaches the daemon alone.
  const shell = spawn('/bin/sh', ['-c', GUARDED, 'sh', String(maxMemoryKiB ?? ''), file, ...args], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  // Without a file descriptor left it has no streams, and says why only afterwards.
  shell.on('error', () => undefined);
  const { stdin, stdout, stderr } = shell;
  if (!stdin || !stdout || !stderr)
    throw new OperatorError(
      'JQ_RUNTIME',
      'the system provides no pipes; it may have no file descriptors left',
    );
  const [, , , lifeline] = shell.stdio;
  stdout.on('end', () => lifeline?.destroy());
  // Writing to a process that has died fails; 'close' reports that it has died.
  stdin.on('error', () => undefined);
  lifeline?.on('error', () => undefined);
  return { stdin, send: lineSender(stdin), stdout, stderr, shell, kill: () => killGroup(shell.pid) };
}

/** Collects the lines of one turn of the event loop into one write. */
function lineSender(stdin: Writable): (line: string) => void {
  let batch = '';
  const flush = (): void => {
    if (batch !== '') stdin.write(batch);
    batch = '';
  };
  return (line) => {
    if (batch === '') queueMicrotask(flush);
    batch += `${line}\n`;
    // The process can begin while more lines are being made.
    if (batch.length >= BATCH_CHARACTERS) flush();
  };
}

/** The shell leads a process group, and the signal reaches the process in it as well. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left of the group.
  }
}

interface ResponseListener {
  readonly onResponse: (response: string) => void;
  readonly onTooLong: () => void;
}

/** Splits output into lines by bytes; a line is decoded only when it is complete. */
function readResponses(stdout: Readable, { onResponse, onTooLong }: ResponseListener): void {
  let parts: Buffer[] = [];
  let partBytes = 0;
  stdout.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (parts.length === 0) {
        onResponse(chunk.toString('utf8', start, end));
      } else {
        parts.push(chunk.subarray(start, end));
        onResponse(Buffer.concat(parts).toString());
        parts = [];
      }
      partBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    partBytes += chunk.length - start;
    if (partBytes > MAX_RESPONSE_BYTES) onTooLong();
  });
}

/** The error of requests after {@link JqProcess.stop}. */
function stopped(): OperatorError {
  return new OperatorError('ABORTED', 'The jq engine has been stopped');
}
