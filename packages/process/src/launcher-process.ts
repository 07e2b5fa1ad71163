import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { openByteChannel } from './byte-channel.ts';
import { FRAME_KINDS, FrameReader, type LauncherReady } from './launcher-protocol.ts';
import { LineSplitter } from './line-splitter.ts';

/** The launcher program and its surroundings. */
export interface LauncherProgram {
  /** Path of `launcher-main.ts`, or of a bundle of it. */
  readonly file: string;
  /** A directory for V8's compile cache, unless `NODE_COMPILE_CACHE` names one. Default: none. */
  readonly compileCache?: string | undefined;
  /** Turns places in built code into places of its sources, in a line of a stack trace. Default: lines stay as they are. */
  readonly sourcePlaces?: (line: string) => string;
}

/** The program in the sources, next to this file. */
export const SOURCE_PROGRAM: LauncherProgram = {
  file: fileURLToPath(new URL('./launcher-main.ts', import.meta.url)),
};

/**
 * The launcher holds no data of its own, so its heap is small. It runs the same few functions over and over: with baseline
 * code a run costs it half of what it costs without compiler (`--lite-mode`, 2 MB less), and threads that would compile or
 * collect at the same time take 7 MB. The kernel counts the memory of the process that spawns into the peak of the one that
 * is spawned.
 */
const NODE_FLAGS = [
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--single-threaded',
  '--no-opt',
  '--no-warnings',
];

/** One life of the launcher program, seen from the daemon. */
export interface LauncherProcess {
  readonly pid: number;
  /** A random name, with which its processes are marked (see `run-marker.ts`). */
  readonly id: string;
  readonly send: (frame: Buffer) => void;
  /** Sends a signal; nothing happens when the launcher has ended. */
  readonly kill: (signal: 'SIGCONT' | 'SIGKILL') => void;
  /** Resolves when the launcher has ended and all its frames have been delivered. */
  readonly gone: Promise<LauncherEnd>;
  /** Ends the launcher, and with it every process it runs; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface LauncherEnd {
  readonly reason: string;
  /** It ended by itself, which it does after it has ended everything that it ran. */
  readonly isOrderly: boolean;
}

export interface LauncherEvents {
  /** The process exists; until it takes requests it takes another 50 ms. */
  readonly onSpawned: () => void;
  /** A frame about a run; the payload is valid only during the call. */
  readonly onFrame: (kind: number, run: number, payload: Buffer) => void;
}

export interface LauncherProcessOptions {
  readonly log: Logger;
  readonly clock: SteadyClock;
  /** A writable directory; default: that of the system for temporary files. */
  readonly tmpDir: string | undefined;
  readonly program: LauncherProgram;
}

/** A launcher needs 0.1 s to start, a few seconds on a busy machine. */
const START_DEADLINE_MS = 30_000;
/** It ends as soon as its input does; one that does not is stuck. */
const STOP_DEADLINE_MS = 10_000;

/**
 * Starts the launcher program and waits until it takes requests.
 *
 * @throws OperatorError PROCESS_SPAWN when it cannot be started, ends before that or misses its start-up deadline
 * @throws `signal.reason` on abort; the process, if there is one, is killed then
 */
export async function startLauncherProcess(
  options: LauncherProcessOptions,
  events: LauncherEvents,
  signal: AbortSignal,
): Promise<LauncherProcess> {
  const started = new AbortController();
  const failed = new AbortController();
  const late = options.clock
    .sleep(START_DEADLINE_MS, AbortSignal.any([signal, started.signal]))
    .then((): never => {
      throw new Error(`it did not accept requests within ${START_DEADLINE_MS / 1_000} s`);
    });
  try {
    return await Promise.race([spawnLauncher(options, events, failed.signal), late]);
  } catch (cause) {
    failed.abort();
    signal.throwIfAborted();
    const message = `Cannot start the launcher that runs hooks and helm (${options.program.file}): ${reasonOf(cause)}`;
    throw new OperatorError('PROCESS_SPAWN', message, { cause });
  } finally {
    started.abort();
  }
}

