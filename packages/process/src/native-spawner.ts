// Spawner of the launcher on Linux: posix_spawn with two pipes, read by the poll loop. The exit of a process
// is noticed by its pidfd, or on kernels before 5.3 by polling. A run ends when the process has exited and
// its pipes are read to the end; a background child that holds a pipe open makes the launcher report
// `exited`, and the daemon decides how long to wait. The rest of the group is killed at the end.

import { constants as fsConstants, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { ProcessEnd, SpawnRequest } from './launcher-protocol.ts';
import type { Libc, LibcExit, LibcFailure } from './native-libc.ts';
import type { PollLoop, Watch } from './poll-loop.ts';
import type { OutputStream } from './process-runner.ts';
import { SpawnError, type SpawnedProcess, type Spawner, type SpawnListener } from './spawner.ts';

/** How often to check whether a process has exited, where the kernel does not report it. */
const LOOK_MS = 5;
/** Reads for the contents of a pipe and its end. There are no more: a process that still holds it may write for ever. */
const READS_AT_EXIT = 2;

/**
 * Spawner over posix_spawn.
 *
 * @param readBuffer takes the output of all processes, one read at a time
 */
export function nativeSpawner(libc: Libc, loop: PollLoop, readBuffer: Buffer): Spawner {
  const nullFd = openSync('/dev/null', fsConstants.O_RDONLY);
  const unwatched = new Set<NativeProcess>();
  let nextLookMs = 0;
  loop.addChore({
    dueMs: () => (unwatched.size > 0 ? nextLookMs : undefined),
    act: () => {
      for (const child of unwatched) if (child.noticeExit()) unwatched.delete(child);
      nextLookMs = loop.steadyMs() + LOOK_MS;
    },
  });
  return (executable, request, listener) => {
    const stdout = openPipe(libc, []);
    const stderr = openPipe(libc, [stdout.readFd, stdout.writeFd]);
    const pid = libc.spawn(spawnOf(executable, request, nullFd, stdout.writeFd, stderr.writeFd));
    libc.close(stdout.writeFd);
    libc.close(stderr.writeFd);
    if (typeof pid !== 'number') {
      libc.close(stdout.readFd);
      libc.close(stderr.readFd);
      throw new SpawnError(pid.code);
    }
    const child = new NativeProcess(pid, { libc, loop, listener, readBuffer });
    child.read('stdout', stdout.readFd);
    child.read('stderr', stderr.readFd);
    if (!child.watchExit()) unwatched.add(child);
    return child;
  };
}

/** A pipe; if there is none, closes those that were opened before. Throws SpawnError. */
function openPipe(libc: Libc, closeOnFailure: readonly number[]): { readFd: number; writeFd: number } {
  const pipe = libc.pipe();
  if (!isFailure(pipe)) return pipe;
  for (const fd of closeOnFailure) libc.close(fd);
  throw new SpawnError(pipe.code);
}

function isFailure(value: object): value is LibcFailure {
  return 'code' in value;
}

/** The request in the form of the native call. */
function spawnOf(
  executable: string,
  request: SpawnRequest,
  stdinFd: number,
  stdoutFd: number,
  stderrFd: number,
) {
  return { executable, args: request.args, cwd: request.cwd, env: request.env, stdinFd, stdoutFd, stderrFd };
}

interface NativeProcessOptions {
  readonly libc: Libc;
  readonly loop: PollLoop;
  readonly listener: SpawnListener;
  readonly readBuffer: Buffer;
}

/** One output stream that has not ended. */
interface OpenPipe {
  readonly stream: OutputStream;
  readonly fd: number;
  readonly watch: Watch;
}

/**
 * A child that is reaped only at the end of its run: until then its pid, which is the name of its group, cannot be
 * given to another process, so a late signal never hits a stranger.
 */
class NativeProcess implements SpawnedProcess {
  readonly pid: number;
  readonly #options: NativeProcessOptions;
  readonly #pipes = new Set<OpenPipe>();
  readonly #isReadable = new Int32Array(2);
  #state: 'running' | 'exited' | 'ended' = 'running';

  constructor(pid: number, options: NativeProcessOptions) {
    this.pid = pid;
    this.#options = options;
  }

  /** Reads a stream whenever the loop finds it readable. */
  read(stream: OutputStream, fd: number): void {
    const watch = this.#options.loop.watch(fd, () => {
      this.#readOnce(pipe);
      this.#endWhenComplete();
    });
    const pipe: OpenPipe = { stream, fd, watch };
    this.#pipes.add(pipe);
  }

  /** Whether its exit will be noticed by itself; else `noticeExit` is to be called again and again. */
  watchExit(): boolean {
    const { libc, loop } = this.#options;
    const fd = libc.openProcess(this.pid);
    if (fd === undefined) return false;
    const watch = loop.watch(fd, () => {
      watch.stop();
      libc.close(fd);
      this.noticeExit();
    });
    return true;
  }

  /** Whether the process has exited. */
  noticeExit(): boolean {
    if (this.#state !== 'running') return true;
    if (!this.#options.libc.hasExited(this.pid)) return false;
    this.#state = 'exited';
    // What the process wrote last, and the end of its pipes, is there by now.
    for (const pipe of this.#pipes)
      for (let reads = 0; reads < READS_AT_EXIT && this.#hasMore(pipe); reads += 1) this.#readOnce(pipe);
    this.#endWhenComplete();
    if (this.#state === 'exited') this.#options.listener.onExit();
    return true;
  }

  signal(signalNumber: number): void {
    if (this.#state !== 'ended') this.#options.libc.killGroup(this.pid, signalNumber);
  }

  finish(): void {
    if (this.#state !== 'exited') return;
    for (const pipe of this.#pipes) this.#close(pipe);
    this.#end();
  }

  /** Whether a read would return at once. */
  #hasMore(pipe: OpenPipe): boolean {
    if (!this.#pipes.has(pipe)) return false;
    this.#isReadable.set([pipe.fd, 1]);
    return this.#options.libc.poll(this.#isReadable, 1, 0) > 0;
  }

  /** One read: output, or the end of the pipe. */
  #readOnce(pipe: OpenPipe): void {
    const { libc, listener, readBuffer } = this.#options;
    const bytes = libc.read(pipe.fd, readBuffer);
    if (bytes > 0) listener.onOutput(pipe.stream, readBuffer.subarray(0, bytes));
    // A pipe that cannot be read any more has ended; there is nothing else to do about it.
    else this.#close(pipe);
  }

  #close(pipe: OpenPipe): void {
    this.#pipes.delete(pipe);
    pipe.watch.stop();
    this.#options.libc.close(pipe.fd);
  }

  /** Ends the run once the process has exited and every pipe has ended. */
  #endWhenComplete(): void {
    if (this.#state === 'exited' && this.#pipes.size === 0) this.#end();
  }

  /** Kills the rest of the group, reaps the process, which frees its pid, and reports the end. */
  #end(): void {
    const { libc, listener } = this.#options;
    this.#state = 'ended';
    libc.killGroup(this.pid, constants.signals.SIGKILL);
    listener.onEnd(processEnd(libc.reap(this.pid)));
  }
}

/** The status word of wait(2): the low seven bits are the signal, the next byte is the exit code. */
function processEnd({ status, ...usage }: LibcExit): ProcessEnd {
  const signal = status & 0x7f;
  return { exit: signal === 0 ? { code: (status >> 8) & 0xff } : { signal }, usage };
}
