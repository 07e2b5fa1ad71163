import { execa } from 'execa';
import { Engine } from '../../../src/jq/engine/engine.ts';
import { JqError } from '../../../src/jq/engine/jq-error.ts';
import { parseValue } from '../../../src/jq/engine/json-parser.ts';
import { toJson } from '../../../src/jq/engine/json-text.ts';
import { JqSyntaxError } from '../../../src/jq/engine/lexer.ts';

/** Answers to a program and the JSON text of an input, in the form of `JqAnswer`, or `compile error`, or `crash`. */
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

/** A jq binary, called as the operator calls it. */
export function askBinary(file: string): AskJq {
  return async (program, input) => {
    const wrapped = `def env: {}; {} as $ENV | try [${program}\n\n] catch {error: .}`;
    const result = await execa(file, ['-c', '-S', wrapped], {
      input: toJson(parseValue(input)),
      reject: false,
      env: {},
      extendEnv: false,
    });
    if (result.signal !== undefined) return CRASH;
    if (result.exitCode !== 0) return COMPILE_ERROR;
    return result.stdout === '' ? '' : toJson(parseValue(result.stdout));
  };
}
