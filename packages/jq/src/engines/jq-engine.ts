/** A compiled jq program. */
export interface JqFilter {
  /**
   * All outputs of the program for one input, object keys sorted. Integers beyond 2^53 come back as raw JSON.
   *
   * @param signal ends the wait, with `signal.reason`
   * @throws OperatorError JQ_RUNTIME when the program fails on this input, JQ_TIMEOUT when it takes too long, JQ_UNAVAILABLE
   * when no process can be started for it
   */
  apply(input: unknown, signal: AbortSignal): Promise<readonly unknown[]>;
}

/**
 * Longest time to compile a program, in milliseconds. A program that is compiled does not run, so it cannot go on for
 * ever; but its process may have to be started first, which takes seconds where the CPU is short.
 */
export const COMPILE_LIMIT_MS = 30_000;

/** Compiles and applies jq programs in processes of their own. */
export interface JqEngine {
  /** The name for users, for example `jq 1.7.1` or `built-in`. */
  readonly name: string;
  /** @throws OperatorError JQ_COMPILE with what the engine says about the program */
  compile(program: string, signal: AbortSignal): Promise<JqFilter>;
  /** Ends every process; filters cannot be applied any more. */
  stop(): Promise<void>;
}

/**
 * The `filterResult` that a hook sees: null for no output, the value itself for one, an array for several
 * (hook contract 4.4).
 */
export function filterResult(outputs: readonly unknown[]): unknown {
  return outputs.length > 1 ? outputs : (outputs[0] ?? null);
}
