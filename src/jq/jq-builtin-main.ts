/**
 * The process of the built-in jq engine: each line of stdin is a {@link BuiltinRequest}, answered with one line that
 * holds the array of outputs, or an object with the `error`. It ends at the end of stdin.
 */
import { createInterface } from 'node:readline';
import { messageOf } from '../lib/errors.ts';
import { canonicalJson } from '../lib/json.ts';
import { compileJqjs, type JqjsFilter } from './jqjs-filter.ts';

export interface BuiltinRequest {
  readonly program: string;
  /** JSON text of the input; without it the program is only compiled, and the outputs are none. */
  readonly input?: string;
}

/** Programs kept compiled. */
const MAX_FILTERS = 500;

async function serve(): Promise<void> {
  // Otherwise the filter `.__proto__` would find it in every object.
  Reflect.deleteProperty(Object.prototype, '__proto__');
  // jqjs prints what it matches; stdout is for answers.
  console.log = () => undefined;
  const filters = new Map<string, JqjsFilter>();
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${await answer(filters, JSON.parse(line))}\n`);
  }
}

async function answer(filters: Map<string, JqjsFilter>, { program, input }: BuiltinRequest): Promise<string> {
  try {
    const filter = filters.get(program) ?? (await compileJqjs(program));
    if (filters.size >= MAX_FILTERS) filters.clear();
    filters.set(program, filter);
    return input === undefined ? '[]' : canonicalJson(filter(JSON.parse(input)));
  } catch (error) {
    return canonicalJson({ error: messageOf(error) });
  }
}

await serve();
