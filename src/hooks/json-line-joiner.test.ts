import { assert, dictionary, jsonValue, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { JsonLineJoiner } from './json-line-joiner.ts';

/** What comes out of lines: objects as they are, text as strings. */
function join(lines: readonly string[]): unknown[] {
  const out: unknown[] = [];
  const joiner = new JsonLineJoiner({
    onObject: (object) => out.push(object),
    onText: (line) => out.push(line),
  });
  for (const line of lines) joiner.push(line);
  joiner.end();
  return out;
}

test('an object in one line is an object, everything else is text', () => {
  expect(join(['{"a":1}', 'text', '[1]', '{"a":1} tail'])).toEqual([{ a: 1 }, 'text', '[1]', '{"a":1} tail']);
});

test('any object is found again however it is indented', () => {
  assert(
    property(dictionary(string(), jsonValue({ maxDepth: 4 })), (object) => {
      const lines = JSON.stringify(object, undefined, 2)
        .split('\n')
        .map((line) => line.trim());
      expect(join(['before', ...lines, 'after'])).toEqual([
        'before',
        JSON.parse(JSON.stringify(object)),
        'after',
      ]);
    }),
  );
});

test.each([
  ['a brace alone', ['{', 'hello']],
  ['a broken object', ['{', '"a": 1', '"b": 2', '}']],
  ['a text that starts with a brace', ['{not json', 'next']],
  ['an object that is never closed', ['{', '"a": [1,', '2']],
  ['a bracket of the other kind', ['{', '"a": [1', '}', 'x']],
  ['two objects in a line', ['{', '"a": 1 }, {', 'x']],
  ['too deep a nesting', Array.from({ length: 100 }, () => '{"a":')],
])('%s is handed over line by line', (_case, lines) => {
  expect(join(lines)).toEqual(lines);
});

test('text with a brace is handed over as soon as it cannot become an object', () => {
  const out: unknown[] = [];
  const joiner = new JsonLineJoiner({
    onObject: (object) => out.push(object),
    onText: (line) => out.push(line),
  });
  joiner.push('{');
  expect(out).toEqual([]);
  joiner.push('{"msg":"whole"}');
  expect(out).toEqual(['{', { msg: 'whole' }]);
});

test('an object that grows too long is text, and what follows is read as ever', () => {
  const lines = ['{"a": [', ...Array.from({ length: 70 }, () => `"${'x'.repeat(1_000)}",`)];
  expect(join([...lines, '{"b":2}'])).toEqual([...lines, { b: 2 }]);
});
