import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../../test/support/world.ts';
import { type FileTree, shHook } from '../../test/support/world-files.ts';
import { percentile } from '../figures.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import type { Dimension, Figure, Measurement } from './figure.ts';
import { ScaleDaemon } from './scale-daemon.ts';

const HOOKS_OF_QUEUES = 200;
const ROUNDS = 5;
const SETTLE_MS = 2_000;
const FINISHED = '"msg":"hook finished"';

const RUNS: readonly Figure[] = [
  { key: 'ready', title: 'start to ready', unit: 's' },
  { key: 'requests', title: 'requests of it', unit: '' },
  { key: 'memory', title: 'memory, helpers included', unit: 'MB' },
  { key: 'all', title: 'one event to the end of all runs', unit: 'ms' },
  { key: 'cpu', title: 'CPU of the daemon for these runs', unit: 'ms' },
  { key: 'loop', title: 'event loop delay p99.9', unit: 'ms' },
];
const GROWS: readonly string[] = ['ready', 'all', 'cpu'];

/** Bash hooks that wait for the same object. */
export function hooksDimension(sizes: readonly number[]): Dimension {
  return {
    name: 'hooks',
    description:
      'Hooks in `sh` with a binding for the same ConfigMap, all in the queue `main`; one event runs each of them once.',
    sizes,
    figures: RUNS.map((figure) => ({ ...figure, isTotal: GROWS.includes(figure.key) })),
    measure: (size) => measureHooks(size, { hooks: size, queues: 1 }),
  };
}

/** The same number of hooks, in more and more queues. */
export function queuesDimension(sizes: readonly number[]): Dimension {
  return {
    name: 'queues',
    description: `${HOOKS_OF_QUEUES} such hooks, spread over named queues; one event runs each of them once.`,
    sizes,
    figures: RUNS,
    measure: (size) => measureHooks(size, { hooks: HOOKS_OF_QUEUES, queues: size }),
  };
}

async function measureHooks(
  size: number,
  { hooks, queues }: { readonly hooks: number; readonly queues: number },
): Promise<Measurement> {
  await using api = await startSandboxProcess();
  await using world = await World.create(api.backend, {});
  await world.create('configmaps', { metadata: { name: 'watched' } });
  await world.write('global-hooks', hookFiles(world, hooks, queues));
  const before = await api.requests();
  await using daemon = await ScaleDaemon.start(world, {}, [FINISHED]);
  await daemon.untilConverged();
  const ready = (performance.now() - daemon.startedMs) / 1_000;
  const requests = (await api.requests()) - before;
  await sleep(SETTLE_MS);
  const memory = daemon.memoryMb();
  await daemon.beginLoop();
  const rounds: { readonly tookMs: number; readonly cpuMs: number }[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [finished, usedMs] = [daemon.count(FINISHED), daemon.cpuMs()];
    await world.merge('configmaps', 'watched', { data: { round: String(round) } });
    const startMs = performance.now();
    await daemon.untilCount(FINISHED, finished + hooks);
    if (round > 0) rounds.push({ tookMs: performance.now() - startMs, cpuMs: daemon.cpuMs() - usedMs });
  }
  const all = percentile(
    rounds.map(({ tookMs }) => tookMs),
    0.5,
  );
  const cpu = percentile(
    rounds.map(({ cpuMs }) => cpuMs),
    0.5,
  );
  const { p999Ms: loop } = await daemon.loop();
  return { size, figures: { ready, requests, memory, all, cpu, loop } };
}

function hookFiles({ namespace }: World, hooks: number, queues: number): FileTree {
  const text = (index: number): string =>
    shHook(
      `
kubernetes:
- name: watched
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [watched]}
  namespace: {nameSelector: {matchNames: [${namespace}]}}
  executeHookOnSynchronization: false
  queue: ${queues === 1 ? 'main' : `queue-${index % queues}`}`,
      ':',
    );
  return Object.fromEntries(Array.from({ length: hooks }, (_, index) => [`hook-${index}.sh`, text(index)]));
}
