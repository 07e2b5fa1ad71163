import { type ChildProcess, spawn } from 'node:child_process';

/** A command that runs as a child, without a terminal, and what it wrote so far. */
export class StartedCommand {
  readonly exitCode: Promise<number | string>;
  readonly #child: ChildProcess;
  readonly #isGroup: boolean;
  #output = '';
  /** It is gone, and its output is read to the end. */
  #isClosed = false;
  #watchers: (() => void)[] = [];

  /** @param cwd with it the command leads a process group, and signals reach the whole group, as from a terminal */
  constructor(file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string) {
    this.#isGroup = cwd !== undefined;
    const place = cwd === undefined ? {} : { cwd, detached: true };
    this.#child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...place });
    const onData = (chunk: Buffer): void => {
      this.#output += chunk.toString();
      for (const notify of this.#watchers.splice(0)) notify();
    };
    this.#child.stdout?.on('data', onData);
    this.#child.stderr?.on('data', onData);
    const { promise, resolve, reject } = Promise.withResolvers<number | string>();
    this.#child.once('error', reject);
    this.#child.once('close', (code, signal) => {
      this.#isClosed = true;
      resolve(code ?? signal ?? 'gone');
      for (const notify of this.#watchers.splice(0)) notify();
    });
    this.exitCode = promise;
  }

  get output(): string {
    return this.#output;
  }

  /** Waits until the output holds a text. */
  async until(text: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      typeof text === 'string' ? this.#output.includes(text) : text.test(this.#output);
    while (!isThere()) {
      if (this.#isClosed)
        throw new Error(`the command ended without writing ${String(text)}:\n${this.#output}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (!this.#isGroup || pid === undefined) this.#child.kill(signal);
    else if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-pid, signal);
  }
}
