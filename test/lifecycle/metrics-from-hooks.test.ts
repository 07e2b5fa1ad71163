import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/tasks.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

/** A queue that nothing else uses. */
const QUEUE = 'metrics';
/** Writes what lies in the file `<name>` of the world to its metrics. */
const writer = (name: string): string =>
  shHook('onStartup: 1', `[ ! -e "$WORLD/${name}" ] || cat "$WORLD/${name}" > "$METRICS_PATH"`);

async function startWriters(backend: Backend, flags: Readonly<Record<string, string>> = {}): Promise<World> {
  const globalHooks = { 'a.sh': writer('a'), 'b.sh': writer('b') };
  const world = await World.create(backend, { globalHooks, flags });
  await world.converge();
  return world;
}

/** Lets a hook write operations, in one run; a run that fails is left waiting. */
async function start(world: World, name: 'a' | 'b', ...operations: readonly object[]): Promise<void> {
  const text = operations.map((operation) => JSON.stringify(operation)).join('\n');
  await world.write('modules', { [`../${name}`]: text });
  const { operator } = world.daemon;
  const hook = operator.globalHooks.runtimes.find((runtime) => runtime.hook.name === `${name}.sh`);
  if (hook === undefined) throw new Error(`there is no hook ${name}.sh`);
  const task: Task = {
    type: 'GlobalHookRun',
    hook,
    binding: 'onStartup',
    reasons: [{ type: 'lifecycle', binding: 'onStartup' }],
    allowFailure: false,
    trigger: 'test',
    activation: '',
  };
  operator.queues.get(QUEUE).append(task);
}

async function run(world: World, name: 'a' | 'b', ...operations: readonly object[]): Promise<void> {
  await start(world, name, ...operations);
  await world.daemon.operator.queues.get(QUEUE).untilEmpty();
}

async function scrape(world: World, path = '/metrics/hooks'): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}${path}`);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** The metrics of hooks; corner cases 58 to 65 of the hook contract, F7 and F8 of the fault catalogue. */
describeApiIndependent((backend) => {
  describe('METRICS_PATH', () => {
    test('replaces what the hook wrote in its last run, and adds within a run only', async () => {
      await using world = await startWriters(backend());
      await run(world, 'a', { name: 'c', action: 'add', value: 1 });
      await run(world, 'a', { name: 'c', action: 'add', value: 1 });
      expect(await scrape(world)).toEqual(['c{hook="a.sh"} 1']);
      await run(world, 'a', { name: 'c', add: 1.9 }, { name: 'c', add: 2 });
      expect(await scrape(world)).toEqual(['c{hook="a.sh"} 3']);
      await run(world, 'a', { name: 'b', set: 1.5 });
      expect(await scrape(world)).toEqual(['b{hook="a.sh"} 1.5']);
      await run(world, 'a');
      expect(await scrape(world)).toEqual(['b{hook="a.sh"} 1.5']);
    });

    test('exports the real name of the hook, widens labels and sorts buckets', async () => {
      await using world = await startWriters(backend());
      const observed = { name: 'h', action: 'observe', value: 3, buckets: [5, 1] };
      await run(
        world,
        'a',
        { name: 'g', set: 1, labels: { hook: 'x', zone: 'z' } },
        { name: 'g', set: 2 },
        observed,
      );
      expect(await scrape(world)).toEqual([
        'g{hook="a.sh",zone="z"} 1',
        'g{hook="a.sh",zone=""} 2',
        'h_bucket{hook="a.sh",le="1"} 0',
        'h_bucket{hook="a.sh",le="5"} 1',
        'h_bucket{hook="a.sh",le="+Inf"} 1',
        'h_sum{hook="a.sh"} 3',
        'h_count{hook="a.sh"} 1',
      ]);
    });

    test('expire removes a group of every hook', async () => {
      await using world = await startWriters(backend());
      await run(world, 'a', { name: 'x', set: 1, group: 'g' }, { name: 'own', set: 1 });
      await run(world, 'b', { name: 'y', set: 1 });
      await run(world, 'b', { action: 'expire', group: 'g' });
      expect(await scrape(world)).toEqual(['own{hook="a.sh"} 1', 'y{hook="b.sh"} 1']);
    });

    test('expire keeps the series of other hooks, with --hook-metric-groups hook', async () => {
      await using world = await startWriters(backend(), { 'hook-metric-groups': 'hook' });
      await run(world, 'a', { name: 'x', set: 1, group: 'g' });
      await run(world, 'b', { name: 'y', set: 1, group: 'g' });
      await run(world, 'b', { action: 'expire', group: 'g' });
      expect(await scrape(world)).toEqual(['x{hook="a.sh"} 1']);
    });

    test('an operation that cannot be applied is logged, and the hook succeeds', async () => {
      await using world = await startWriters(backend());
      await run(world, 'a', { name: 'gauge', set: 1 });
      await run(world, 'b', { name: 'both', set: 1, add: 2 }, { name: 'gauge', add: 5 });
      expect(await scrape(world)).toEqual(['gauge{hook="a.sh"} 1']);
      const reported = world.log.records.filter(({ level }) => level === 'warn' || level === 'error');
      expect(reported).toMatchObject([
        { level: 'warn', msg: 'metric operation is skipped' },
        { level: 'error', msg: 'metric already has another type; the operation is dropped', metric: 'gauge' },
      ]);
    });

    test('a mistake fails the run, and what was there before stays', async () => {
      await using world = await startWriters(backend());
      await run(world, 'a', { name: 'g', set: 1 });
      const mistakes = [
        { name: 'h', action: 'observe', value: 1 },
        { name: 'c', add: -1 },
        { name: 'a-b', set: 1 },
        { name: 'g', set: 2, labels: { n: 1 } },
        { name: 'g', set: 'x' },
        ['g'],
      ];
      for (const [index, mistake] of mistakes.entries()) {
        if (index === 0) await start(world, 'a', { name: 'g', set: 7 }, mistake);
        else {
          await world.write('modules', { '../a': JSON.stringify(mistake) });
          await world.passDelay(QUEUE);
        }
        await world.log.untilMessage('attempt failed, will retry', index + 1);
        const { lastError } = world.daemon.operator.queues.get(QUEUE).entries[0] ?? {};
        expect(lastError).toContain('got bad metrics');
        expect(await scrape(world)).toEqual(['g{hook="a.sh"} 1']);
      }
    });

    test('more series than a hook may have are dropped, counted, and break no scrape', async () => {
      await using world = await startWriters(backend());
      const series = Array.from({ length: 10_005 }, (_, n) => ({
        name: 'many',
        set: n,
        labels: { n: String(n) },
      }));
      await run(world, 'a', ...series);
      expect(await scrape(world)).toHaveLength(10_000);
      expect(await scrape(world, '/metrics')).toContain(
        'addon_operator_hook_metrics_dropped_series_total{module="",hook="a.sh"} 5',
      );
    });
  });
});
