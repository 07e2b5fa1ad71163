import { expect, test } from 'vitest';
import { cpuTimeMs } from '../../../../test/support/cpu-time.ts';
import { findProgramProblem } from './program-problem.ts';

test.each<[string, string]>([
  ['input', 'input'],
  ['[.a, inputs]', 'inputs'],
  ['.a | debug', 'debug'],
  ['debug("x")', 'debug'],
  ['import "a" as a; .', 'import'],
  ['include "a"; .', 'include'],
  ['if .a then halt else . end', 'halt'],
  ['halt_error', 'halt_error'],
  ['"\\(input)"', 'input'],
  ['"a \\( "b \\( [ halt ] ) c" ) d"', 'halt'],
  ['{a: input}', 'input'],
  ['{a: (1, input)}', 'input'],
  ['{(input): 1}', 'input'],
  ['{a: [1, input]}', 'input'],
  ['# a comment\ninput', 'input'],
  ['# a comment that continues \\\ninput', 'input'],
  ['.a,input', 'input'],
  ['1,\ninput_line_number', 'input_line_number'],
  ['input|.a', 'input'],
  ['..|input', 'input'],
  ['[.[]|input_filename]', 'input_filename'],
  ['"m"|modulemeta', 'modulemeta'],
])('findProgramProblem() finds in %j the call of %s', (program, name) => {
  expect(findProgramProblem(program)).toBe(`${name} is not allowed in filters`);
});

test.each([
  '.input',
  '.spec.debug.halt',
  '.a.import',
  '."input"',
  '.["inputs"]',
  '{input}',
  '{a: 1, debug, b: 2}',
  '{halt: .x}',
  '{ include : .x }',
  '{input # a comment\n: .x}',
  '. as $input | $input',
  '"input \\" debug"',
  '"\\\\" | .a',
  '.a # then input',
  'inputs_of',
  'my_input',
  '@text "input"',
  '$ENV.debug',
  '',
])('findProgramProblem() finds nothing in %j', (program) => {
  expect(findProgramProblem(program)).toBeUndefined();
});

test.each<[string, string]>([
  ['.a[', '"[" is not closed'],
  ['1] | [2', '"]" has no opening counterpart'],
  ['(1]', '"]" has no opening counterpart'],
  ['{a: (1}', '"}" has no opening counterpart'],
  ['"abc', 'a string is not closed'],
  ['"abc\\"', 'a string is not closed'],
  ['"\\(1"', 'a string is not closed'],
])('findProgramProblem() says of %j that %s', (program, problem) => {
  expect(findProgramProblem(program)).toBe(problem);
});

test('findProgramProblem() takes linear time', () => {
  const startedAtMs = cpuTimeMs();
  findProgramProblem(`{${'input#\n'.repeat(20_000)}`);
  findProgramProblem(`{input${' #'.repeat(20_000)}`);
  findProgramProblem(`{input${' '.repeat(200_000)}`);
  findProgramProblem('('.repeat(200_000));
  findProgramProblem('"\\('.repeat(100_000));
  findProgramProblem(`"${'\\\\'.repeat(100_000)}`);
  expect(cpuTimeMs() - startedAtMs).toBeLessThan(10_000);
});
