import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { openByteChannel } from './byte-channel.ts';
import { FRAME_KINDS, FrameReader, type LauncherReady } from './launcher-protocol.ts';
import { LineSplitter } from './line-splitter.ts';

/** `.ts` when running from sources, `.js` when compiled. */
const EXTENSION = path.extname(import.meta.url);
const MAIN_FILE = fileURLToPath(new URL(`./launcher-main${EXTENSION}`, import.meta.url));

/**
 * The launcher holds no data of its own: a small heap and no optimising compiler keep it near 55 MB. The kernel counts
 * the memory of whoever spawns into the peak of what is spawned. Running from sources needs the compiler.
 */
const NODE_FLAGS = [
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--v8-pool-size=0',
  '--no-warnings',
  ...(EXTENSION === '.ts' ? [] : ['--lite-mode']),
];

/** One life of the launcher program, seen from the daemon. */
export interface LauncherProcess {
  readonly pid: number;
  readonly send: (frame: Buffer) => void;
  /** Ends the launcher, and with it every process it runs; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface LauncherEvents {
  /** The process exists; until it takes requests it takes another 50 ms. */
  readonly onSpawned: () => void;
  /** A frame about a run; the payload is valid only during the call. */
  readonly onFrame: (kind: number, run: number, payload: Buffer) => void;
  /** The launcher has ended, whatever the reason; all its frames have been handed over. */
  readonly onClose: (reason: string) => void;
}

/**
 * Starts the launcher program and waits until it takes requests.
 *
 * @param tmpDir a directory that can be written; by default that of the system for temporary files
 * @throws OperatorError PROCESS_SPAWN when it ends before that
 */
export async function startLauncherProcess(
  log: Logger,
  events: LauncherEvents,
  tmpDir?: string,
): Promise<LauncherProcess> {
  const started = Promise.withResolvers<LauncherProcess>();
  const reader = new FrameReader((kind, run, payload) => {
    if (kind !== FRAME_KINDS.ready) return events.onFrame(kind, run, payload);
    logReady(log, JSON.parse(payload.toString()));
    started.resolve(launcher);
  });
  const channel = await openByteChannel((bytes) => reader.push(bytes), tmpDir);
  // In a session of its own a Ctrl-C in the terminal reaches the daemon alone, which then stops in order.
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN_FILE], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', channel.childEnd, 'pipe'],
  });
  events.onSpawned();
  channel.childEnd.destroy();
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new OperatorError('INTERNAL', 'The launcher has no pipes');
  const errors = new LineSplitter((line) => log.warn({ line }, 'launcher printed an error'));
  stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  // Writing to a launcher that has died fails; that it has died is told by the child itself.
  stdin.on('error', () => undefined);
  const gone = endOf(child).then(async (reason) => {
    await channel.closed;
    errors.end();
    const message = `Cannot start the launcher that runs hooks and helm (${MAIN_FILE}): ${reason}`;
    started.reject(new OperatorError('PROCESS_SPAWN', message));
    events.onClose(reason);
  });
  const launcher: LauncherProcess = {
    pid: child.pid ?? 0,
    send: (frame) => void stdin.write(frame),
    stop() {
      stdin.end();
      return gone;
    },
  };
  return started.promise;
}

function logReady(log: Logger, { pid, fallbackReason }: LauncherReady): void {
  if (fallbackReason === undefined) log.debug({ pid }, 'launcher started');
  else log.info({ pid, fallbackReason }, 'launcher started without native spawn: slower, no usage figures');
}

/** Resolves, once the process is gone and its stderr is read, with how it ended. */
function endOf(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let reason = 'it ended';
  child.on('error', (error) => {
    reason = error.message;
  });
  child.on('close', (code, signal) => {
    resolve(signal === null ? `${reason} (exit code ${code})` : `it was ended by ${signal}`);
  });
  return promise;
}
