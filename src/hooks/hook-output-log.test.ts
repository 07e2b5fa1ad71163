import type { OutputStream } from '@addon-operator/process/process-runner';
import { assert, dictionary, jsonValue, nat, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createHookOutputLog, JsonLineJoiner } from './hook-output-log.ts';

function recordsOf(line: string, stream: OutputStream = 'stdout') {
  const captured = new CapturedLog(new FakeClock());
  const log = createHookOutputLog(captured.logger.child({ hook: 'a.sh' }));
  for (const part of line.split('\n')) log.line(stream, part);
  log.end();
  return captured.records;
}

test.each(['stdout', 'stderr'] as const)(
  'text on %s is logged at level info, with its indentation',
  (stream) => {
    expect(recordsOf('key:\n  - hello \r\n\t- world', stream)).toMatchObject([
      { level: 'info', msg: 'key:', output: stream, hook: 'a.sh' },
      { msg: '  - hello' },
      { msg: '\t- world' },
    ]);
  },
);

test('an empty line is dropped', () => {
  expect(recordsOf(' \t ')).toEqual([]);
});

test('a long text is cut, and says so', () => {
  const [record] = recordsOf('x'.repeat(10_001));
  expect(record?.['msg']).toBe(`${'x'.repeat(10_000)}:truncated`);
  expect(recordsOf('x'.repeat(10_000))[0]?.['msg']).toBe('x'.repeat(10_000));
});

test('a JSON object keeps its level and message, other keys become fields of the hook', () => {
  const [record] = recordsOf('{"level":"error","msg":"m","time":"now","a":1,"hook":"forged","b":{"c":[]}}');
  expect(record).toEqual({
    level: 'error',
    msg: 'm',
    source: expect.any(String),
    hook: 'a.sh',
    output: 'stdout',
    proxyJsonLog: true,
    hook_a: 1,
    hook_hook: 'forged',
    hook_b: { c: [] },
  });
});

test.each([
  ['{"a":1}', 'info', 'hook result'],
  ['{"level":"loud","msg":7}', 'info', 'hook result'],
  ['{"level":"debug","msg":"d"}', 'debug', 'd'],
])('a JSON object without level or message gets defaults: %s', (line, level, msg) => {
  expect(recordsOf(line)).toMatchObject([{ level, msg }]);
});

test('the level of the log filters what hooks print, too', () => {
  expect(recordsOf('{"level":"trace","msg":"fine"}')).toEqual([]);
});

test('a JSON object that is too long becomes one cut field', () => {
  const [record] = recordsOf(JSON.stringify({ msg: 'm', a: 'x'.repeat(10_000) }));
  expect(record).not.toHaveProperty('hook_a');
  expect(record?.['hook.truncated']).toMatch(/^\{"a":"x+:truncated$/);
});

test.each(['{not json', '[1,2]', '"text"', '{"a":1} tail'])('anything else is plain text: %s', (line) => {
  expect(recordsOf(line)).toMatchObject([{ level: 'info', msg: line }]);
});

test('a JSON object printed over several lines is one record', () => {
  expect(recordsOf('{\n  "level": "warn",\n  "msg": "m",\n  "list": [\n    1\n  ]\n}\nafter')).toMatchObject([
    { level: 'warn', msg: 'm', hook_list: [1], proxyJsonLog: true },
    { level: 'info', msg: 'after' },
  ]);
});

test('what was held back as the beginning of an object is logged as text at the end', () => {
  expect(recordsOf('  {\n    "a": 1,')).toMatchObject([{ msg: '  {' }, { msg: '    "a": 1,' }]);
});

/** The records made of lines: objects as they are, text as strings. */
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
    property(
      dictionary(string(), jsonValue({ maxDepth: 4 })),
      nat(4).map((count) => ' '.repeat(count)),
      (object, indent) => {
        const lines = JSON.stringify(object, undefined, 2)
          .split('\n')
          .map((line) => `${indent}${line}`);
        expect(join(['before', ...lines, 'after'])).toEqual([
          'before',
          JSON.parse(JSON.stringify(object)),
          'after',
        ]);
      },
    ),
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
