import { Engine } from '../src/engine.ts';
import { JqError } from '../src/jq-error.ts';
import { parseValue } from '../src/json-parser.ts';
import { toJson } from '../src/json-text.ts';
import { JqSyntaxError } from '../src/lexer.ts';

/** Answers to a program and the JSON text of an input, in the form of `JqResponse`, or `compile error`, or `crash`. */
export type AskJq = (program: string, input: string) => Promise<string>;

export const COMPILE_ERROR = 'compile error';
export const CRASH = 'crash';

/** The built-in engine, in this process. */
export function askBuiltin(): AskJq {
  const engine = new Engine(() => 0);
  return async (program, input) => {
    try {
      const run = engine.compile(program);
      return toJson([...run(parseValue(input))]);
    } catch (error) {
      if (error instanceof JqSyntaxError) return COMPILE_ERROR;
      if (error instanceof JqError) return toJson({ error: error.value });
      throw error;
    }
  };
}
