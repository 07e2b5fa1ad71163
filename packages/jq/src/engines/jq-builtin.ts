import type { SteadyClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, isObject } from '@addon-operator/json';
import { COMPILE_LIMIT_MS, type JqEngine, type JqFilter } from './jq-engine.ts';
import { JqProcess } from './jq-process.ts';
import { type BuiltinRequest, compileError, parseResponse, requestLine, withProgram } from './jq-result.ts';
import { findProgramProblem } from './program-problem.ts';

/**
 * A filter that eats all memory must end this process, not the daemon: a worker thread will not do, V8 aborts the whole
 * process when a single allocation of a worker exceeds its limit.
 */
const NODE_FLAGS = [
  '--max-old-space-size=192',
  '--max-semi-space-size=4',
  '--stack-size=3900',
  '--no-warnings',
];

/** Hooks may make up programs as they go, so there is no end to bad ones. */
const MAX_SUSPECTS = 500;

interface JqBuiltinOptions {
  /** File of the program `jq-builtin-main`. */
  readonly program: string;
  readonly clock: SteadyClock;
  /** Longest time for one object, in milliseconds. */
  readonly timeLimitMs: number;
}

/**
 * Our own jq (`packages/jq`), for machines without the binary. Integers that a program leaves alone keep every digit, and
 * objects are met in the order of their keys, as in the original's engine.
 */
export class JqBuiltin implements JqEngine {
  readonly name = 'built-in';
  readonly #process: JqProcess;
  /** For programs that ended a process once: the others shall not wait for them again. */
  readonly #suspectProcess: JqProcess;
  readonly #suspects = new Set<string>();

  constructor({ program, clock, timeLimitMs }: JqBuiltinOptions) {
    const options = { file: process.execPath, args: [...NODE_FLAGS, program], clock, timeLimitMs };
    this.#process = new JqProcess(options);
    this.#suspectProcess = new JqProcess(options);
  }

  async compile(program: string, signal: AbortSignal): Promise<JqFilter> {
    const problem = findProgramProblem(program);
    if (problem !== undefined) throw compileError(program, problem);
    const request = { program, input: undefined };
    const response: unknown = JSON.parse(await this.#query(request, signal, COMPILE_LIMIT_MS));
    if (isObject(response)) {
      throw compileError(program, String(response['error']));
    }
    return {
      apply: async (input, applySignal) => {
        const line = await this.#query({ program, input: canonicalJson(input) }, applySignal);
        return parseResponse(program, line);
      },
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#process.stop(), this.#suspectProcess.stop()]);
  }

  async #query(request: BuiltinRequest, signal: AbortSignal, timeLimitMs?: number): Promise<string> {
    const { program } = request;
    const process = this.#suspects.has(program) ? this.#suspectProcess : this.#process;
    try {
      return await process.query(requestLine(request), signal, timeLimitMs);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      if (this.#suspects.size >= MAX_SUSPECTS) this.#suspects.clear();
      this.#suspects.add(program);
      throw withProgram(program, error);
    }
  }
}
