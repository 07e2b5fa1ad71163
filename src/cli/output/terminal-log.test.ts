import { expect, test } from 'vitest';
import { paintFor } from './paint.ts';
import { terminalLines, terminalLog } from './terminal-log.ts';

const PLAIN = paintFor(false);
const TIME = '2026-11-23T07:57:10Z';
const CLOCK = new Date(TIME).toTimeString().slice(0, 8);

test.each([
  [
    { level: 'info', time: TIME, logger: 'l', port: 9650, msg: 'listens' },
    [`${CLOCK} info  listens port=9650`],
  ],
  [
    {
      level: 'info',
      module: 'web',
      hook: 'hooks/a.sh',
      'task.id': 3,
      queue: 'main',
      output: 'stdout',
      msg: 'hi',
    },
    ['info  web/hooks/a.sh hi'],
  ],
  [
    {
      level: 'info',
      hook: 'hooks/a.sh',
      path: '/modules/001-web/hooks/a.sh',
      proxyJsonLog: true,
      hook_count: 3,
      msg: 'hi',
    },
    ['info  hooks/a.sh hi hook_count=3'],
  ],
  [{ level: 'info', hook: 'a.sh', path: '/elsewhere', msg: 'reads' }, ['info  a.sh reads path=/elsewhere']],
  [
    { level: 'warn', hook: 'a.sh', msg: 'failed', error: 'one', code: 'X' },
    ['warn  a.sh failed: one code=X'],
  ],
  [
    { level: 'error', module: 'web', msg: 'failed', attempt: 2, error: 'helm:\n\tbad line\nexit 1\n' },
    ['error web failed attempt=2', '    error:', '    helm:', '      bad line', '    exit 1'],
  ],
  [
    {
      level: 'error',
      msg: 'broken',
      stacktrace: ['at a (x.ts:1)', 'at b (y.ts:2)'],
      directories: ['a', 'b'],
    },
    ['error broken directories=["a","b"]', '    stacktrace:', '    at a (x.ts:1)', '    at b (y.ts:2)'],
  ],
  [{ level: 'info', msg: 'several\nlines' }, ['info  several', '    lines']],
])('a record %j is shown as lines', (record, expected) => {
  expect(terminalLines(`${JSON.stringify(record)}\n`, PLAIN)).toBe(`${expected.join('\n')}\n`);
});

test('what is no record is shown as it is', () => {
  expect(terminalLines('no json\n', PLAIN)).toBe('no json\n');
});

test('no control character reaches the terminal', () => {
  const evil = '\u001b[2Jx\u009b31m\r\u2028\u0007';
  const record = {
    level: evil,
    time: evil,
    module: evil,
    hook: evil,
    msg: evil,
    error: `a\n${evil}`,
    [evil]: evil,
  };
  expect(terminalLines(JSON.stringify(record), PLAIN).replaceAll('\n', '')).not.toMatch(
    /[\p{Cc}\p{Zl}\p{Zp}]/u,
  );
  expect(terminalLines(`${evil}\n`, PLAIN).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
});

test('the level is coloured', () => {
  const written: string[] = [];
  terminalLog({ write: (line) => written.push(line) }, true).write('{"level":"error","msg":"x"}\n');
  expect(written).toEqual(['\u001b[31merror\u001b[0m x\n']);
});
