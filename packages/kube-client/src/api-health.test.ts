import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ApiHealth, type RequestOutcome } from './api-health.ts';

const DOWN: RequestOutcome = {
  status: undefined,
  error: new OperatorError('KUBE_UNREACHABLE', 'connect ECONNREFUSED'),
};
const ABORTED: RequestOutcome = { status: undefined, error: new Error('aborted') };
const REFUSED: RequestOutcome = { status: 403 };

test.each<{ what: string; outcomes: [seconds: number, RequestOutcome][]; atS: number; outage: unknown }>([
  { what: 'nothing was sent', outcomes: [], atS: 60, outage: undefined },
  { what: 'one request had no response', outcomes: [[0, DOWN]], atS: 10, outage: undefined },
  {
    what: 'two had none',
    outcomes: [
      [1, DOWN],
      [3, DOWN],
    ],
    atS: 6,
    outage: { error: 'connect ECONNREFUSED', durationMs: 5_000 },
  },
  {
    what: 'two had none within five seconds',
    outcomes: [
      [1, DOWN],
      [3, DOWN],
    ],
    atS: 5.9,
    outage: undefined,
  },
  {
    what: 'one was answered later, if only with a refusal',
    outcomes: [
      [1, DOWN],
      [3, DOWN],
      [9, REFUSED],
      [12, DOWN],
    ],
    atS: 20,
    outage: undefined,
  },
  {
    what: 'a request was aborted',
    outcomes: [
      [0, DOWN],
      [5, ABORTED],
    ],
    atS: 10,
    outage: undefined,
  },
  {
    what: 'nothing has failed any more for two minutes',
    outcomes: [
      [0, DOWN],
      [10, DOWN],
    ],
    atS: 131,
    outage: undefined,
  },
])('outage, when $what', async ({ outcomes, atS, outage }) => {
  const clock = new FakeClock();
  const startMs = clock.steadyMs();
  const health = new ApiHealth(clock);
  for (const [seconds, outcome] of outcomes) {
    await clock.advance(startMs + seconds * 1_000 - clock.steadyMs());
    health.observe(outcome);
  }
  await clock.advance(startMs + atS * 1_000 - clock.steadyMs());
  expect(health.outage).toEqual(outage);
});

test('subscribe() reports each outage once with its begin and its end, and every request that succeeds', async () => {
  const clock = new FakeClock();
  const health = new ApiHealth(clock);
  const reported: unknown[] = [];
  const unsubscribe = health.subscribe({
    succeeded: () => reported.push('succeeded'),
    outageBegan: ({ error }) => reported.push(`began: ${error}`),
    outageEnded: (durationMs) => reported.push(`ended after ${durationMs}`),
  });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    health.observe(DOWN);
    await clock.advance(2_000);
  }
  health.observe(REFUSED);
  health.observe({ status: 200 });
  health.observe(DOWN);
  health.observe({ status: 201 });
  unsubscribe();
  health.observe({ status: 200 });
  expect(reported).toEqual(['began: connect ECONNREFUSED', 'ended after 10000', 'succeeded', 'succeeded']);
});

test('subscribe() reports an outage that only the time since the last failure made one', async () => {
  const clock = new FakeClock();
  const health = new ApiHealth(clock);
  const reported: string[] = [];
  health.subscribe({
    outageBegan: ({ durationMs }) => reported.push(`began ${durationMs} ago`),
    outageEnded: (durationMs) => reported.push(`ended after ${durationMs}`),
  });
  health.observe(DOWN);
  await clock.advance(1_000);
  health.observe(DOWN);
  await clock.advance(6_000);
  expect(health.outage).toBeDefined();
  health.observe(REFUSED);
  expect(reported).toEqual(['began 7000 ago', 'ended after 7000']);
});
