import { OperatorError } from '@addon-operator/base/errors';
import { Redactor } from '@addon-operator/masking/redactor';
import { anything, assert, dictionary, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { createLogger, type LoggerOptions, type RootLogger } from './json-logger.ts';
import { observeLog } from './observe-log.ts';
import { redactedLog } from './redacted-log.ts';

function capture(options?: Partial<LoggerOptions>): { log: RootLogger; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    type: 'json',
    hasTime: true,
    clock: new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5)),
    output: { write: (line) => void lines.push(line) },
    ...options,
  });
  return { log, lines };
}

test('a record is one JSON object with level, msg, fields and time', () => {
  const { log, lines } = capture();
  log.child({ logger: 'addon-operator', queue: 'main' }).info({ count: 2 }, 'task done');
  expect(lines).toHaveLength(1);
  const record = JSON.parse(lines[0] ?? '');
  expect(record).toMatchObject({
    level: 'info',
    logger: 'addon-operator',
    queue: 'main',
    count: 2,
    msg: 'task done',
  });
  expect(new Date(record.time).getTime()).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
});

test('the time can be left out', () => {
  const { log, lines } = capture({ hasTime: false });
  log.info({}, 'm');
  expect(lines).toEqual(['{"level":"info","msg":"m"}\n']);
});

test('records below the level are dropped until setLevel() lowers it, for children too', () => {
  const { log, lines } = capture();
  const child = log.child({ a: 1 });
  child.debug({}, 'hidden');
  expect(lines).toEqual([]);
  log.setLevel('debug');
  expect(log.level).toBe('debug');
  child.debug({}, 'shown');
  expect(lines).toHaveLength(1);
});

test('a field of the record beats one of the child, and each name is written once', () => {
  const { log, lines } = capture({ hasTime: false });
  log.child({ a: 1 }).child({ a: 2 }).info({ a: 3 }, 'm');
  expect(lines).toEqual(['{"level":"info","a":3,"msg":"m"}\n']);
});

test('at level debug a record has the file and line that made it, also through other loggers', () => {
  const { log, lines } = capture({ level: 'debug' });
  const redactor = new Redactor();
  redactor.add('secret');
  for (const logger of [
    log,
    log.child({ a: 1 }),
    observeLog(redactedLog(log, redactor), () => undefined).child({}),
  ])
    logger.info({}, 'm');
  log.info({ source: 'own' }, 'm');
  log.setLevel('info');
  log.info({}, 'm');
  const sources = lines.map((line) => (JSON.parse(line) as { readonly source?: string }).source);
  expect(sources).toEqual([
    ...Array.from({ length: 3 }, () => expect.stringMatching(/^src\/json-logger\.test\.ts:\d+$/)),
    'own',
    undefined,
  ]);
});

test('a value that JSON cannot hold costs only its own field', () => {
  const { log, lines } = capture({ hasTime: false });
  const circle: { self?: object } = {};
  circle.self = circle;
  log.child({ circle, none: undefined }).info({ big: 2n ** 64n, act: () => undefined, n: Number.NaN }, 'm');
  expect(lines).toEqual([
    '{"level":"info","circle":"cannot be shown","big":18446744073709551616,"n":null,"msg":"m"}\n',
  ]);
});

test('records of one child may name an error or repeat its fields, each on its own', () => {
  const { log, lines } = capture({ hasTime: false });
  const child = log.child({ queue: 'main' });
  child.info({}, 'a');
  child.warn({ error: new OperatorError('KUBE_API', 'refused') }, 'b');
  child.info({ queue: 'other' }, 'c');
  child.info({ n: 1 }, 'd');
  expect(lines).toEqual([
    '{"level":"info","queue":"main","msg":"a"}\n',
    '{"level":"warn","queue":"main","error":"refused","code":"KUBE_API","msg":"b"}\n',
    '{"level":"info","queue":"other","msg":"c"}\n',
    '{"level":"info","queue":"main","n":1,"msg":"d"}\n',
  ]);
});

test('the time is that of the record, also within one process that runs for long', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const { log, lines } = capture({ clock });
  log.info({}, 'm');
  await clock.advance(999);
  log.info({}, 'm');
  await clock.advance(1);
  log.info({}, 'm');
  const times = lines.map((line) => new Date((JSON.parse(line) as { readonly time: string }).time).getTime());
  expect(times).toEqual([0, 0, 1_000].map((ms) => Date.UTC(2026, 0, 2, 3, 4, 5) + ms));
});

test('fields cannot take the place of the level, the message or the time', () => {
  const { log, lines } = capture({ hasTime: false });
  log.warn({ level: 'info', msg: 'forged', time: 'then' }, 'real');
  expect(lines).toEqual(['{"level":"warn","level_":"info","msg_":"forged","time_":"then","msg":"real"}\n']);
});

test('an error is written as its message and causes, with its code', () => {
  const { log, lines } = capture({ hasTime: false });
  const error = new OperatorError('KUBE_API', 'Cannot list', { cause: new Error('refused') });
  log.error({ error }, 'failed');
  expect(lines).toEqual([
    '{"level":"error","error":"Cannot list: refused","code":"KUBE_API","msg":"failed"}\n',
  ]);
});

test('an error without a code is logged with its stack', () => {
  const { log, lines } = capture();
  log.error({ error: new TypeError('x is undefined') }, 'failed');
  const record = JSON.parse(lines[0] ?? '');
  expect(record.error).toBe('x is undefined');
  expect(record.stacktrace[0]).toMatch(/^at .*json-logger\.test/);
});

test('text records go through the same fields', () => {
  const { log, lines } = capture({ type: 'text', hasTime: false });
  log.info({ hook: 'a.sh' }, 'hook finished');
  expect(lines).toEqual(['INFO  hook finished hook=a.sh\n']);
});

test('a record with any fields is one line of valid JSON', () => {
  assert(
    property(dictionary(string(), anything()), string(), (fields, message) => {
      const { log, lines } = capture();
      log.info(fields, message);
      expect(lines).toHaveLength(1);
      expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', msg: message });
    }),
  );
});
