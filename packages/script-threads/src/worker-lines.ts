import { randomUUID } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import {
  type HostRequest,
  type LineAddress,
  MessageReader,
  messageLine,
  type WorkerReply,
} from './host-protocol.ts';

/** The first message of a worker is shorter than this. */
const MAX_HELLO_CHARACTERS = 1_000;

interface WorkerLinesOptions {
  readonly onReply: (worker: number, reply: WorkerReply) => void;
  /** The line of a worker is closed; all its messages have been reported. */
  readonly onClosed: (worker: number) => void;
}

/**
 * Lines that lead from the main process straight to the threads of workers. A message through the main thread of their process
 * takes more than twice the time, which is most of what a short run takes.
 */
export class WorkerLines {
  /** Undefined where there are no sockets without a file. */
  readonly address: LineAddress | undefined;
  readonly #options: WorkerLinesOptions;
  readonly #server: Server;
  readonly #sockets = new Map<number, Socket>();
  readonly #unknown = new Set<Socket>();

  constructor(options: WorkerLinesOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#greet(socket));
    // Without a server there are no lines, and messages take the longer way.
    this.#server.on('error', () => undefined);
    if (process.platform !== 'linux') return;
    this.address = { path: `\0script-threads-${randomUUID()}`, token: randomUUID() };
    this.#server.listen(this.address.path);
  }

  /** Whether the worker has connected. */
  has(worker: number): boolean {
    return this.#sockets.has(worker);
  }

  send(worker: number, request: HostRequest): void {
    this.#sockets.get(worker)?.write(messageLine(request));
  }

  /** Ends all lines; no further worker can connect. */
  close(): void {
    this.#server.close();
    for (const socket of [...this.#sockets.values(), ...this.#unknown]) socket.destroy();
  }

  /** Any process on the machine can connect: messages are accepted only from a client that sends the token. */
  #greet(socket: Socket): void {
    this.#unknown.add(socket);
    let worker: number | undefined;
    const reader = new MessageReader((message) => {
      if (worker !== undefined) return this.#options.onReply(worker, message as WorkerReply);
      worker = workerOf(message, this.address?.token);
      this.#unknown.delete(socket);
      if (worker === undefined) socket.destroy();
      else this.#sockets.set(worker, socket);
    });
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      try {
        reader.push(text);
      } catch {
        socket.destroy();
      }
      if (worker === undefined && reader.restLength > MAX_HELLO_CHARACTERS) socket.destroy();
    });
    socket.on('close', () => {
      this.#unknown.delete(socket);
      if (worker === undefined) return;
      this.#sockets.delete(worker);
      this.#options.onClosed(worker);
    });
  }
}

/** The number in the first message; undefined if its token is wrong. */
function workerOf(hello: unknown, token: string | undefined): number | undefined {
  if (typeof hello !== 'object' || hello === null || !('token' in hello) || !('worker' in hello))
    return undefined;
  return hello.token === token && typeof hello.worker === 'number' ? hello.worker : undefined;
}