/** The reason of a failed start; for EMFILE and ENFILE, which explain little, with advice. */
function reasonOf(cause: unknown): string {
  const reason = messageOf(cause);
  if (!/\bE[MN]FILE\b/.test(reason)) return reason;
  return `${reason}: too many open files; raise the limit (ulimit -n), or find out which process keeps files open`;
}

/** @param abandoned kills the process when it aborts */
async function spawnLauncher(
  { log, clock, tmpDir, program }: LauncherProcessOptions,
  events: LauncherEvents,
  abandoned: AbortSignal,
): Promise<LauncherProcess> {
  const ready = Promise.withResolvers<LauncherReady>();
  const reader = new FrameReader((kind, run, payload) => {
    if (kind === FRAME_KINDS.ready) ready.resolve(JSON.parse(payload.toString()));
    else events.onFrame(kind, run, payload);
  });
  const channel = await openByteChannel((bytes) => reader.push(bytes), tmpDir);
  const id = randomUUID();
  const child = await spawnProgram(program, id, channel.childEnd, abandoned);
  events.onSpawned();
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new OperatorError('INTERNAL', 'The launcher has no pipes');
  const { sourcePlaces = (line) => line } = program;
  const errors = new LineSplitter((line) =>
    log.warn({ line: sourcePlaces(line) }, 'launcher printed an error'),
  );
  stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  // Writing to a launcher that has died fails; that it has died is reported by `gone`.
  stdin.on('error', () => undefined);
  const gone = endOf(child).then(async (end) => {
    await channel.closed;
    errors.end();
    return end;
  });
  const ended = gone.then(({ reason }): never => {
    throw new Error(reason);
  });
  logReady(log, await Promise.race([ready.promise, ended]));
  return {
    pid: child.pid ?? 0,
    id,
    send: (frame) => void stdin.write(frame),
    kill: (signal) => void child.kill(signal),
    gone,
    async stop() {
      stdin.end();
      await killLate(child, gone, clock);
    },
  };
}

/** @throws the error of the system when there is no process, for example EMFILE */
async function spawnProgram(
  { file, compileCache }: LauncherProgram,
  id: string,
  childEnd: Socket,
  abandoned: AbortSignal,
): Promise<ChildProcess> {
  try {
    abandoned.throwIfAborted();
    // In a session of its own a Ctrl-C in the terminal reaches the daemon alone, which then stops in order.
    const child = spawn(process.execPath, [...NODE_FLAGS, file, id], {
      cwd: '/',
      env: cacheVariable(process.env['NODE_COMPILE_CACHE'] ?? compileCache),
      detached: true,
      stdio: ['pipe', childEnd, 'pipe'],
    });
    // Without descriptors there is neither a process nor a pipe, only this event.
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
    child.on('error', () => undefined);
    abandoned.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
    return child;
  } finally {
    childEnd.destroy();
  }
}

/** Of the environment the launcher needs only where Node keeps compiled code, which halves the time of its start. */
function cacheVariable(directory: string | undefined): NodeJS.ProcessEnv {
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory };
}

/** Kills the process if it has not ended by itself in time. */
async function killLate(child: ChildProcess, gone: Promise<unknown>, clock: SteadyClock): Promise<void> {
  const ended = new AbortController();
  const late = clock.sleep(STOP_DEADLINE_MS, ended.signal).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  await gone;
  ended.abort();
  await late;
}

function logReady(log: Logger, { pid, fallbackReason }: LauncherReady): void {
  if (fallbackReason === undefined) log.debug({ pid }, 'launcher started');
  else log.info({ pid, fallbackReason }, 'launcher started without native spawn: slower, no usage figures');
}

/** Resolves, once the process is gone and its stderr is read, with how it ended. */
function endOf(child: ChildProcess): Promise<LauncherEnd> {
  const { promise, resolve } = Promise.withResolvers<LauncherEnd>();
  child.on('close', (code, signal) => {
    const reason = signal === null ? `it ended (exit code ${code})` : `it was ended by ${signal}`;
    resolve({ reason, isOrderly: code === 0 });
  });
  return promise;
}
