import { constants as fsConstants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { ProcessEnd, SpawnRequest } from './launcher-protocol.ts';
import type { Libc, LibcExit, LibcFailure } from './native-libc.ts';
import type { OutputStream } from './process-runner.ts';
import { SpawnError, type SpawnedProcess, type Spawner, type SpawnListener } from './spawner.ts';

/**
 * Spawner over posix_spawn.
 *
 * @param readBuffer takes the output of all processes, one read at a time
 * @param onExits called when children have died; `isKnown` says whether one of this spawner is among them
 */
export function nativeSpawner(
  libc: Libc,
  readBuffer: Buffer,
  onExits: (isKnown: boolean) => void = () => undefined,
): Spawner {
  const nullFd = openSync('/dev/null', fsConstants.O_RDONLY);
  const running = new Set<NativeProcess>();
  process.on('SIGCHLD', () => {
    let isKnown = false;
    for (const child of running) isKnown = child.noticeExit() || isKnown;
    onExits(isKnown);
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
    const child = new NativeProcess(libc, pid, listener, () => running.delete(child));
    running.add(child);
    child.read('stdout', stdout.readFd, readBuffer);
    child.read('stderr', stderr.readFd, readBuffer);
    return child;
  };
}

function openPipe(libc: Libc, closeOnFailure: readonly number[]): { readFd: number; writeFd: number } {
  const pipe = libc.pipe();
  if (!isFailure(pipe)) return pipe;
  for (const fd of closeOnFailure) libc.close(fd);
  throw new SpawnError(pipe.code);
}

function isFailure(value: object): value is LibcFailure {
  return 'code' in value;
}

function spawnOf(
  executable: string,
  request: SpawnRequest,
  stdinFd: number,
  stdoutFd: number,
  stderrFd: number,
) {
  return { executable, args: request.args, cwd: request.cwd, env: request.env, stdinFd, stdoutFd, stderrFd };
}

/**
 * A child that is reaped only at the end of its run: until then its pid, which is the name of its group, cannot be
 * given to another process, so a late signal never hits a stranger.
 */
class NativeProcess implements SpawnedProcess {
  readonly pid: number;
  readonly #libc: Libc;
  readonly #listener: SpawnListener;
  readonly #onEnd: () => void;
  readonly #pipes = new Set<Socket>();
  #state: 'running' | 'exited' | 'ended' = 'running';

  constructor(libc: Libc, pid: number, listener: SpawnListener, onEnd: () => void) {
    this.#libc = libc;
    this.pid = pid;
    this.#listener = listener;
    this.#onEnd = onEnd;
  }

  read(stream: OutputStream, fd: number, buffer: Buffer): void {
    const onread = {
      buffer,
      callback: (bytes: number): boolean => {
        if (this.#state !== 'ended') this.#listener.onOutput(stream, buffer.subarray(0, bytes));
        return true;
      },
    };
    const pipe = new Socket({ fd, readable: true, writable: false, onread });
    this.#pipes.add(pipe);
    // A pipe that cannot be read any more has ended; there is nothing else to do about it.
    pipe.on('error', () => undefined);
    const onPipeEnd = (): void => {
      this.#pipes.delete(pipe);
      this.#endWhenComplete();
    };
    // Not 'close' alone: it comes one iteration of the event loop after 'end'.
    pipe.on('end', onPipeEnd);
    pipe.on('close', onPipeEnd);
    pipe.resume();
  }

  /** Whether the process has exited since the last call. */
  noticeExit(): boolean {
    if (this.#state !== 'running' || !this.#libc.hasExited(this.pid)) return false;
    this.#state = 'exited';
    this.#endWhenComplete();
    // What the process wrote last, and the end of its pipes, is read in the same iteration of the event loop.
    setImmediate(() => {
      if (this.#state === 'exited') this.#listener.onExit();
    });
    return true;
  }

  signal(signalNumber: number): void {
    if (this.#state !== 'ended') this.#libc.killGroup(this.pid, signalNumber);
  }

  finish(): void {
    if (this.#state !== 'exited') return;
    for (const pipe of this.#pipes) pipe.destroy();
    this.#end();
  }

  #endWhenComplete(): void {
    if (this.#state === 'exited' && this.#pipes.size === 0) this.#end();
  }

  #end(): void {
    this.#state = 'ended';
    this.#libc.killGroup(this.pid, constants.signals.SIGKILL);
    const exit = this.#libc.reap(this.pid);
    this.#onEnd();
    this.#listener.onEnd(processEnd(exit));
  }
}

function processEnd({ status, ...usage }: LibcExit): ProcessEnd {
  const signal = status & 0x7f;
  return { exit: signal === 0 ? { code: (status >> 8) & 0xff } : { signal }, usage };
}
