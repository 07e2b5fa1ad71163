/**
 * The launcher: a small process that starts, signals and reaps the processes of the daemon. Frames come in on stdin
 * and go out on stdout; at the end of stdin, which is the end of the daemon, it kills every group and exits. If the
 * daemon has set a deadline and does not extend it, for any reason, all groups are ended then. Children that have left
 * their group end with their run all the same. The argument is a random name of this launcher, for their marker.
 */
import { constants } from 'node:os';
import { messageOf } from '@addon-operator/base/errors';
import { chooseMachinery } from './launcher-machinery.ts';
import {
  decodeDeadline,
  encodeFrame,
  encodeJsonFrame,
  encodeStarted,
  FRAME_HEADER_BYTES,
  FRAME_KINDS,
  type FrameKind,
  FrameReader,
  type SpawnFailure,
  type SpawnRequest,
  writeFrameHeader,
} from './launcher-protocol.ts';
import { processStart } from './process-alive.ts';
import { ResponseChannel } from './response-channel.ts';
import { DeadlineWatch } from './run-deadline.ts';
import { RUN_VARIABLE, runMarker } from './run-marker.ts';
import { checkBeforeSpawn, explainSpawnFailure } from './spawn-failure.ts';
import { SpawnError, type SpawnedProcess, type SpawnListener } from './spawner.ts';

const ANSWER_FD = 1;
const READ_BYTES = 64 * 1024;
/** The response to a run that is requested after the deadline. */
const TOO_LATE: SpawnFailure = {
  code: 'ETIMEDOUT',
  reason: 'the deadline that the daemon set for all processes has passed',
};

async function serve(launcherId: string): Promise<void> {
  // Output is read behind room for the header of its frame, so that it is sent on without a copy.
  const outputFrame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + READ_BYTES);
  const children = new Map<number, SpawnedProcess>();
  const { spawner, escaped, ready, clock, reportStarts, readControl } = await chooseMachinery(
    launcherId,
    children,
    outputFrame.subarray(FRAME_HEADER_BYTES),
    (strays) => send(encodeJsonFrame(FRAME_KINDS.strays, 0, strays)),
  );
  // To process groups, so that the children of hooks get the signal too.
  const signalAll = (signalNumber: number): void => {
    for (const child of children.values()) child.signal(signalNumber);
  };
  const endWithDaemon = (): never => {
    signalAll(constants.signals.SIGKILL);
    escaped.endWithLauncher();
    process.exit();
  };
  // Runs here and not in the daemon, which may be suspended when the time comes.
  const deadline = new DeadlineWatch({
    steadyClock: clock,
    onTerm: () => {
      signalAll(constants.signals.SIGTERM);
      send(encodeFrame(FRAME_KINDS.deadlinePassed, 0));
    },
    onKill: () => {
      signalAll(constants.signals.SIGKILL);
      escaped.endAll();
    },
  });
  const responses = new ResponseChannel(ANSWER_FD, () => void deadline.hasPassed());
  const send = (frame: Buffer): void => responses.send(frame);
  const sendOutput = (kind: FrameKind, run: number, bytes: Buffer): void => {
    if (bytes.buffer !== outputFrame.buffer) return send(encodeFrame(kind, run, bytes));
    writeFrameHeader(outputFrame, kind, run, bytes.length);
    send(outputFrame.subarray(0, FRAME_HEADER_BYTES + bytes.length));
  };
  const starts = reportStarts((run) => {
    const pid = children.get(run)?.pid;
    if (pid !== undefined) send(encodeStarted(run, { pid, start: processStart(pid) }));
  });
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
        starts.delete(run);
        escaped.endRun(run, pid, (left) =>
          send(encodeJsonFrame(FRAME_KINDS.done, run, left === undefined ? end : { ...end, escaped: left })),
        );
      },
    };
    try {
      const spawned = spawner(check.path, marked(request, launcherId, run), listener);
      const child = spawned instanceof Promise ? await spawned : spawned;
      children.set(run, child);
      if (deadline.hasPassed()) child.signal(constants.signals.SIGKILL);
      starts.add(run);
    } catch (error) {
      const code = error instanceof SpawnError ? error.code : messageOf(error);
      send(encodeJsonFrame(FRAME_KINDS.failed, run, explainSpawnFailure(code, check.path, request)));
    }
  };

  const reader = new FrameReader((kind, run, payload) => {
    if (kind === FRAME_KINDS.run) void startRun(run, JSON.parse(payload.toString()));
    else if (kind === FRAME_KINDS.signal) children.get(run)?.signal(payload.readUInt8(0));
    else if (kind === FRAME_KINDS.finish) children.get(run)?.finish();
    else if (kind === FRAME_KINDS.ping) send(encodeFrame(FRAME_KINDS.pong, 0));
    else if (kind === FRAME_KINDS.deadline) {
      responses.watchWhileBlocked();
      deadline.set(decodeDeadline(payload));
    }
  });
  process.on('uncaughtException', printError).on('uncaughtException', endWithDaemon);
  send(encodeJsonFrame(FRAME_KINDS.ready, 0, ready));
  readControl((chunk) => reader.push(chunk), endWithDaemon);
}

/** Adds the marker by which processes of a run are found wherever they go. */
function marked(request: SpawnRequest, launcherId: string, run: number): SpawnRequest {
  return { ...request, env: [...request.env, `${RUN_VARIABLE}=${runMarker(launcherId, run)}`] };
}

function printError({ stack }: Error): void {
  process.stderr.write(`${stack}\n`);
}

// `node:crypto` would be a tenth of the start, and nothing else of the launcher needs it.
await serve(process.argv[2] ?? globalThis.crypto.randomUUID());
