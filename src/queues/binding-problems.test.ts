import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { UNKNOWN_HEALTH } from '../events/kubernetes/monitor.ts';
import { startUp } from '../operator/lifecycle.ts';
import { problemsShown, staleBindings, unfilteredObjects } from './binding-problems.ts';

const REFUSED = { error: 'pods is forbidden', sinceMs: 0, isRefused: true };
const FILTER_FAILURE = {
  namespace: 'a',
  name: 'one',
  error: 'Cannot index number',
  attempts: 3,
  sinceMs: 1_000,
  nextAttemptMs: 8_000,
};

async function watching() {
  const lab = await operatorLab([], { 'global/a.sh': { kubernetes: [{ kind: 'Pod', name: 'pods' }] } });
  startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
  await lab.settle();
  const monitor = lab.monitors.get('global/a.sh/pods');
  if (monitor === undefined) throw new Error('there is no monitor');
  return { lab, monitor, runtimes: lab.operator.globalHooks.runtimes };
}

test('staleBindings() names bindings whose watch is refused, or has failed for a minute', async () => {
  const { lab, monitor, runtimes } = await watching();
  await using _lab = lab;
  expect(staleBindings(runtimes, lab.clock)).toEqual([]);
  const nowMs = lab.clock.steadyMs();
  monitor.state = { ...UNKNOWN_HEALTH, lastActivityMs: nowMs - 90_000, watchFailure: REFUSED };
  const place = { module: '', hook: 'a.sh', binding: 'pods', since: expect.any(String) as string };
  expect(staleBindings(runtimes, lab.clock)).toEqual([
    {
      text: "global hook 'a.sh', kubernetes binding 'pods' has a snapshot that was confirmed 90 s ago: pods is forbidden",
      ...place,
    },
  ]);
  expect(staleBindings(runtimes, lab.clock, 'refused')).toHaveLength(1);
  const failure = { error: 'connection reset', isRefused: false };
  monitor.state = { ...UNKNOWN_HEALTH, watchFailure: { ...failure, sinceMs: nowMs - 59_000 } };
  expect(staleBindings(runtimes, lab.clock)).toEqual([]);
  monitor.state = { ...UNKNOWN_HEALTH, watchFailure: { ...failure, sinceMs: nowMs - 60_000 } };
  expect(staleBindings(runtimes, lab.clock)).toHaveLength(1);
  expect(staleBindings(runtimes, lab.clock, 'refused')).toEqual([]);
});

test('unfilteredObjects() names the first object of a binding whose filter fails, and how many there are', async () => {
  const { lab, monitor, runtimes } = await watching();
  await using _lab = lab;
  monitor.state = { ...UNKNOWN_HEALTH, filterFailures: [FILTER_FAILURE, FILTER_FAILURE] };
  expect(unfilteredObjects(runtimes, lab.clock).map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^global hook 'a\.sh', kubernetes binding 'pods' does not have the last state of a\/one and 1 more \(attempts: 3, next at .*\): Cannot index number$/,
    ),
  ]);
});

test('problemsShown() has nothing to show, when all is well, and times of the wall clock, when not', () => {
  const clock = { wallMs: () => 1_000_000, steadyMs: () => 10_000, sleep: () => Promise.resolve() };
  expect(problemsShown({ ...UNKNOWN_HEALTH, lastActivityMs: 5 }, clock)).toEqual({});
  expect(
    problemsShown({ lastActivityMs: 5_000, watchFailure: REFUSED, filterFailures: [FILTER_FAILURE] }, clock),
  ).toEqual({
    watchFailure: {
      error: 'pods is forbidden',
      since: '1970-01-01T00:16:30.000Z',
      lastActivity: '1970-01-01T00:16:35.000Z',
    },
    filterFailures: [
      {
        namespace: 'a',
        name: 'one',
        error: 'Cannot index number',
        attempts: 3,
        since: '1970-01-01T00:16:31.000Z',
        nextAttempt: '1970-01-01T00:16:38.000Z',
      },
    ],
  });
});
