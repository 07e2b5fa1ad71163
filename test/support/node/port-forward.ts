import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** `kubectl port-forward` from a free port of this machine. Disposing it ends the process. */
export class PortForward implements AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#child = child;
  }

  /** @param args with `:PORT` as the ports, so that kubectl selects the local one */
  static async start(kubectl: string, args: readonly string[]): Promise<PortForward> {
    const child = spawn(kubectl, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const errors: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        const port = /^Forwarding from 127\.0\.0\.1:(\d+) /.exec(line)?.[1];
        if (port !== undefined) resolve(Number(port));
      })
      .on('close', () => reject(new Error(`kubectl port-forward ended: ${errors.join(' ')}`)));
    return new PortForward(await promise, child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.kill('SIGTERM')) await exited;
  }
}
