// The code that runs in a script thread. It loads the file with the types removed, describes its default
// export to the main process, and then does one piece of work after another. Output of the script, of
// `console` too, is caught and sent as messages in order with the replies. What the program does with a file
// is given by `Program`: hooks and extensions have one each.

import { registerHooks, setSourceMapsSupport } from 'node:module';
import { connect, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { failureText } from './failure-text.ts';
import {
  type LineAddress,
  MessageReader,
  messageLine,
  type QueryResponse,
  ReceivedInputs,
  type RunFacts,
  type WatchRequest,
  type WorkEnd,
  type WorkerReply,
  type WorkRequest,
} from './host-protocol.ts';
import { type LedgerBuffers, WorkLedger } from './memory-watch.ts';
import { type StripperClient, strippingLoad } from './type-stripper.ts';
import { WorkerOutput } from './worker-output.ts';

/** Data from the thread that starts a worker. */
export interface WorkerData {
  readonly number: number;
  readonly path: string;
  readonly inFlight: SharedArrayBuffer;
  readonly stripper: StripperClient;
  readonly ledger: LedgerBuffers;
  readonly ownDirectories: readonly string[];
  readonly line?: LineAddress;
}

/** The behavior of a worker for the file it has loaded. */
export interface WorkerProgram<D> {
  /** Modules that such files can import wherever they lie: name to URL. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Checks and returns the default export. Throws when it is not one of this program's. */
  readonly definitionOf: (exported: unknown) => D;
  /** The description for the main process, as JSON. */
  readonly describe: (definition: D) => string;
  /** Does one piece of work; it fails with what this throws. */
  readonly work: (definition: D, request: WorkRequest, tools: WorkTools) => Promise<WorkEnd>;
  /** Takes the response of the main process to a request of the worker. */
  readonly onResponse?: (reply: QueryResponse) => void;
}

export interface WorkTools {
  /** Prints a line, as the file could itself. */
  readonly print: (line: string) => void;
  readonly reply: (reply: WorkerReply) => void;
  /** A thrown value as a string for a message. */
  readonly failureText: (thrown: unknown) => string;
  /** Aborts when the work is to end. */
  readonly signal: AbortSignal;
}

/** The thread of one file: loads it, then does one piece of work after the other. */
export function runProgram<D>(program: WorkerProgram<D>): void {
  const { number, path: file, inFlight, stripper, ledger, line, ownDirectories } = workerData as WorkerData;
  let onMessage = (_message: Incoming): void => undefined;
  const thread: Thread = {
    channel: new WorkerChannel(number, line, (message) => onMessage(message)),
    output: new WorkerOutput(inFlight, (stream, text) =>
      thread.channel.reply({ type: 'output', stream, text }),
    ),
    ledger: new WorkLedger(ledger),
    failureText: (thrown) => failureText(thrown, ownDirectories),
  };
  catchOutput(process.stdout, (bytes) => thread.output.write('stdout', bytes));
  catchOutput(process.stderr, (bytes) => thread.output.write('stderr', bytes));
  const { modules = {} } = program;
  // A file may be compiled: its author looks for the line of the source.
  setSourceMapsSupport(true);
  // Such files can be in any directory, and none of these has the package of the program.
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = modules[specifier];
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
    load: strippingLoad(stripper),
  });
  const load = async (): Promise<WorkerReply> => {
    const definition = program.definitionOf(await defaultExportOf(file));
    const description = program.describe(definition);
    onMessage = server(program, definition, thread);
    thread.channel.ref();
    return { type: 'ready', description };
  };
  void load()
    .catch((error: unknown): WorkerReply => ({ type: 'load-failed', reason: thread.failureText(error) }))
    .then((reply) => {
      thread.ledger.end(0);
      thread.channel.reply(reply);
    });
}

/** The parts that loading and working share. */
interface Thread {
  readonly channel: WorkerChannel;
  readonly output: WorkerOutput;
  readonly ledger: WorkLedger;
  readonly failureText: (thrown: unknown) => string;
}

/** The default export of a module; undefined if there is none. */
async function defaultExportOf(file: string): Promise<unknown> {
  const module: unknown = await import(pathToFileURL(file).href);
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
}

/** The handler of messages, once the file is loaded. */
function server<D>(
  program: WorkerProgram<D>,
  definition: D,
  { channel, output, ledger, failureText }: Thread,
): (message: Incoming) => void {
  const timersAtStart = setTimers();
  const print = (line: string): void => output.write('stdout', Buffer.from(`${line}\n`));
  const reply = (message: WorkerReply): void => channel.reply(message);
  const received = new ReceivedInputs();
  let abort = new AbortController();
  const factsSince = (cpu: NodeJS.CpuUsage): RunFacts => {
    const used = process.threadCpuUsage(cpu);
    const { total_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
    return {
      droppedBytes: output.droppedBytes,
      leakedTimers: Math.max(0, setTimers() - timersAtStart),
      userCpuMs: used.user / 1_000,
      systemCpuMs: used.system / 1_000,
      memoryBytes: heapBytes + externalBytes,
    };
  };
  return (request) => {
    if (request.type === 'abort') return abort.abort(new Error('the run is to end'));
    if (request.type === 'response') return program.onResponse?.(request);
    if (ledger.begin()) channel.toMain({ type: 'watch' });
    channel.begin();
    abort = new AbortController();
    output.begin(request.maxOutputBytes);
    const cpu = process.threadCpuUsage();
    void program
      .work(definition, workOf(request, received), { print, reply, failureText, signal: abort.signal })
      .catch((error: unknown): WorkEnd => ({ type: 'failed', reason: failureText(error) }))
      .then((end) => {
        const facts = factsSince(cpu);
        ledger.end(facts.memoryBytes);
        reply({ ...end, ...facts });
      });
  };
}

/** Completes the kept strings of a run. */
function workOf(request: WorkRequest, received: ReceivedInputs): WorkRequest {
  return request.type === 'call' ? request : { ...request, keptInputs: received.next(request.keptInputs) };
}

/** Timers that are set now; more than at the start mean that work is still scheduled. */
function setTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** Output goes the same way as the replies, so that none of it comes after the end of its run. */
function catchOutput(stream: NodeJS.WriteStream, write: (bytes: Buffer) => void): void {
  stream.write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    callback?: (error?: Error | null) => void,
  ): boolean => {
    write(
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
        : Buffer.from(chunk),
    );
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
}

/** Messages from the main process. */
type Incoming = WorkRequest | QueryResponse | { readonly type: 'abort' };

/**
 * The two ways between a worker and the main process: over its own line, or through the main thread of its process. The
 * latter is slower, but slows down a script that prints too much, and is always available.
 */
class WorkerChannel {
  #line: Socket | undefined;
  #hasPrinted = false;

  /** @param worker the number by which the main process knows it */
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

  /** A message after output takes the same channel as the output, so that it does not overtake it. */
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
      // Messages of either side may be lost in the meantime: only the end of the thread is certain to reach the other side.
      throw new Error('the line to the main process was closed');
    });
  }
}
