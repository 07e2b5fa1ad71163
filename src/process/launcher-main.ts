/**
 * The launcher: a small process that starts, signals and reaps the processes of the daemon. Frames come in on stdin
 * and go out on stdout; at the end of stdin, which is the end of the daemon, it kills every group and exits. A daemon
 * that has set a deadline and does not put it off, whatever keeps it, has its groups ended then.
 */
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { steadyClock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { AnswerChannel } from './answer-channel.ts';
import {
  decodeDeadline,
  encodeFrame,
  encodeJsonFrame,
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
import { DeadlineWatch } from './run-deadline.ts';
import { checkBeforeSpawn, explainSpawnFailure } from './spawn-failure.ts';
import { SpawnError, type SpawnedProcess, type Spawner, type SpawnListener } from './spawner.ts';

const CONTROL_FD = 0;
const ANSWER_FD = 1;
const READ_BYTES = 64 * 1024;
const TOO_LATE: SpawnFailure = {
  code: 'ETIMEDOUT',
  reason: 'the deadline that the daemon set for all processes has passed',
};

async function serve(): Promise<void> {
  // Output is read behind room for the header of its frame, so that it is sent on without a copy.
  const outputFrame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + READ_BYTES);
  const children = new Map<number, SpawnedProcess>();
  const signalAll = (signalNumber: number): void => {
    for (const child of children.values()) child.signal(signalNumber);
  };
  const endWithDaemon = (): never => {
    signalAll(constants.signals.SIGKILL);
    process.exit();
  };
  const deadline = new DeadlineWatch({
    steadyClock,
    onTerm: () => {
      signalAll(constants.signals.SIGTERM);
      send(encodeFrame(FRAME_KINDS.deadlinePassed, 0));
    },
    onKill: () => signalAll(constants.signals.SIGKILL),
  });
  const answers = new AnswerChannel(ANSWER_FD, () => void deadline.hasPassed());
  const send = (frame: Buffer): void => answers.send(frame);
  const sendOutput = (kind: FrameKind, run: number, bytes: Buffer): void => {
    if (bytes.buffer !== outputFrame.buffer) return send(encodeFrame(kind, run, bytes));
    writeFrameHeader(outputFrame, kind, run, bytes.length);
    send(outputFrame.subarray(0, FRAME_HEADER_BYTES + bytes.length));
  };
  const startRun = async (spawner: Spawner, run: number, request: SpawnRequest): Promise<void> => {
    if (deadline.hasPassed()) return send(encodeJsonFrame(FRAME_KINDS.failed, run, TOO_LATE));
    const check = checkBeforeSpawn(request);
    if (check.type === 'failure') return send(encodeJsonFrame(FRAME_KINDS.failed, run, check.failure));
    const listener: SpawnListener = {
      onOutput: (stream, bytes) => sendOutput(FRAME_KINDS[stream], run, bytes),
      onExit: () => send(encodeFrame(FRAME_KINDS.exited, run)),
      onEnd: (end) => {
        children.delete(run);
        send(encodeJsonFrame(FRAME_KINDS.done, run, end));
      },
    };
    try {
      const spawned = spawner(check.path, request, listener);
      const child = spawned instanceof Promise ? await spawned : spawned;
      children.set(run, child);
      if (deadline.hasPassed()) child.signal(constants.signals.SIGKILL);
      send(encodeStarted(run, child.pid));
    } catch (error) {
      const code = error instanceof SpawnError ? error.code : messageOf(error);
      send(encodeJsonFrame(FRAME_KINDS.failed, run, explainSpawnFailure(code, check.path, request)));
    }
  };

  const { spawner, ready } = await chooseSpawner(outputFrame.subarray(FRAME_HEADER_BYTES));
  const reader = new FrameReader((kind, run, payload) => {
    if (kind === FRAME_KINDS.run) void startRun(spawner, run, JSON.parse(payload.toString()));
    else if (kind === FRAME_KINDS.signal) children.get(run)?.signal(payload.readUInt8(0));
    else if (kind === FRAME_KINDS.finish) children.get(run)?.finish();
    else if (kind === FRAME_KINDS.deadline) {
      answers.watchWhileBlocked();
      deadline.set(decodeDeadline(payload));
    }
  });
  const control = new Socket({ fd: CONTROL_FD, readable: true, writable: false });
  control.on('data', (chunk) => reader.push(chunk));
  control.on('error', endWithDaemon);
  control.on('end', endWithDaemon);
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack}\n`);
    endWithDaemon();
  });
  send(encodeJsonFrame(FRAME_KINDS.ready, 0, ready));
}

function encodeStarted(run: number, pid: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(pid);
  return encodeFrame(FRAME_KINDS.started, run, payload);
}

async function chooseSpawner(
  readBuffer: Buffer,
): Promise<{ readonly spawner: Spawner; readonly ready: LauncherReady }> {
  const { pid } = process;
  try {
    return { spawner: nativeSpawner(await loadLibc(), readBuffer), ready: { pid } };
  } catch (error) {
    return { spawner: nodeSpawner, ready: { pid, fallbackReason: messageOf(error) } };
  }
}

await serve();
