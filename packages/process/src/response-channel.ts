import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** How long to let the reader read before the next look, in milliseconds. */
const LOOK_MS = 1;

/**
 * Writes frames from the launcher to the daemon. It blocks while the daemon is behind: the processes wait in turn, and
 * nothing is buffered here.
 */
export class ResponseChannel {
  readonly #fd: number;
  readonly #onBlocked: () => void;
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  readonly #later: Buffer[] = [];
  #isSending = false;
  /** Held only for what opening it does to the descriptor: a write no longer blocks, it fails. */
  #attentive: Socket | undefined;

  /** @param onBlocked see {@link watchWhileBlocked}; frames that it sends go out after the one that is blocked */
  constructor(fd: number, onBlocked: () => void) {
    this.#fd = fd;
    this.#onBlocked = onBlocked;
  }

  /** From now on `onBlocked` is called again and again while the daemon does not read. */
  watchWhileBlocked(): void {
    if (this.#attentive !== undefined) return;
    this.#attentive = new Socket({ fd: this.#fd, readable: false, writable: true });
  }

  /** Returns once the whole frame is written, so its memory can be used again. */
  send(frame: Buffer): void {
    if (this.#isSending) {
      this.#later.push(frame);
      return;
    }
    this.#isSending = true;
    for (let next: Buffer | undefined = frame; next !== undefined; next = this.#later.shift())
      this.#write(next);
    this.#isSending = false;
  }

  #write(frame: Buffer): void {
    let written = 0;
    while (written < frame.length) {
      try {
        written += writeSync(this.#fd, frame, written);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
        this.#onBlocked();
        Atomics.wait(this.#pause, 0, 0, LOOK_MS);
      }
    }
  }
}
