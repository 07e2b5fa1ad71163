import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { GateObservation } from './evaluate-gate.ts';
import type { Gate } from './gates.ts';
import { GateObserver } from './observe-gates.ts';

const signal = new AbortController().signal;
const READY: Gate = { type: 'ready', forMs: 20_000 };
const QUERY: Gate = {
  type: 'query',
  url: 'http://prometheus',
  promql: 'errors',
  max: 1,
  forMs: 0,
  noData: 'hold',
};

function lab() {
  const clock = new FakeClock();
  const seen = {
    why: undefined as string | undefined,
    error: undefined as string | undefined,
    query: { type: 'no-data' } as GateObservation,
  };
  const observer = new GateObserver({
    clock,
    whyNotReady: async () => {
      if (seen.error !== undefined) throw new Error(seen.error);
      return await Promise.resolve(seen.why);
    },
    query: async () => await Promise.resolve(seen.query),
  });
  return {
    clock,
    seen,
    observe: (gate: Gate, sinceMs = 1) => observer.observe(gate, 'web', sinceMs, signal),
  };
}

test('a module passes when it was ready for the time without an interruption', async () => {
  const { clock, seen, observe } = lab();
  expect(await observe(READY)).toMatchObject({ type: 'waiting' });
  await clock.advance(15_000);
  seen.why = 'failing: no image';
  expect(await observe(READY)).toEqual({ type: 'waiting', reason: 'failing: no image' });
  seen.why = undefined;
  await observe(READY);
  await clock.advance(15_000);
  expect(await observe(READY)).toMatchObject({ type: 'waiting' });
  await clock.advance(5_000);
  expect(await observe(READY)).toEqual({ type: 'passed' });
});

test('a module whose objects cannot be read is neither ready nor failed', async () => {
  const { clock, seen, observe } = lab();
  await observe(READY);
  seen.error = 'no route to host';
  await clock.advance(20_000);
  expect(await observe(READY)).toEqual({
    type: 'hold',
    reason: 'its objects cannot be read: no route to host',
  });
});

test('another version begins anew', async () => {
  const { clock, observe } = lab();
  await observe(READY);
  await clock.advance(20_000);
  expect(await observe(READY, 2)).toMatchObject({ type: 'waiting' });
});

test('a query is asked, and gates do not share their time', async () => {
  const { clock, seen, observe } = lab();
  expect(await observe(QUERY)).toMatchObject({ type: 'hold' });
  seen.query = { type: 'value', value: 2 };
  expect(await observe(QUERY)).toMatchObject({ type: 'failed' });
  seen.query = { type: 'value', value: 1 };
  expect(await observe(QUERY)).toEqual({ type: 'passed' });
  await clock.advance(60_000);
  expect(await observe(READY)).toMatchObject({ type: 'waiting' });
});
