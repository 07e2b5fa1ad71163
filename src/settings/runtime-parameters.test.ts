import { createLogger, type RootLogger } from '@addon-operator/logging/json-logger';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { logLevelParameter } from './log-parameters.ts';
import { type RuntimeParameter, RuntimeParameters } from './runtime-parameters.ts';

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

test('a value that cannot be put into force is refused and its error kept, until one can', async () => {
  const clock = new FakeClock();
  let problem: string | undefined = 'no disk';
  const inForce: string[] = [];
  const sink: RuntimeParameter = {
    name: 'sink',
    description: 'Where it goes',
    default: 'a',
    validate: () => undefined,
    apply: (value) => {
      if (problem !== undefined) throw new Error(problem);
      inForce.push(value);
    },
  };
  const parameters = new RuntimeParameters([sink], clock);
  const stop = new AbortController();
  const running = parameters.run(stop.signal);
  expect(() => parameters.set('sink', 'b', '')).toThrow('no disk');
  expect(parameters.list()).toMatchObject([{ value: 'a', lastError: 'no disk' }]);
  problem = undefined;
  parameters.set('sink', 'b', '1m');
  expect(parameters.list()[0]).not.toHaveProperty('lastError');
  problem = 'still no disk';
  await clock.advance(60_000);
  expect(parameters.list()).toMatchObject([{ value: 'b', lastError: 'still no disk' }]);
  problem = undefined;
  await clock.advance(15_000);
  expect(parameters.list()).toEqual([
    { name: 'sink', description: 'Where it goes', default: 'a', value: 'a' },
  ]);
  expect(inForce).toEqual(['b', 'a']);
  stop.abort();
  await running;
});
