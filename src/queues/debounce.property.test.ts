import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check';
import { expect, test } from 'vitest';
import { HookExit } from '../../test/support/hook-exit.ts';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { nextItems } from '../views/next-items.ts';
import { unfinishedRuns } from './unfinished-runs.ts';

const HOOK = 'web/a.sh';
const pods = { kind: 'Pod', name: 'pods', queue: 'own', executeHookOnSynchronization: false };
const debounce = { after: '2s', max: '5s' };

async function running(binding: object, hook: object = {}): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], { [HOOK]: { kubernetes: [{ ...pods, ...binding }], ...hook } });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

const EVENT = `${HOOK} Event:pods`;

test('a run is queued when no event has come for the time of debounce', async () => {
  await using lab = await running({ debounce });
  lab.emit(`${HOOK}/pods`);
  await lab.pass(1_500, 1);
  lab.emit(`${HOOK}/pods`);
  await lab.pass(1_999, 1);
  expect([lab.takeCalls(), lab.tasks('own')]).toEqual([[], []]);
  expect(unfinishedRuns(lab.operator).debounced).toEqual([
    'hook web/a.sh runs at 1970-01-01T00:00:03.500Z in queue own (contexts: 2), unless further events come',
  ]);
  expect(nextItems(lab.operator, 60_000)).toMatchObject([
    { kind: 'debounce', at: '1970-01-01T00:00:03.500Z' },
  ]);
  await lab.pass(1, 1);
  expect(lab.takeCalls()).toEqual([`${EVENT}+Event:pods`]);
  expect(lab.backlog.heldBytes).toBe(0);
});

test('events that never stop run the hook at the maximum after the first of them', async () => {
  await using lab = await running({ debounce });
  for (let second = 0; second < 10; second += 1) {
    lab.emit(`${HOOK}/pods`);
    await lab.pass(1_000, 1);
  }
  expect(lab.takeCalls()).toEqual([
    `${EVENT}${'+Event:pods'.repeat(4)}`,
    `${EVENT}${'+Event:pods'.repeat(4)}`,
  ]);
});

test('a failed run is retried as usual, and events that come meanwhile are debounced behind it', async () => {
  await using lab = await running({ debounce });
  let isBroken = true;
  lab.behaviours.set(HOOK, () => {
    if (isBroken) throw new Error('broken');
  });
  lab.emit(`${HOOK}/pods`);
  await lab.pass(2_000, 1);
  lab.emit(`${HOOK}/pods`);
  isBroken = false;
  await lab.pass(5_000, 1);
  expect(lab.takeCalls()).toEqual([EVENT, `${EVENT}+Event:pods`]);
});

test('an abort of the module forgets what is held back', async () => {
  await using lab = await running({ debounce });
  lab.emit(`${HOOK}/pods`);
  lab.operator.router.dropTasksOf([lab.runtimeOf(HOOK)]);
  await lab.pass(10_000, 1);
  expect([lab.takeCalls(), lab.backlog.heldBytes]).toEqual([[], 0]);
});

test('coalesced events of an object that was created and deleted again run nothing', async () => {
  await using lab = await running({ debounce, coalesce: 'object' });
  lab.emit(`${HOOK}/pods`, 'Added');
  lab.emit(`${HOOK}/pods`, 'Deleted');
  await lab.pass(10_000, 1);
  expect([lab.takeCalls(), lab.tasks('own'), lab.backlog.heldBytes]).toEqual([[], [], 0]);
});

test('coalesced events that wait in a queue become one context, and the deletion after a failed run is kept', async () => {
  await using lab = await running({ coalesce: 'object' });
  let isBroken = true;
  lab.behaviours.set(HOOK, () => {
    if (isBroken) throw new Error('broken');
  });
  lab.emit(`${HOOK}/pods`, 'Added');
  await lab.settle();
  lab.emit(`${HOOK}/pods`, 'Modified');
  lab.emit(`${HOOK}/pods`, 'Modified');
  lab.emit(`${HOOK}/pods`, 'Deleted');
  isBroken = false;
  const seen: unknown[] = [];
  lab.behaviours.set(HOOK, ({ contexts }) => void seen.push(...contexts.map((each) => each['watchEvent'])));
  await lab.pass(5_000, 1);
  expect(seen).toEqual(['Deleted']);
});

