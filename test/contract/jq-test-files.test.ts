import {
  Engine,
  isEqual,
  JqError,
  JqSyntaxError,
  LimitError,
  type Program,
  parseValue,
  toJson,
  type Value,
} from '@addon-operator/jq';
import { expect, test } from 'vitest';
import { JQ_VERSION, jqTestFiles } from '../support/jq/jq-program.ts';
import { OUT_OF_SCOPE } from '../support/jq/out-of-scope.ts';
import { type Outcome, readTestFiles, type TestCase } from '../support/jq/read-test-files.ts';

const directory = await jqTestFiles();
const engine = new Engine(() => 0);

test.skipIf(directory === undefined)(
  `the built-in engine passes all of the own tests of jq ${JQ_VERSION}, but for those out of scope`,
  () => {
    const cases = readTestFiles(directory ?? '');
    const problems = new Map(cases.map((one) => [one.id, problemOf(one)]));
    const failed = cases.filter(({ id }) => problems.get(id) !== undefined && !OUT_OF_SCOPE.includes(id));
    expect(failed.map(({ id, program }) => ({ id, program, problem: problems.get(id) }))).toEqual([]);
    expect(OUT_OF_SCOPE.filter((id) => problems.get(id) === undefined)).toEqual([]);
    expect(cases.length - OUT_OF_SCOPE.length).toBeGreaterThan(800);
  },
);

/** What the engine does otherwise than a case wants, or undefined. What jq says of a bad program is not compared. */
function problemOf({ program, expected }: TestCase): string | undefined {
  const compiled = compile(program);
  if (expected === 'compile-error') return typeof compiled === 'string' ? undefined : 'it compiles';
  return typeof compiled === 'string' ? compiled : outputProblem(compiled, expected);
}

function compile(program: string): Program | string {
  try {
    return engine.compile(program);
  } catch (error) {
    if (error instanceof JqSyntaxError) return error.message;
    throw error;
  }
}

function outputProblem(program: Program, { input, outputs }: Outcome): string | undefined {
  const expected = outputs.map(parseValue);
  const actual: Value[] = [];
  let end = '';
  try {
    for (const output of program(parseValue(input))) {
      actual.push(output);
      if (actual.length > expected.length) break;
    }
  } catch (error) {
    if (!(error instanceof JqError || error instanceof LimitError)) throw error;
    end = `, then the error ${error.message}`;
  }
  const isSame =
    actual.length === expected.length && actual.every((output, at) => isEqual(output, expected[at] ?? null));
  return isSame ? undefined : `it gives ${actual.map(toJson).join(' ')}${end}`;
}
