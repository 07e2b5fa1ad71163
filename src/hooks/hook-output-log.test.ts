import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { OutputStream } from '../process/process-runner.ts';
import { createHookOutputLog } from './hook-output-log.ts';

function recordsOf(line: string, stream: OutputStream = 'stdout') {
  const captured = new CapturedLog(new FakeClock());
  const log = createHookOutputLog(captured.logger.child({ hook: 'a.sh' }));
  for (const part of line.split('\n')) log.line(stream, part);
  log.end();
  return captured.records;
}

test.each(['stdout', 'stderr'] as const)('text on %s is logged at level info, trimmed', (stream) => {
  expect(recordsOf('  hello \r', stream)).toMatchObject([
    { level: 'info', msg: 'hello', output: stream, hook: 'a.sh' },
  ]);
});

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
  expect(recordsOf('{\n"a": 1,')).toMatchObject([{ msg: '{' }, { msg: '"a": 1,' }]);
});