const anySteps = array(
  record({
    object: constantFrom('/a', '/b'),
    does: constantFrom('put', 'put', 'put', 'delete', 'break', 'mend', 'postpone'),
    waitMs: nat({ max: 4_000 }),
  }),
  { minLength: 1, maxLength: 30 },
);

test('in any history, with failures and retries, the final state that a hook sees is that of the store', async () => {
  await assert(
    asyncProperty(anySteps, async (steps) => {
      const settings = { exitCodes: { temporary: [75] } };
      await using lab = await running({ debounce, coalesce: 'object' }, { settings });
      const store = new Map<string, number>();
      const seen = new Map<string, unknown>();
      let exitCode = 0;
      lab.behaviours.set(HOOK, ({ contexts }) => {
        if (exitCode !== 0) throw new HookExit(exitCode);
        for (const { watchEvent, filterResult } of contexts) {
          const { key, state } = filterResult as { readonly key: string; readonly state: number };
          if (watchEvent === 'Deleted') seen.delete(key);
          else seen.set(key, state);
        }
      });
      const emit = (watchEvent: 'Added' | 'Modified' | 'Deleted', key: string, state: number): void =>
        lab.monitors.get(`${HOOK}/pods`)?.emit({ watchEvent, key, item: { filterResult: { key, state } } });
      for (const [state, { object, does, waitMs }] of steps.entries()) {
        if (does === 'put') emit(store.has(object) ? 'Modified' : 'Added', object, state);
        if (does === 'put') store.set(object, state);
        if (does === 'delete' && store.delete(object)) emit('Deleted', object, state);
        if (does === 'break') exitCode = 1;
        if (does === 'postpone') exitCode = 75;
        if (does === 'mend') exitCode = 0;
        await lab.pass(waitMs, 1);
      }
      exitCode = 0;
      await lab.pass(60_000, 3);
      expect(lab.tasks('own')).toEqual([]);
      expect(unfinishedRuns(lab.operator)).toEqual({ waiting: [], debounced: [], failed: [] });
      expect(seen).toEqual(store);
      expect(lab.backlog.heldBytes).toBe(0);
    }),
    { numRuns: 40 },
  );
}, 60_000);

test.each(['their time has come', 'a request releases both'])(
  'events that are held back come behind a run of the hook that was put off meanwhile, when %s',
  async (when) => {
    const settings = { exitCodes: { temporary: [75], permanent: [78] } };
    const kubernetes = [
      { kind: 'Pod', name: 'debounced', queue: 'own', debounce },
      { kind: 'Pod', name: 'plain', queue: 'own' },
    ];
    await using lab = await operatorLab(['web'], { [HOOK]: { kubernetes, settings } });
    await lab.converge();
    lab.takeCalls();
    lab.behaviours.set(HOOK, ({ write }) => {
      write('RETRY_PATH', { after: '30s' });
      throw new HookExit(75, 'not yet');
    });
    lab.emit(`${HOOK}/debounced`);
    lab.emit(`${HOOK}/plain`);
    await lab.settle();
    lab.behaviours.clear();
    expect(lab.takeCalls()).toEqual([`${HOOK} Event:plain`]);
    if (when === 'a request releases both') lab.operator.router.held.releaseNow(lab.runtimeOf(HOOK), 'own');
    await lab.pass(5_000, 1);
    await lab.pass(30_000, 1);
    expect(lab.takeCalls()).toEqual([`${HOOK} Event:plain+Event:debounced`]);
  },
);
