import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../../test/support/world.ts';
import { sum } from '../figures.ts';
import { childrenOf, cpuMs } from '../process-usage.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROBE = join(ROOT, 'bench', 'loop-probe-main.ts');
const CONVERGED = '"msg":"first converge is finished. Operator is ready now."';
const LISTENS = '"msg":"HTTP server listens"';
const PROBE_MS = 1_100;
const KB_PER_MB = 1_024;

/** Compiles the program where that is still to do. */
export function buildProgram(): void {
  execFileSync(join(ROOT, 'bin', 'addon-operator'), ['version']);
}

interface LoopProbe {
  readonly p999Ms: number;
  readonly maxRssMb: number;
}

/**
 * The daemon as a process of its own. Its log is only searched for a few texts: parsing and keeping it would cost this
 * process as much as the daemon.
 */
export class ScaleDaemon implements AsyncDisposable {
  readonly startedMs = performance.now();
  readonly #child: ChildProcess;
  readonly #probeFile: string;
  readonly #exited: Promise<unknown>;
  readonly #counts = new Map<string, number>();
  #waiting: (() => void)[] = [];
  #port = 0;

  private constructor(child: ChildProcess, probeFile: string, counted: readonly string[]) {
    this.#child = child;
    this.#probeFile = probeFile;
    this.#exited = once(child, 'close');
    for (const text of [CONVERGED, LISTENS, ...counted]) this.#counts.set(text, 0);
    if (child.stdout === null) throw new Error('the daemon has no pipe');
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
  }

  /** @param counted texts whose lines in the log are counted, see {@link ScaleDaemon.count} */
  static async start(
    world: World,
    flags: Readonly<Record<string, string>> = {},
    counted: readonly string[] = [],
  ): Promise<ScaleDaemon> {
    const probeFile = join(world.directory, 'probe');
    for (const file of [probeFile, `${probeFile}.begin`]) await rm(file, { force: true });
    const all = { ...world.flags, 'log-type': 'json', 'log-level': 'info', ...flags };
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const program = [
      '--disable-proto=delete',
      '--no-warnings',
      '--import',
      PROBE,
      join(ROOT, 'dist', 'main.js'),
    ];
    const child = spawn(process.execPath, [...program, 'start', ...args], {
      cwd: world.directory,
      env: { ...world.hostEnv, ...world.settingsEnv, BENCH_PROBE_FILE: probeFile },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new ScaleDaemon(child, probeFile, counted);
  }

  /** Lines of the log with one of the counted texts. */
  count(text: string): number {
    return this.#counts.get(text) ?? 0;
  }

  async untilCount(text: string, least: number): Promise<void> {
    while (this.count(text) < least) {
      const changed = Promise.withResolvers<void>();
      this.#waiting.push(changed.resolve);
      await Promise.race([changed.promise, this.#exited]);
      if (this.#hasEnded) throw new Error(`the daemon ended before its log had ${text} ${least} times`);
    }
  }

  async untilConverged(): Promise<void> {
    await this.untilCount(CONVERGED, 1);
  }

  /** Resident memory of the daemon and its helpers. */
  memoryMb(): number {
    return sum(this.#pids().map(residentMb));
  }

  /** CPU of the daemon itself so far. */
  cpuMs(): number {
    return cpuMs(this.#child.pid ?? 0);
  }

  /** From here on the event loop is measured: loading a program blocks every event loop. */
  async beginLoop(): Promise<void> {
    await writeFile(`${this.#probeFile}.begin`, '');
  }

  async loop(): Promise<LoopProbe> {
    // It writes once a second.
    do await sleep(PROBE_MS);
    while (!existsSync(this.#probeFile) && !this.#hasEnded);
    return JSON.parse(readFileSync(this.#probeFile, 'utf8')) as LoopProbe;
  }

  async scrape(): Promise<{ readonly tookMs: number; readonly sizeMb: number }> {
    const startMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${this.#port}/metrics`);
    const text = await response.text();
    return { tookMs: performance.now() - startMs, sizeMb: Buffer.byteLength(text) / 2 ** 20 };
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #take(line: string): void {
    let isCounted = false;
    for (const [text, count] of this.#counts) {
      if (!line.includes(text)) continue;
      this.#counts.set(text, count + 1);
      isCounted = true;
    }
    if (isCounted) for (const resolve of this.#waiting.splice(0)) resolve();
    if (this.#port === 0 && line.includes(LISTENS)) this.#port = (JSON.parse(line) as { port: number }).port;
  }

  #pids(): number[] {
    const { pid = 0 } = this.#child;
    return [pid, ...childrenOf(pid)];
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** 0 for a process that has just ended. */
function residentMb(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(found?.[1] ?? 0) / KB_PER_MB;
  } catch {
    return 0;
  }
}
