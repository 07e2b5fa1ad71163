import type { EscapedProcesses, ResourceUsage } from './process-runner.ts';
import type { RunDeadline } from './run-deadline.ts';

/**
 * The messages between the daemon and its launcher, over a stream each way. A frame is a header (payload length as
 * 32 bits, kind as 8 bits, run as 32 bits, little-endian) and its payload.
 */
export const FRAME_KINDS = {
  /** To the launcher: start a process; the payload is a {@link SpawnRequest} as JSON. */
  run: 1,
  /** To the launcher: send the group of a run the signal whose number is the one byte of payload. */
  signal: 2,
  /** To the launcher: wait no longer for the pipes of a process that has exited. */
  finish: 3,
  /** From the launcher, once: {@link LauncherReady} as JSON. */
  ready: 4,
  /** From the launcher: the process exists; the payload is {@link encodeStarted}. */
  started: 5,
  stdout: 6,
  stderr: 7,
  /** From the launcher: the process has exited, yet something holds its pipes open. */
  exited: 8,
  /** From the launcher, last frame of a run: {@link ProcessEnd} as JSON. */
  done: 9,
  /** From the launcher, only frame of a run: {@link SpawnFailure} as JSON. */
  failed: 10,
  /** To the launcher: replaces the deadline of all runs; the payload is {@link encodeDeadline}. */
  deadline: 11,
  /** From the launcher, once: the deadline has passed, all groups are being ended and no run is started any more. */
  deadlinePassed: 12,
  /** From the launcher: processes were ended that left the group of a run which has ended; {@link EscapedProcesses} as JSON. */
  strays: 13,
  /** To the launcher: requests a `pong`. */
  ping: 14,
  /** From the launcher: it takes requests. */
  pong: 15,
} as const;

export type FrameKind = (typeof FRAME_KINDS)[keyof typeof FRAME_KINDS];

export const FRAME_HEADER_BYTES = 9;

export interface SpawnRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** As `NAME=value`. */
  readonly env: readonly string[];
}

export interface LauncherReady {
  readonly pid: number;
  /** Why there is no native spawn (slower, no usage figures); absent when there is. */
  readonly fallbackReason?: string;
}

export interface ProcessEnd {
  /** Exit code, or the number of the signal that ended the process. */
  readonly exit: { readonly code: number } | { readonly signal: number };
  readonly usage?: ResourceUsage;
  /** Processes that had left the group and were ended with it; absent when there were none. */
  readonly escaped?: EscapedProcesses;
}

export interface SpawnFailure {
  /** Name of the errno, for example ENOENT. */
  readonly code: string;
  /** The problem, in words. */
  readonly reason: string;
}

/** Writes the header of a frame to the start of `target`. */
export function writeFrameHeader(target: Buffer, kind: FrameKind, run: number, payloadBytes: number): void {
  target.writeUInt32LE(payloadBytes, 0);
  target[4] = kind;
  target.writeUInt32LE(run, 5);
}

export function encodeFrame(kind: FrameKind, run: number, payload?: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + (payload?.length ?? 0));
  writeFrameHeader(frame, kind, run, payload?.length ?? 0);
  if (payload !== undefined) frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

export function encodeJsonFrame(kind: FrameKind, run: number, value: object): Buffer {
  return encodeFrame(kind, run, Buffer.from(JSON.stringify(value)));
}

/** Two moments of the steady clock as doubles, little-endian: TERM, then KILL. */
export function encodeDeadline({ termAtMs, killAtMs }: RunDeadline): Buffer {
  const payload = Buffer.alloc(16);
  payload.writeDoubleLE(termAtMs, 0);
  payload.writeDoubleLE(killAtMs, 8);
  return encodeFrame(FRAME_KINDS.deadline, 0, payload);
}

export function decodeDeadline(payload: Buffer): RunDeadline {
  return { termAtMs: payload.readDoubleLE(0), killAtMs: payload.readDoubleLE(8) };
}

/** A process that exists, by its PID and, where the system provides it, its start time: PIDs are reused. */
export interface StartedProcess {
  readonly pid: number;
  readonly start: string | undefined;
}

/** The pid as 32 bits, then the start time as text. */
export function encodeStarted(run: number, { pid, start = '' }: StartedProcess): Buffer {
  const payload = Buffer.alloc(4 + start.length);
  payload.writeUInt32LE(pid);
  payload.write(start, 4, 'latin1');
  return encodeFrame(FRAME_KINDS.started, run, payload);
}

export function decodeStarted(payload: Buffer): StartedProcess {
  const start = payload.toString('latin1', 4);
  return { pid: payload.readUInt32LE(0), start: start === '' ? undefined : start };
}

/** Called with each frame; output frames may arrive as several. The payload is valid only during the call. */
export type FrameHandler = (kind: number, run: number, payload: Buffer) => void;

/** Cuts a stream of chunks into frames; output is passed on as it comes, other frames are put together. */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer[] = [];
  #missingBytes = 0;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** Passes on every frame that `chunk` completes; keeps copies only, so the chunk's memory can be used again. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) offset += this.#takeHeader(chunk, offset);
      else offset += this.#takePayload(chunk.subarray(offset, offset + this.#missingBytes));
      const isComplete = this.#headerBytes === FRAME_HEADER_BYTES && this.#missingBytes === 0;
      if (isComplete) this.#endFrame();
    }
  }

  #takeHeader(chunk: Buffer, offset: number): number {
    const taken = chunk.copy(
      this.#header,
      this.#headerBytes,
      offset,
      offset + FRAME_HEADER_BYTES - this.#headerBytes,
    );
    this.#headerBytes += taken;
    if (this.#headerBytes === FRAME_HEADER_BYTES) this.#missingBytes = this.#header.readUInt32LE(0);
    return taken;
  }

  #takePayload(bytes: Buffer): number {
    this.#missingBytes -= bytes.length;
    if (this.#isOutput()) this.#handOver(bytes);
    else this.#payload.push(this.#missingBytes === 0 ? bytes : Buffer.from(bytes));
    return bytes.length;
  }

  #endFrame(): void {
    const [first, ...others] = this.#payload;
    this.#payload = [];
    this.#headerBytes = 0;
    if (this.#isOutput()) return;
    if (first === undefined) this.#handOver(Buffer.alloc(0));
    else this.#handOver(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  #isOutput(): boolean {
    return this.#header[4] === FRAME_KINDS.stdout || this.#header[4] === FRAME_KINDS.stderr;
  }

  #handOver(payload: Buffer): void {
    this.#onFrame(this.#header.readUInt8(4), this.#header.readUInt32LE(5), payload);
  }
}
