import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { LogRecords } from './captured-log.ts';
import type { World } from './world.ts';

/** As `bin/addon-operator` starts it; `build-program.ts` has built it. */
const PROGRAM = [process.execPath, '--disable-proto=delete', join(import.meta.dirname, '../../dist/main.js')];

export interface DaemonExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A daemon as a process of its own, in the namespace and the directories of a world. */
export class DaemonProcess {
  readonly log = new LogRecords();
  /** What it wrote to stderr. */
  readonly said: string[] = [];
  /** Resolves when the process is gone and its log is read to the end. */
  readonly exited: Promise<DaemonExit>;
  readonly #child: ChildProcess;
  #lines: Interface | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = this.#follow();
  }

  /**
   * @param flags in place of those of the world
   * @param env besides that of the world
   * @param within a program, and its first arguments, that ends by becoming the program its further arguments name
   * @param operator the program and what is before its first argument; default: what is built of the sources
   * @param command what is before the flags
   */
  static start(
    world: World,
    flags: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
    within: readonly string[] = [],
    operator: readonly string[] = PROGRAM,
    command: readonly string[] = ['start'],
  ): DaemonProcess {
    const all = { ...world.flags, 'log-type': 'json', 'log-level': 'debug', ...flags };
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const [program = '', ...rest] = [...within, ...operator, ...command, ...args];
    const child = spawn(program, rest, {
      cwd: world.directory,
      env: { ...world.hostEnv, ...world.settingsEnv, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new DaemonProcess(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Leaves its standard output unread until {@link readOn}. */
  stopReading(): void {
    this.#lines?.pause();
  }

  readOn(): void {
    this.#lines?.resume();
  }

  /** Closes our end of its standard output. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  async untilConverged(): Promise<void> {
    await this.log.untilMessage('first converge is finished. Operator is ready now.');
  }

  /** Waits until a record has this message, and returns the first one. */
  async record(message: string): Promise<Readonly<Record<string, unknown>>> {
    const find = () => this.log.records.find(({ msg }) => msg === message);
    await this.log.until(() => find() !== undefined);
    return find() ?? {};
  }

  /** Status of a page of the HTTP server. */
  async status(path: string): Promise<number> {
    return (await this.#fetch(path)).status;
  }

  /** Text of a page of the HTTP server. */
  async page(path: string): Promise<string> {
    return (await this.#fetch(path)).text();
  }

  async #fetch(path: string): Promise<Response> {
    const { port } = await this.record('HTTP server listens');
    return fetch(`http://127.0.0.1:${String(port)}${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #follow(): Promise<DaemonExit> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('the daemon has no pipes');
    this.#lines = createInterface({ input: stdout }).on('line', (line) => this.log.push(line));
    createInterface({ input: stderr }).on('line', (line) => this.said.push(line));
    await once(this.#child, 'close');
    const { exitCode: code, signalCode: signal } = this.#child;
    this.log.end(`the daemon ended with ${String(code ?? signal)} ${this.said.join('\n')}`);
    return { code, signal };
  }
}
