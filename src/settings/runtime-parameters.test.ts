import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createLogger, type RootLogger } from '../lib/pino-logger.ts';
import { logLevelParameter } from './log-level-parameter.ts';
import { RuntimeParameters } from './runtime-parameters.ts';

function create(): { clock: FakeClock; log: RootLogger; parameters: RuntimeParameters } {
  const clock = new FakeClock();
  const output = { write: () => undefined };
  const log = createLogger({ level: 'info', type: 'json', hasTime: false, clock, output });
  return { clock, log, parameters: new RuntimeParameters([logLevelParameter(log)], clock) };
}

test('set() changes a parameter for ever', () => {
  const { log, parameters } = create();
  parameters.set('log.level', 'WARN', '');
  expect(log.level).toBe('warn');
  expect(parameters.list()).toMatchObject([{ name: 'log.level', default: 'info', value: 'WARN' }]);
  expect(parameters.list()[0]).not.toHaveProperty('expiresAtMs');
});

test('debug returns to the permanent level after 30 minutes', async () => {
  const { clock, log, parameters } = create();
  const stop = new AbortController();
  const running = parameters.run(stop.signal);
  parameters.set('log.level', 'warn', '');
  parameters.set('log.level', 'debug', '');
  expect(log.level).toBe('debug');
  expect(parameters.list()).toMatchObject([{ value: 'debug', expiresAtMs: 1_800_000 }]);
  await clock.advance(29 * 60_000);
  expect(log.level).toBe('debug');
  await clock.advance(60_000);
  expect(log.level).toBe('warn');
  expect(parameters.list()[0]).not.toHaveProperty('expiresAtMs');
  stop.abort();
  await running;
});

test('a given duration beats the half hour', async () => {
  const { clock, log, parameters } = create();
  const stop = new AbortController();
  const running = parameters.run(stop.signal);
  parameters.set('log.level', 'debug', '1m');
  await clock.advance(60_000);
  expect(log.level).toBe('info');
  stop.abort();
  await running;
});

test.each([
  ['nothing.known', 'x', '', 'unknown runtime parameter "nothing.known"'],
  ['log.level', 'foo', '', `'value' parameter is invalid: unknown log level "foo"`],
  ['log.level', 'debug', 'soon', 'parse duration "soon" failed'],
  ['log.level', 'debug', '-1m', 'parse duration "-1m" failed'],
])('set(%j, %j, %j) is refused and changes nothing', (name, value, duration, message) => {
  const { log, parameters } = create();
  expect(() => parameters.set(name, value, duration)).toThrow(message);
  expect(log.level).toBe('info');
});
