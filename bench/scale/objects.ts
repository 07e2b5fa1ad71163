import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../../test/support/world.ts';
import { shHook } from '../../test/support/world-files.ts';
import { percentile } from '../figures.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import type { Dimension, Figure, Measurement } from './figure.ts';
import { ScaleDaemon } from './scale-daemon.ts';

const OBJECT_BYTES = 4_096;
const EVENTS = 200;
const SILENT_UPDATES = 1_000;
const WRITES_AT_ONCE = 8;
const SETTLE_MS = 10_000;
const PRINTED = '"msg":"the hook has run"';

const FIGURES: readonly Figure[] = [
  { key: 'ready', title: 'start to ready', unit: 's', isTotal: true },
  { key: 'requests', title: 'requests of it', unit: '' },
  { key: 'cpu', title: 'CPU of the daemon until then', unit: 's', isTotal: true },
  {
    key: 'memory',
    title: 'memory 10 s after, helpers included',
    unit: 'MB',
    goal: { size: 50_000, most: 450 },
  },
  { key: 'peak', title: 'memory of the daemon at most', unit: 'MB' },
  { key: 'eventP50', title: 'event to end of hook, p50', unit: 'ms' },
  { key: 'eventP99', title: 'event to end of hook, p99', unit: 'ms' },
  { key: 'updateCpu', title: `CPU for ${SILENT_UPDATES} updates that the filter drops`, unit: 's' },
  { key: 'loop', title: 'event loop delay p99.9', unit: 'ms' },
];

/** ConfigMaps behind one filtered binding. */
export function objectsDimension(sizes: readonly number[]): Dimension {
  return {
    name: 'objects',
    description:
      'ConfigMaps of 4 KB behind one binding with `jqFilter: .metadata.labels` and `keepFullObjectsInMemory: false`. Events are single: ' +
      'the next one is sent when the hook of the last one has run. The daemon starts with the objects there.',
    sizes,
    figures: FIGURES,
    measure: measureObjects,
  };
}

async function measureObjects(size: number): Promise<Measurement> {
  await using api = await startSandboxProcess();
  await using world = await World.create(api.backend, {});
  await world.write('global-hooks', {
    'many.sh': shHook(
      `
kubernetes:
- name: many
  apiVersion: v1
  kind: ConfigMap
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  labelSelector: {matchLabels: {app: bench}}
  executeHookOnSynchronization: false
  keepFullObjectsInMemory: false
  jqFilter: .metadata.labels`,
      'echo "the hook has run"',
    ),
  });
  const program = join(import.meta.dirname, '..', 'fill-objects-main.ts');
  const child = fork(program, [`${api.url}${world.path('configmaps')}`, String(size), String(OBJECT_BYTES)]);
  const [exitCode]: number[] = await once(child, 'exit');
  if (exitCode !== 0) throw new Error('the objects of the benchmark could not be created');
  const before = await api.requests();
  await using daemon = await ScaleDaemon.start(world, {}, [PRINTED]);
  await daemon.untilConverged();
  const ready = (performance.now() - daemon.startedMs) / 1_000;
  const cpu = daemon.cpuMs() / 1_000;
  const requests = (await api.requests()) - before;
  await sleep(SETTLE_MS);
  const memory = daemon.memoryMb();
  await daemon.beginLoop();
  const latenciesMs = await events(world, daemon);
  const updateCpu = await silentUpdates(world, daemon, size);
  const { p999Ms: loop, maxRssMb: peak } = await daemon.loop();
  const [eventP50, eventP99] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)];
  return { size, figures: { ready, requests, cpu, memory, peak, eventP50, eventP99, updateCpu, loop } };
}

async function events(world: World, daemon: ScaleDaemon): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  for (let event = 1; event <= EVENTS; event += 1) {
    await world.merge('configmaps', 'object-1', { metadata: { labels: { n: String(event) } } });
    const startMs = performance.now();
    await daemon.untilCount(PRINTED, event);
    latenciesMs.push(performance.now() - startMs);
  }
  return latenciesMs;
}

/** CPU seconds of the daemon. */
async function silentUpdates(world: World, daemon: ScaleDaemon, size: number): Promise<number> {
  const [usedMs, runs] = [daemon.cpuMs(), daemon.count(PRINTED)];
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < SILENT_UPDATES) {
      const update = (next += 1);
      await world.merge('configmaps', `object-${(update % size) + 1}`, { data: { n: `update ${update}` } });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
  await world.merge('configmaps', 'object-1', { metadata: { labels: { n: 'end' } } });
  await daemon.untilCount(PRINTED, runs + 1);
  return (daemon.cpuMs() - usedMs) / 1_000;
}
