import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Task } from '../src/operator/tasks.ts';
import { sandboxBackend } from '../test/support/backends.ts';
import { type Backend, World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { report, sum } from './figures.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';

const RUNS = 400;
const ROUNDS = 5;
const BALLAST_MB = 500;

/** Sequential runs of a trivial hook through a queue, with all that belongs to a run, against a bare spawn loop. */
export async function benchHooks(): Promise<void> {
  const backend = await sandboxBackend();
  try {
    await benchOn(backend);
  } finally {
    await backend.sandbox.stop();
  }
}

async function benchOn(backend: Backend): Promise<void> {
  await using world = await World.create(backend, {
    globalHooks: { 'trivial.sh': shHook('onStartup: 1', ':') },
    flags: { 'log-level': 'error' },
  });
  await world.converge();
  const path = join(world.directory, 'global-hooks', 'trivial.sh');
  const env = [`PATH=${process.env['PATH'] ?? ''}`];
  bareRunsMs(path, env, RUNS / 4);
  await hookRunsMs(world, RUNS / 4);
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
    const ours = RUNS / ((await hookRunsMs(world, RUNS)) / 1_000);
    rounds.push({ ours, bare });
  }
  const median = rounds.toSorted((a, b) => a.ours / a.bare - b.ours / b.bare)[Math.floor(ROUNDS / 2)];
  const { ours, bare } = median ?? { ours: Number.NaN, bare: Number.NaN };
  return { ours: `${ours.toFixed(0)}/s`, bare: `${bare.toFixed(0)}/s`, ratio: ours / bare };
}

async function hookRunsMs(world: World, count: number): Promise<number> {
  const { operator } = world.daemon;
  const [hook] = operator.globalHooks;
  if (hook === undefined) throw new Error('the hook of the benchmark is missing');
  const task: Task = {
    type: 'GlobalHookRun',
    hook,
    binding: 'onStartup',
    reasons: [{ type: 'lifecycle', binding: 'onStartup' }],
    allowFailure: false,
    trigger: 'bench',
    activation: '',
  };
  const queue = operator.deps.queues.get('bench');
  const startMs = performance.now();
  queue.append(...Array.from({ length: count }, () => task));
  await queue.untilEmpty();
  return performance.now() - startMs;
}
