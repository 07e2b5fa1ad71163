import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, World } from '../test/support/world.ts';
import { percentile, report } from './figures.ts';
import { hookRunsMs } from './hook-runs.ts';

const ROUNDS = 5;
const ROUND_MS = 2_000;
const BETWEEN_DEATHS_MS = 200;

const hook = (body: string): string =>
  `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ schedule: [{ crontab: '0 0 1 1 *' }] }, (input) => { ${body} });
`;

/** The time of runs of one hook, while the thread of another one dies and is started again, against quiet. */
export async function benchRestarts(backend: Backend): Promise<void> {
  await using world = await World.create(backend, {
    globalHooks: {
      'dies.ts': hook('process.exit(1);'),
      'lives.ts': hook("input.metrics.add('runs', input.contexts.length);"),
    },
    flags: { 'log-level': 'info' },
  });
  await world.converge();
  world.log.logger.setLevel('fatal');
  await runsMs(world);
  const quiet: number[] = [];
  const beside: number[] = [];
  let deaths = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(...(await runsMs(world)));
    const stopped = new AbortController();
    const dying = die(world, stopped.signal);
    beside.push(...(await runsMs(world)));
    stopped.abort();
    deaths += await dying;
  }
  const seconds = (ROUNDS * ROUND_MS) / 1_000;
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const [figure, reference] = [percentile(beside, share), percentile(quiet, share)];
    report(
      `run beside a hook whose thread dies ${(deaths / seconds).toFixed(1)}/s, ${name}`,
      `${figure.toFixed(2)} ms`,
      `${reference.toFixed(2)} ms`,
      figure / reference,
      name === 'p99' ? '<= 2' : '-',
    );
  }
}

/** The times of single runs, for as long as a round takes. */
async function runsMs(world: World): Promise<readonly number[]> {
  const times: number[] = [];
  const endMs = performance.now() + ROUND_MS;
  while (performance.now() < endMs) times.push(await hookRunsMs(world, 'lives.ts', 1, { queue: 'lives' }));
  return times;
}

/** Gives how often the thread has died. */
async function die(world: World, signal: AbortSignal): Promise<number> {
  let deaths = 0;
  for (; !signal.aborted; deaths += 1) {
    await hookRunsMs(world, 'dies.ts', 1, { queue: 'dies', allowFailure: true });
    await sleep(BETWEEN_DEATHS_MS);
  }
  return deaths;
}
