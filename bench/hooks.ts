import { join } from 'node:path';
import { sandboxBackend } from '../test/support/backends.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { report, sum } from './figures.ts';
import { hookRunsMs } from './hook-runs.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';

const RUNS = 400;
const ROUNDS = 5;
const BALLAST_MB = 500;

/** Sequential runs of a trivial hook through a queue, with all that belongs to a run, against a bare spawn loop. */
export async function benchHooks(): Promise<void> {
  await using backend = await sandboxBackend();
  await using world = await World.create(backend, {
    globalHooks: { 'trivial.sh': shHook('onStartup: 1', ':') },
    flags: { 'log-level': 'info' },
  });
  await world.converge();
  const path = join(world.directory, 'global-hooks', 'trivial.sh');
  const env = [`PATH=${process.env['PATH'] ?? ''}`];
  bareRunsMs(path, env, RUNS / 4);
  await hookRunsMs(world, 'trivial.sh', RUNS / 4);
  const plain = await compare(world, path, env);
  report(
    'hook runs a second (sh, everything included)',
    plain.ours,
    plain.bare,
    plain.ratio,
    '>= 0.3 (0.45)',
  );
  const ballast = Buffer.alloc(BALLAST_MB * 1024 * 1024, 1);
  const heavy = await compare(world, path, env);
  report(
    `the same with ${BALLAST_MB} MB more in the daemon`,
    heavy.ours,
    heavy.bare,
    heavy.ratio,
    'within 10 %',
  );
  report('  against the same without them', heavy.ours, plain.ours, heavy.ratio / plain.ratio, '>= 0.9');
  if (ballast.length === 0) throw new Error('the ballast is needed until here');
}

/** Both in turn, several rounds, so that a drift of the machine hits both; the median ratio counts. */
async function compare(world: World, path: string, env: readonly string[]) {
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = RUNS / (sum(bareRunsMs(path, env, RUNS)) / 1_000);
    const ours = RUNS / ((await hookRunsMs(world, 'trivial.sh', RUNS)) / 1_000);
    rounds.push({ ours, bare });
  }
  const median = rounds.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare)[Math.floor(ROUNDS / 2)];
  const { ours, bare } = median ?? { ours: Number.NaN, bare: Number.NaN };
  return { ours: `${ours.toFixed(0)}/s`, bare: `${bare.toFixed(0)}/s`, ratio: ours / bare };
}
