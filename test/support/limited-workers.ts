import {
  ForksPoolWorker,
  type PoolOptions,
  type PoolRunnerInitializer,
  type PoolWorker,
  type WorkerRequest,
} from 'vitest/node';

type Listener = (...args: unknown[]) => void;
type FileRequest = Extract<WorkerRequest, { readonly type: 'run' | 'collect' }>;

/**
 * Pool of a project that uses at most so many of the workers of its group; the others run files of other projects at the same
 * time. (`maxWorkers` of a project is no such limit: all projects of a group must have the same.)
 *
 * The first files get a process each. The worker of each further file passes it on to those processes and is free at once.
 */
export function limitedWorkers(count: number): PoolRunnerInitializer {
  const lanes = new Lanes();
  return {
    name: 'limited',
    createPoolWorker: (options) =>
      lanes.processes.size < count ? new FileProcess(lanes, options) : new PassedFile(lanes),
  };
}

/** The processes of a project, and the files that wait for them. */
class Lanes {
  /** Run files, or start. */
  readonly processes = new Set<FileProcess>();
  readonly #waiting: FileRequest[] = [];
  /** Workers that have started and have not passed their file on yet. */
  readonly #announced = new Set<PassedFile>();

  announce(worker: PassedFile): void {
    this.#announced.add(worker);
  }

  pass(worker: PassedFile, file: FileRequest): void {
    this.#waiting.push(file);
    this.withdraw(worker);
  }

  withdraw(worker: PassedFile): void {
    this.#announced.delete(worker);
    for (const process of this.processes) process.look();
  }

  /** The next file for a process; undefined if none waits now, null if none will. */
  next(): FileRequest | undefined | null {
    const next = this.#waiting.shift();
    return next ?? (this.#announced.size === 0 ? null : undefined);
  }

  /** Takes what no process is left to run. */
  takeLost(): readonly FileRequest[] {
    return this.processes.size === 0 ? this.#waiting.splice(0) : [];
  }
}

/** A process that runs files. vitest sees the first of them until the last one has ended. */
class FileProcess implements PoolWorker {
  readonly name = 'forks';
  readonly cacheFs = true;
  readonly #lanes: Lanes;
  readonly #project: string;
  readonly #fork: ForksPoolWorker;
  readonly #listeners: Record<'message' | 'error', Set<Listener>> = { message: new Set(), error: new Set() };
  #running: FileRequest | 'nothing yet' | undefined = 'nothing yet';
  /** Of the first file whose run failed as a whole. */
  #error: unknown;
  #isGone = false;

  constructor(lanes: Lanes, options: PoolOptions) {
    this.#lanes = lanes;
    this.#project = options.project.name;
    this.#fork = new ForksPoolWorker(options);
    lanes.processes.add(this);
  }

  async start(): Promise<void> {
    await this.#fork.start();
    this.#fork.on('message', (message) => this.#receive(message));
    this.#fork.on('error', (error) => this.#emit('error', error));
    this.#fork.on('exit', (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
  }

  async stop(): Promise<void> {
    this.#lanes.processes.delete(this);
    this.#listeners.error.clear();
    if (!this.#isGone) await this.#fork.stop();
  }

  /** An early `exit` is reported as an error here, because vitest would name the first file. */
  on(event: string, listener: Listener): void {
    if (event === 'message' || event === 'error') this.#listeners[event].add(listener);
  }

  off(event: string, listener: Listener): void {
    if (event === 'message' || event === 'error') this.#listeners[event].delete(listener);
  }

  send(message: WorkerRequest): void {
    if (isFileRequest(message)) this.#running = message;
    this.#fork.send(message);
  }

  deserialize(message: unknown): unknown {
    return this.#fork.deserialize(message);
  }

  canReuse(): boolean {
    return false;
  }

  /** Begins with the next file, if it runs none. */
  look(): void {
    if (this.#running !== undefined) return;
    const next = this.#lanes.next();
    if (next === undefined) return;
    if (next !== null) {
      this.send(next);
      return;
    }
    this.#lanes.processes.delete(this);
    this.#emit('message', { ...FILE_END, error: this.#error });
  }

  #receive(message: unknown): void {
    if (!isFileEnd(message)) {
      this.#emit('message', message);
      return;
    }
    this.#error ??= message.error;
    this.#running = undefined;
    this.look();
  }

  #onExit(reason: string): void {
    this.#isGone = true;
    this.#lanes.processes.delete(this);
    const running = typeof this.#running === 'object' ? filesOf(this.#running) : 'no file';
    const lost = this.#lanes.takeLost().map(filesOf);
    const left = lost.length === 0 ? '' : `, and these did not run: ${lost.join(', ')}`;
    const text = `A worker of project ${this.#project} has ended (${reason}) while it ran ${running}${left}`;
    this.#emit('error', new Error(text));
  }

  #emit(event: 'message' | 'error', value: unknown): void {
    for (const listener of this.#listeners[event]) listener(value);
  }
}

/** Passes its file on and is done. */
class PassedFile implements PoolWorker {
  readonly name = 'forks';
  readonly #lanes: Lanes;
  readonly #listeners = new Set<Listener>();

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
    lanes.announce(this);
  }

  async start(): Promise<void> {
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#lanes.withdraw(this);
    await Promise.resolve();
  }

  on(event: string, listener: Listener): void {
    if (event === 'message') this.#listeners.add(listener);
  }

  off(_event: string, listener: Listener): void {
    this.#listeners.delete(listener);
  }

  send(message: WorkerRequest): void {
    if (message.type === 'start') this.#respond('started');
    else if (message.type === 'stop') this.#respond('stopped');
    else if (isFileRequest(message)) {
      this.#lanes.pass(this, message);
      this.#respond('testfileFinished');
    }
  }

  deserialize(message: unknown): unknown {
    return message;
  }

  canReuse(): boolean {
    return false;
  }

  #respond(type: 'started' | 'stopped' | 'testfileFinished'): void {
    for (const listener of this.#listeners) listener({ ...FILE_END, type });
  }
}

const FILE_END = { __vitest_worker_response__: true, type: 'testfileFinished' } as const;

function isFileRequest(message: WorkerRequest): message is FileRequest {
  return message.type === 'run' || message.type === 'collect';
}

function isFileEnd(message: unknown): message is typeof FILE_END & { readonly error?: unknown } {
  if (typeof message !== 'object' || message === null) return false;
  return '__vitest_worker_response__' in message && 'type' in message && message.type === FILE_END.type;
}

function filesOf({ context }: FileRequest): string {
  return context.files.map(({ filepath }) => filepath).join(', ');
}
