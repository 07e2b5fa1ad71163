import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { close, openSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { ProcessGuard } from './process-guard.ts';

/** Waits for the word to go, so that nothing runs before the guard knows of it. */
const GATE_SCRIPT = 'read -r go && exec "$@" </dev/null';
const LOG_TAIL_LINES = 15;
const LOOK_MS = 10;
/** A minute. */
const MAX_LOOKS = 6_000;

export interface GuardedProcessSpec {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Gets stdout and stderr, appended. */
  readonly logFile: string;
  readonly guard: ProcessGuard;
  /** In addition to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that leads its own group and dies with this one. */
export class GuardedProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  readonly #logFile: string;
  #isRunning = true;

  private constructor(spec: GuardedProcessSpec, pid: number, exited: Promise<unknown>) {
    this.name = spec.name;
    this.pid = pid;
    this.#logFile = spec.logFile;
    this.exited = exited.then(() => {
      this.#isRunning = false;
      spec.guard.drop(pid);
    });
  }

  static async start(spec: GuardedProcessSpec): Promise<GuardedProcess> {
    const log = openSync(spec.logFile, 'a');
    const child = spawn('/bin/sh', ['-c', GATE_SCRIPT, 'gate', spec.file, ...spec.args], {
      cwd: spec.cwd,
      detached: true,
      stdio: ['pipe', log, log],
      env: { ...process.env, ...spec.env },
    });
    close(log, () => undefined);
    const exited = once(child, 'exit');
    await once(child, 'spawn');
    if (child.pid === undefined) throw new Error(`Cannot start ${spec.name}`);
    spec.guard.add(child.pid);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end('go\n');
    return new GuardedProcess(spec, child.pid, exited);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The last lines the process wrote. */
  get logTail(): string {
    return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }

  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (this.#isRunning) process.kill(-this.pid, name);
  }

  /**
   * Kills the group and waits until all its processes are gone: a program that was started through another one ends a
   * little later, and listens until then.
   */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
    for (let looks = 0; isGroup(this.pid); looks += 1) {
      if (looks === MAX_LOOKS) throw new Error(`Processes of ${this.name} (group ${this.pid}) do not end`);
      await setTimeout(LOOK_MS);
    }
  }
}

function isGroup(id: number): boolean {
  try {
    process.kill(-id, 0);
    return true;
  } catch {
    return false;
  }
}
