// The engine on a real jq binary. Each program gets a long-lived process that reads one object per line and
// writes one line per object; `jq-process.ts` feeds it. Compiling runs jq once without input. Programs are
// checked by `program-problem.ts` first, because they are pasted into a wrapper that keeps the protocol at
// one line per object.

import { spawn } from 'node:child_process';
import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { canonicalJson } from '@addon-operator/json';
import { OutputHead } from '@addon-operator/process/output-ends';
import { COMPILE_LIMIT_MS, type JqEngine, type JqFilter } from './jq-engine.ts';
import { JqProcess } from './jq-process.ts';
import { compileError, parseResponse, withProgram } from './jq-result.ts';
import { findProgramProblem } from './program-problem.ts';

/** jq processes that live at once, one a program; the one used longest ago makes room. */
const MAX_PROCESSES = 16;
/** Of the error output of a compilation; the first complaint is all that is shown. */
const MAX_REPORT_BYTES = 4 * 1024;
/** Address space of one jq, so that `[range(1e9)]` does not exhaust the memory of the node. */
const MAX_MEMORY_KIB = 1024 * 1024;

interface JqBinaryOptions {
  /** Absolute path of a jq binary of version 1.6 or newer. */
  readonly file: string;
  /** For example `jq 1.7.1`. */
  readonly name: string;
  readonly clock: SteadyClock;
  /** Longest time for one object, in milliseconds. */
  readonly timeLimitMs: number;
}

/**
 * The real jq, one long-lived process a program. Numbers that a program leaves alone keep every digit from jq 1.7 on;
 * jq 1.6 rounds integers beyond 2^53 to the next double.
 */
export class JqBinary implements JqEngine {
  readonly name: string;
  readonly #options: JqBinaryOptions;
  /** In order of use, the latest last. */
  readonly #processes = new Map<string, JqProcess>();
  readonly #retired = new Set<JqProcess>();
  #isStopped = false;

  constructor(options: JqBinaryOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async compile(program: string, signal: AbortSignal): Promise<JqFilter> {
    signal.throwIfAborted();
    const problem = findProgramProblem(program);
    if (problem !== undefined) throw compileError(program, problem);
    await this.#check(program, signal);
    return { apply: (input, applySignal) => this.#apply(program, input, applySignal) };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const all = [...this.#processes.values(), ...this.#retired];
    this.#processes.clear();
    this.#retired.clear();
    await Promise.all(all.map((one) => one.stop()));
  }

  async #apply(program: string, input: unknown, signal: AbortSignal): Promise<readonly unknown[]> {
    let line: string;
    try {
      // Sorted keys on the way in make `to_entries` and `.[]` go in the order of keys, as in the original's engine.
      line = await this.#processOf(program).query(canonicalJson(input), signal);
    } catch (error) {
      throw withProgram(program, error);
    }
    return parseResponse(program, line);
  }

  #processOf(program: string): JqProcess {
    if (this.#isStopped) throw new OperatorError('ABORTED', 'The jq engine has been stopped');
    const { file, clock, timeLimitMs } = this.#options;
    const found = this.#processes.get(program);
    const args = ['-c', '-S', '--unbuffered', wrap(program)];
    const used = found ?? new JqProcess({ file, args, maxMemoryKiB: MAX_MEMORY_KIB, clock, timeLimitMs });
    this.#processes.delete(program);
    this.#processes.set(program, used);
    if (this.#processes.size > MAX_PROCESSES) this.#retireOldest();
    return used;
  }

  /** The least recently used process ends after its last result, so that requests in it do not fail. */
  #retireOldest(): void {
    for (const [program, oldest] of this.#processes) {
      this.#processes.delete(program);
      this.#retired.add(oldest);
      void oldest.retire().then(() => this.#retired.delete(oldest));
      return;
    }
  }

  /** Lets jq compile a program without running it: there is no input. */
  async #check(program: string, signal: AbortSignal): Promise<void> {
    const { file, clock } = this.#options;
    const report = new OutputHead(MAX_REPORT_BYTES);
    const ended = new AbortController();
    const child = spawn(file, [wrap(program)], { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (chunk: Buffer) => report.push(chunk));
    const kill = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    clock.sleep(COMPILE_LIMIT_MS, ended.signal).then(kill, () => undefined);
    try {
      const exitCode = await exitCodeOf(child);
      signal.throwIfAborted();
      if (exitCode === null) throw compileError(program, `jq did not end within ${COMPILE_LIMIT_MS} ms`);
      if (exitCode !== 0) throw compileError(program, readableReport(report.toString()));
    } finally {
      signal.removeEventListener('abort', kill);
      ended.abort();
    }
  }
}

/** The exit code; null if a signal ended the process. Rejects with JQ_COMPILE if it cannot be started. */
function exitCodeOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', (cause) => {
    reject(new OperatorError('JQ_COMPILE', `Cannot run jq: ${cause.message}`, { cause }));
  });
  child.on('close', resolve);
  return promise;
}

/** One line for one object, whatever happens; empty lines keep a comment at the end from reaching the bracket. */
function wrap(program: string): string {
  return `def env: {}; {} as $ENV | try [${program}\n\n] catch {error: .}`;
}

/** jq's first complaint; what follows repeats the program. */
function readableReport(report: string): string {
  const line = report.split('\n').find((candidate) => candidate.startsWith('jq: error')) ?? report.trim();
  return line === '' ? 'jq reported no reason' : line.replace(/^jq: error: /, '').replace(/:$/, '');
}
