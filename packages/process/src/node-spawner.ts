import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { OutputStream } from './process-runner.ts';
import { SpawnError, type SpawnedProcess, type Spawner, type SpawnListener } from './spawner.ts';

/** Spawner over node:child_process, for platforms without native spawn: slower, and without usage figures. */
export const nodeSpawner: Spawner = (executable, request, listener) => {
  let child: ChildProcess;
  try {
    child = spawn(executable, request.args, {
      cwd: request.cwd,
      env: record(request.env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new SpawnError(codeOf(error));
  }
  const { pid } = child;
  if (pid !== undefined) return new NodeProcess(child, pid, listener);
  const { promise, reject } = Promise.withResolvers<SpawnedProcess>();
  child.once('error', (error) => reject(new SpawnError(codeOf(error))));
  return promise;
};

/** The environment as node:child_process takes it. */
function record(env: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    env.map((entry) => {
      const nameEnd = entry.indexOf('=');
      return [entry.slice(0, nameEnd), entry.slice(nameEnd + 1)];
    }),
  );
}

/** The name of the errno in an error of Node. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/**
 * A process of node:child_process. Node reaps it at 'exit'; its group is signalled by number until 'close'.
 */
class NodeProcess implements SpawnedProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  #state: 'running' | 'exited' | 'ended' = 'running';

  constructor(child: ChildProcess, pid: number, listener: SpawnListener) {
    this.pid = pid;
    this.#child = child;
    const forward = (stream: OutputStream) => (bytes: Buffer) => listener.onOutput(stream, bytes);
    child.stdout?.on('data', forward('stdout'));
    child.stderr?.on('data', forward('stderr'));
    child.once('exit', () => {
      this.#state = 'exited';
      // 'close' usually follows 'exit' in the same turn, when no child holds the pipes.
      setImmediate(() => {
        if (this.#state === 'exited') listener.onExit();
      });
    });
    child.once('close', (code, signal) => {
      this.signal(constants.signals.SIGKILL);
      this.#state = 'ended';
      listener.onEnd({ exit: signal === null ? { code: code ?? 0 } : { signal: constants.signals[signal] } });
    });
  }

  signal(signalNumber: number): void {
    if (this.#state === 'ended') return;
    try {
      process.kill(-this.pid, signalNumber);
    } catch {
      // Nothing is left of the group.
    }
  }

  finish(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }
}
