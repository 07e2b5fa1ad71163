import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HookRuntime } from '../src/operator/hook-runtime.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note, report } from './figures.ts';
import { listPaged } from './reference/paged-list.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

const OBJECTS = 10_000;
const OBJECT_BYTES = 4_096;
const WRITES_AT_ONCE = 16;
const ROUNDS = 5;
const SETTLE_MS = 1_000;
const never = new AbortController().signal;

/** 10,000 watched objects of 4 KB with a jqFilter: time and memory of the first snapshot, and how busy it keeps us. */
export async function benchSynchronisation(): Promise<void> {
  const api = await startSandboxProcess();
  try {
    await benchOn(api);
  } finally {
    await api.stop();
  }
}

async function benchOn(api: SandboxProcess): Promise<void> {
  await using world = await World.create(api.backend, {
    flags: { 'log-level': 'error', 'kube-client-qps': '1000', 'kube-client-burst': '1000' },
  });
  await fill(world);
  await world.converge();
  await world.write('global-hooks', {
    'sync.sh': shHook(
      `
kubernetes:
- name: many
  apiVersion: v1
  kind: ConfigMap
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  keepFullObjectsInMemory: false
  jqFilter: .data.n`,
      ':',
    ),
  });
  const list = `${api.url}${world.path('configmaps')}`;
  const rounds: { readonly oursMs: number; readonly bareMs: number }[] = [];
  // The first round warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bareMs = await timed(() => listPaged(list));
    const { durationMs, runtime } = await synchronise(world);
    await runtime.stop();
    if (round === 0) continue;
    rounds.push({ oursMs: durationMs, bareMs });
  }
  const median = rounds.toSorted((a, b) => a.oursMs / a.bareMs - b.oursMs / b.bareMs)[Math.floor(ROUNDS / 2)];
  const { oursMs, bareMs } = median ?? { oursMs: Number.NaN, bareMs: Number.NaN };
  report(
    `snapshot of ${OBJECTS} objects through a jqFilter`,
    `${oursMs.toFixed(0)} ms`,
    `${bareMs.toFixed(0)} ms`,
    oursMs / bareMs,
    '<= 3',
  );
  await reportMemory(world, list);
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await act();
  return performance.now() - startMs;
}

async function fill(world: World): Promise<void> {
  const filler = 'x'.repeat(OBJECT_BYTES - 300);
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < OBJECTS) {
      const n = String((next += 1));
      await world.create('configmaps', {
        metadata: { name: `object-${n}`, labels: { app: 'bench' } },
        data: { n, filler },
      } as { readonly metadata: { readonly name: string } });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}

/** Loads the hook and starts its monitors, as the daemon does; resolves when the snapshot is complete. */
async function synchronise(world: World): Promise<{ durationMs: number; runtime: HookRuntime }> {
  const { deps } = world.daemon.operator;
  const hook = (await deps.loadGlobalHooks(never)).find(({ name }) => name === 'sync.sh');
  if (hook === undefined) throw new Error('the hook of the benchmark is missing');
  const runtime = deps.createRuntime(hook);
  const durationMs = await timed(() => runtime.startMonitors(never));
  if (runtime.snapshot(0).length < OBJECTS) throw new Error('the snapshot is not complete');
  return { durationMs, runtime };
}

async function reportMemory(world: World, list: string): Promise<void> {
  // What the rounds before have left is to be freed first.
  await sleep(SETTLE_MS);
  const before = memory();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const { runtime } = await synchronise(world);
  delay.disable();
  const after = memory();
  const ours = { p999: delay.percentile(99.9) / 1e6, max: delay.max / 1e6 };
  delay.reset();
  delay.enable();
  await listPaged(list);
  delay.disable();
  const bare = { p999: delay.percentile(99.9) / 1e6, max: delay.max / 1e6 };
  const heapPerObject = (after.heapUsed - before.heapUsed) / OBJECTS;
  report(
    '  heap kept for one object',
    `${(heapPerObject / 1_024).toFixed(2)} KB`,
    `${(OBJECT_BYTES / 1_024).toFixed(2)} KB`,
    heapPerObject / OBJECT_BYTES,
    '< 1.5 KB and the filter result',
  );
  note(`  RSS growth: ${((after.rss - before.rss) / 1_048_576).toFixed(1)} MB`);
  report(
    '  event loop delay p99.9',
    `${ours.p999.toFixed(1)} ms`,
    `${bare.p999.toFixed(1)} ms`,
    ours.p999 / bare.p999,
    '< 50 ms',
  );
  note(`  event loop delay maximum: ${ours.max.toFixed(1)} ms, reference ${bare.max.toFixed(1)} ms`);
  if (runtime.snapshot(0).length < OBJECTS) throw new Error('the snapshot is needed until here');
  await runtime.stop();
}

function memory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage();
}
