import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import type { AskAnswer, LineAddress, SentRequest, WatchRequest, WorkerReply } from './host-protocol.ts';
import { MessageReader, messageLine } from './message-reader.ts';

/** What comes from the daemon. */
export type Incoming = SentRequest | AskAnswer | { readonly type: 'abort' };

/**
 * The two ways between a worker and the daemon: over its own line, or through the main thread of its process, which is
 * slower, but holds back who prints too much, and is always there.
 */
export class WorkerChannel {
  #line: Socket | undefined;
  #hasPrinted = false;

  /** @param worker the number by which the daemon knows it */
  constructor(worker: number, address: LineAddress | undefined, onMessage: (message: Incoming) => void) {
    parentPort?.on('message', onMessage);
    // Until its file is loaded, a worker that waits for nothing has come to its end.
    parentPort?.unref();
    if (address !== undefined) this.#connect(worker, address, onMessage);
  }

  /** From now on there is work to wait for. */
  ref(): void {
    parentPort?.ref();
  }

  /** A piece of work begins. */
  begin(): void {
    this.#hasPrinted = false;
  }

  /** What is said after something was printed takes the way of that, so that it does not overtake it. */
  reply(message: WorkerReply): void {
    if (message.type === 'output') this.#hasPrinted = true;
    if (this.#line === undefined || this.#hasPrinted) this.toMain(message);
    else this.#line.write(messageLine(message));
  }

  toMain(message: WorkerReply | WatchRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(message);
  }

  #connect(worker: number, { path, token }: LineAddress, onMessage: (message: Incoming) => void): void {
    const reader = new MessageReader((message) => onMessage(message as Incoming));
    const socket = connect(path, () => {
      socket.write(messageLine({ worker, token }));
      this.#line = socket;
    });
    socket.setEncoding('utf8');
    socket.unref();
    socket.on('data', (text: string) => reader.push(text));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#line === undefined) return;
      this.#line = undefined;
      // What the daemon has said or been told meanwhile may be lost: only an end of the thread is certain to reach it.
      throw new Error('the line to the operator was closed');
    });
  }
}
