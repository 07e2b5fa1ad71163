import { withSortedKeys } from '@addon-operator/json';
import { compilePlain, JqError } from '../plain.ts';
import type { JqEngine, JqFilter } from './jq-engine.ts';
import { MAX_ITEMS, runtimeError, tooManyItems } from './jq-result.ts';
import { findProgramProblem } from './program-problem.ts';

/**
 * Applies programs that only select, such as `.data` or `{name: .metadata.name}`, in the daemon itself: writing an object
 * for a process costs many times what reading the field does. Every other program goes to the engine.
 */
export class PlainFilters implements JqEngine {
  readonly name: string;
  readonly #engine: JqEngine;

  constructor(engine: JqEngine) {
    this.name = engine.name;
    this.#engine = engine;
  }

  async compile(program: string, signal: AbortSignal): Promise<JqFilter> {
    const run = findProgramProblem(program) === undefined ? compilePlain(program) : undefined;
    if (run === undefined) return this.#engine.compile(program, signal);
    signal.throwIfAborted();
    return {
      apply: async (input, applySignal) => {
        applySignal.throwIfAborted();
        try {
          return sortedCopy(program, run(input));
        } catch (error) {
          throw error instanceof JqError ? runtimeError(program, error.message, error) : error;
        }
      },
    };
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }
}

/** Copies the outputs: they share nothing with the object, so that the rest of it can be freed. */
function sortedCopy(program: string, outputs: readonly unknown[]): readonly unknown[] {
  let items = 0;
  const count = (parts: number): void => {
    items += parts;
    if (items > MAX_ITEMS) throw tooManyItems(program);
  };
  return outputs.map((output) => withSortedKeys(output, count));
}
