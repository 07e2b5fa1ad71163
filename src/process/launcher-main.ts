/**
 * The launcher: a small process that starts, signals and reaps the processes of the daemon. Frames come in on stdin
 * and go out on stdout; at the end of stdin, which is the end of the daemon, it kills every group and exits. A daemon
 * that has set a deadline and does not put it off, whatever keeps it, has its groups ended then. Children that have left
 * their group end with their run all the same. The argument is a random name of this launcher, for their marker.
 */
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { sourcePlaces } from '../lib/source-places.ts';
import { AdoptedChildren } from './adopted-children.ts';
import { AnswerChannel } from './answer-channel.ts';
import { type EscapedChildren, scannedChildren } from './escaped-children.ts';
import {
  decodeDeadline,
  encodeFrame,
  encodeJsonFrame,
  encodeStarted,
  FRAME_HEADER_BYTES,
  FRAME_KINDS,
  type FrameKind,
  FrameReader,
  type LauncherReady,
  type SpawnFailure,
  type SpawnRequest,
  writeFrameHeader,
} from './launcher-protocol.ts';
import { loadLibc } from './native-libc.ts';
import { nativeSpawner } from './native-spawner.ts';
import { nodeSpawner } from './node-spawner.ts';
import { processStart } from './process-alive.ts';
import type { EscapedProcesses } from './process-runner.ts';
import { DeadlineWatch } from './run-deadline.ts';
import { RUN_VARIABLE, runMarker } from './run-marker.ts';
import { checkBeforeSpawn, explainSpawnFailure } from './spawn-failure.ts';
import { SpawnError, type SpawnedProcess, type Spawner, type SpawnListener } from './spawner.ts';

const CONTROL_FD = 0;
const ANSWER_FD = 1;
const READ_BYTES = 64 * 1024;
const TOO_LATE: SpawnFailure = {
  code: 'ETIMEDOUT',
  reason: 'the deadline that the daemon set for all processes has passed',
};

async function serve(launcherId: string): Promise<void> {
  // Output is read behind room for the header of its frame, so that it is sent on without a copy.
  const outputFrame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + READ_BYTES);
  const children = new Map<number, SpawnedProcess>();
  const { spawner, escaped, ready } = await chooseMachinery(
    launcherId,
    children,
    outputFrame.subarray(FRAME_HEADER_BYTES),
    (strays) => send(encodeJsonFrame(FRAME_KINDS.strays, 0, strays)),
  );
  const signalAll = (signalNumber: number): void => {
    for (const child of children.values()) child.signal(signalNumber);
  };
  const endWithDaemon = (): never => {
    signalAll(constants.signals.SIGKILL);
    escaped.endWithLauncher();
    process.exit();
  };
  const deadline = new DeadlineWatch({
    steadyClock: systemClock,
    onTerm: () => {
      signalAll(constants.signals.SIGTERM);
      send(encodeFrame(FRAME_KINDS.deadlinePassed, 0));
    },
    onKill: () => {
      signalAll(constants.signals.SIGKILL);
      escaped.endAll();
    },
  });
  const answers = new AnswerChannel(ANSWER_FD, () => void deadline.hasPassed());
  const send = (frame: Buffer): void => answers.send(frame);
  const sendOutput = (kind: FrameKind, run: number, bytes: Buffer): void => {
    if (bytes.buffer !== outputFrame.buffer) return send(encodeFrame(kind, run, bytes));
    writeFrameHeader(outputFrame, kind, run, bytes.length);
    send(outputFrame.subarray(0, FRAME_HEADER_BYTES + bytes.length));
  };
  const startRun = async (run: number, request: SpawnRequest): Promise<void> => {
    if (deadline.hasPassed()) return send(encodeJsonFrame(FRAME_KINDS.failed, run, TOO_LATE));
    const check = checkBeforeSpawn(request);
    if (check.type === 'failure') return send(encodeJsonFrame(FRAME_KINDS.failed, run, check.failure));
    const listener: SpawnListener = {
      onOutput: (stream, bytes) => sendOutput(FRAME_KINDS[stream], run, bytes),
      onExit: () => send(encodeFrame(FRAME_KINDS.exited, run)),
      onEnd: (end) => {
        const pid = children.get(run)?.pid ?? 0;
        children.delete(run);
        escaped.endRun(run, pid, (left) =>
          send(encodeJsonFrame(FRAME_KINDS.done, run, left === undefined ? end : { ...end, escaped: left })),
        );
      },
    };
    try {
      const env = { ...request.env, [RUN_VARIABLE]: runMarker(launcherId, run) };
      const spawned = spawner(check.path, { ...request, env }, listener);
      const child = spawned instanceof Promise ? await spawned : spawned;
      children.set(run, child);
      if (deadline.hasPassed()) child.signal(constants.signals.SIGKILL);
      send(encodeStarted(run, { pid: child.pid, start: processStart(child.pid) }));
    } catch (error) {
      const code = error instanceof SpawnError ? error.code : messageOf(error);
      send(encodeJsonFrame(FRAME_KINDS.failed, run, explainSpawnFailure(code, check.path, request)));
    }
  };

  const reader = new FrameReader((kind, run, payload) => {
    if (kind === FRAME_KINDS.run) void startRun(run, JSON.parse(payload.toString()));
    else if (kind === FRAME_KINDS.signal) children.get(run)?.signal(payload.readUInt8(0));
    else if (kind === FRAME_KINDS.finish) children.get(run)?.finish();
    else if (kind === FRAME_KINDS.deadline) {
      answers.watchWhileBlocked();
      deadline.set(decodeDeadline(payload));
    }
  });
  readControl((chunk) => reader.push(chunk), endWithDaemon);
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${sourcePlaces(String(error.stack))}\n`);
    endWithDaemon();
  });
  send(encodeJsonFrame(FRAME_KINDS.ready, 0, ready));
}

function readControl(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
  const control = new Socket({ fd: CONTROL_FD, readable: true, writable: false });
  control.on('data', onChunk);
  control.on('error', onEnd);
  control.on('end', onEnd);
}

interface Machinery {
  readonly spawner: Spawner;
  readonly escaped: EscapedChildren;
  readonly ready: LauncherReady;
}

async function chooseMachinery(
  launcherId: string,
  running: ReadonlyMap<number, SpawnedProcess>,
  readBuffer: Buffer,
  onStrays: (strays: EscapedProcesses) => void,
): Promise<Machinery> {
  const { pid } = process;
  try {
    const libc = await loadLibc();
    if (!libc.adoptOrphans()) {
      return {
        spawner: nativeSpawner(libc, readBuffer),
        escaped: scannedChildren(launcherId, running),
        ready: { pid },
      };
    }
    const escaped = new AdoptedChildren({ calls: libc, clock: systemClock, launcherId, running, onStrays });
    const spawner = nativeSpawner(libc, readBuffer, (isKnown) => escaped.noticeExits(isKnown));
    return { spawner, escaped, ready: { pid } };
  } catch (error) {
    const ready = { pid, fallbackReason: messageOf(error) };
    return { spawner: nodeSpawner, escaped: scannedChildren(launcherId, running), ready };
  }
}

await serve(process.argv[2] ?? randomUUID());
