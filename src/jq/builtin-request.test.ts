import { expect, test } from 'vitest';
import { requestLine, splitRequest } from './builtin-request.ts';

test.each([
  { program: '.a', input: '{"a":1}' },
  { program: '.a\t| "\n\u2028\\t"', input: '"\\t"' },
  { program: '', input: undefined },
])('splitRequest() gives back what requestLine() was given: %j', (request) => {
  const line = requestLine(request);
  expect(line).not.toContain('\n');
  expect(splitRequest(line)).toEqual(request);
});
