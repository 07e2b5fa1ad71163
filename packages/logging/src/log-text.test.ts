import { expect, test } from 'vitest';
import { formatLogLine } from './json-logger.ts';

test('a record becomes time, level, logger, message and sorted fields', () => {
  const line = JSON.stringify({
    level: 'info',
    time: '2026-01-02T03:04:05Z',
    queue: 'main',
    hook: 'a b.sh',
    count: 2,
    labels: { a: 1 },
    logger: 'addon-operator.queue',
    msg: 'task done',
  });
  expect(formatLogLine(`${line}\n`, false)).toBe(
    '2026-01-02T03:04:05Z INFO  [addon-operator.queue] task done count=2 hook="a b.sh" labels={"a":1} queue=main\n',
  );
});

test('time and logger are optional', () => {
  expect(formatLogLine('{"level":"error","msg":"boom"}', false)).toBe('ERROR boom\n');
});

test('colours mark the level and are only written on request', () => {
  expect(formatLogLine('{"level":"warn","msg":"m"}', true)).toBe('\u001b[33mWARN \u001b[0m m\n');
});

test('nothing in a record can end the line or reach the terminal', () => {
  const record = { level: 'info', msg: 'a\nb\u001b[2J', 'k\ney': 'x\r\ny', other: '\u2028\u009b' };
  const text = formatLogLine(JSON.stringify(record), false);
  expect(text.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  expect(text).toContain('a\\u000ab\\u001b[2J');
});
