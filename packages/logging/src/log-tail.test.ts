import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { LogTail } from './log-tail.ts';

test('the last lines are kept as texts, long ones cut', () => {
  const tail = new LogTail(new FakeClock(), () => 'info');
  const circle: { self?: object } = {};
  circle.self = circle;
  tail.add({ level: 'debug', message: 'too low', fields: {} });
  tail.add({
    level: 'warn',
    message: 'm'.repeat(2_000),
    fields: {
      module: 'web',
      error: new Error('no disk', { cause: new Error('full') }),
      n: 1,
      circle,
      none: undefined,
    },
  });
  expect(tail.recent).toEqual([
    {
      time: '1970-01-01T00:00:00Z',
      level: 'warn',
      message: expect.stringMatching(/^m{999}…$/),
      fields: { module: 'web', error: 'no disk: full', n: '1', circle: 'cannot be shown', none: '' },
    },
  ]);
  for (let index = 0; index < 500; index += 1) tail.add({ level: 'info', message: `${index}`, fields: {} });
  expect([tail.recent.length, tail.recent[0]?.message]).toEqual([200, '300']);
});

test('a kept line shows what a field held when it was logged', () => {
  const tail = new LogTail(new FakeClock(), () => 'info');
  const state = { phase: 'before' };
  tail.add({ level: 'info', message: 'm', fields: { state, n: 1 } });
  state.phase = 'after';
  expect(tail.recent.map(({ fields }) => fields)).toEqual([{ state: '{"phase":"before"}', n: '1' }]);
});

test('a listener gets each line until it is gone', () => {
  const tail = new LogTail(new FakeClock(), () => 'info');
  const seen: string[] = [];
  const end = tail.follow(({ message }) => seen.push(message));
  tail.add({ level: 'info', message: 'a', fields: {} });
  end();
  tail.add({ level: 'info', message: 'b', fields: {} });
  expect(seen).toEqual(['a']);
});
