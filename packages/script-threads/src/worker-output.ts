import { StringDecoder } from 'node:string_decoder';

/** Bytes that may be on their way to the main process; a script that prints more has to wait. */
const MAX_IN_FLIGHT_BYTES = 1024 * 1024;

/** Counts bytes on their way, shared by a worker and the thread that passes its output on. */
export function createInFlightCounter(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** To be called by the thread that passed output on. */
export function acknowledge(counter: SharedArrayBuffer, countBytes: number): void {
  const view = new Int32Array(counter);
  Atomics.sub(view, 0, countBytes);
  Atomics.notify(view, 0);
}

/** Output of a script in one run: sent up to a limit, the rest is counted. Blocks the thread while too much is in flight. */
export class WorkerOutput {
  readonly #view: Int32Array<SharedArrayBuffer>;
  readonly #send: (stream: 'stdout' | 'stderr', text: string) => void;
  /** The pieces in which output comes, and goes out, may end within a character. */
  #decoders = newDecoders();
  #leftBytes = Number.POSITIVE_INFINITY;
  #droppedBytes = 0;

  constructor(counter: SharedArrayBuffer, send: (stream: 'stdout' | 'stderr', text: string) => void) {
    this.#view = new Int32Array(counter);
    this.#send = send;
  }

  begin(maxBytes: number | undefined): void {
    this.#decoders = newDecoders();
    this.#leftBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.#droppedBytes = 0;
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Sends output, decoded: a character that is cut is completed by the next piece. */
  write(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    const kept = bytes.subarray(0, this.#leftBytes);
    this.#droppedBytes += bytes.length - kept.length;
    this.#leftBytes -= kept.length;
    // In pieces, so that a script which prints very much at once is held back like one that does so bit by bit.
    for (let at = 0; at < kept.length; at += MAX_IN_FLIGHT_BYTES) {
      const text = this.#decoders[stream].write(kept.subarray(at, at + MAX_IN_FLIGHT_BYTES));
      if (text === '') continue;
      this.#waitForRoom();
      Atomics.add(this.#view, 0, Buffer.byteLength(text));
      this.#send(stream, text);
    }
  }

  /** Blocks until the main thread has acknowledged output. */
  #waitForRoom(): void {
    for (;;) {
      const inFlight = Atomics.load(this.#view, 0);
      if (inFlight < MAX_IN_FLIGHT_BYTES) return;
      Atomics.wait(this.#view, 0, inFlight);
    }
  }
}

function newDecoders(): Readonly<Record<'stdout' | 'stderr', StringDecoder>> {
  return { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
}
