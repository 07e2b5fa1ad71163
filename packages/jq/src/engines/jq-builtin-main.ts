/**
 * The process of the built-in jq engine: each line of stdin is a request as {@link requestLine} writes it, and the
 * result is one line of stdout with the array of outputs, or an object with the `error`. It ends at the end of stdin.
 */
import { createInterface } from 'node:readline';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { Engine, JqError, type Program, parseValue, toJson } from '../jq.ts';
import { splitRequest } from './jq-result.ts';

/** Programs kept compiled. */
const MAX_PROGRAMS = 500;
/** Larger results fail here, with a better reason than their reader has. */
const MAX_ANSWER_CHARACTERS = 8 * 1024 * 1024;

async function serve(): Promise<void> {
  // Errors are ordinary results of programs; their stacks are never used.
  Error.stackTraceLimit = 0;
  const engine = new Engine(() => systemClock.wallMs());
  const programs = new Map<string, Program>();
  const compiled = (program: string): Program => {
    const found = programs.get(program) ?? engine.compile(program);
    if (programs.size >= MAX_PROGRAMS) programs.clear();
    programs.set(program, found);
    return found;
  };
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${response(compiled, line)}\n`);
  }
}

/** The response to one request; every error is a response too, so that the next request gets its own. */
function response(compiled: (program: string) => Program, line: string): string {
  try {
    const { program, input } = splitRequest(line);
    const run = compiled(program);
    return input === undefined ? '[]' : outputsOf(run, input);
  } catch (error) {
    return toJson({ error: error instanceof JqError ? error.value : messageOf(error) });
  }
}

/** All outputs as one JSON array, written as they are computed. */
function outputsOf(run: Program, input: string): string {
  let text = '';
  for (const output of run(parseValue(input))) {
    text += `${text === '' ? '' : ','}${toJson(output)}`;
    if (text.length > MAX_ANSWER_CHARACTERS) {
      throw new RangeError(`its output for one object is larger than ${MAX_ANSWER_CHARACTERS} characters`);
    }
  }
  return `[${text}]`;
}

await serve();
