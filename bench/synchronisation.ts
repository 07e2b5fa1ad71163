import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HookRuntime } from '../src/model/hook-runtime.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note, report } from './figures.ts';
import { keptListBytes } from './reference/kept-list.ts';
import { listPaged } from './reference/paged-list.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const OBJECTS = 10_000;
const OBJECT_BYTES = 4_096;
const ROUNDS = 5;
const SETTLE_MS = 1_000;
const DELAY_RESOLUTION_MS = 1;
const NS_PER_MS = 1_000_000;
const never = new AbortController().signal;

/** 10,000 watched objects of 4 KB with a jqFilter: time and memory of the first snapshot, and how busy it keeps us. */
export async function benchSynchronisation(): Promise<void> {
  await using api = await startSandboxProcess();
  await using world = await World.create(api.backend, {
    flags: { 'log-level': 'info' },
  });
  const list = `${api.url}${world.path('configmaps')}`;
  await fill(list);
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
  const first = await rssGrowthBytes(() => synchronise(world));
  await first.result.runtime.stop();
  const rounds: Round[] = [];
  // The first round warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bareMs = await timed(() => listPaged(list));
    const { durationMs, runtime } = await synchronise(world);
    await runtime.stop();
    if (round > 0) rounds.push({ oursMs: durationMs, bareMs });
  }
  const { oursMs, bareMs } = medianRound(rounds);
  report(
    `snapshot of ${OBJECTS} objects through a jqFilter`,
    `${oursMs.toFixed(0)} ms`,
    `${bareMs.toFixed(0)} ms`,
    oursMs / bareMs,
    '<= 3',
  );
  await reportHeap(world);
  const keptBytes = await keptListBytes(list);
  report(
    '  RSS growth by the first snapshot',
    megabytes(first.bytes),
    megabytes(keptBytes),
    first.bytes / keptBytes,
    'printed (reference: a process that keeps the list)',
  );
  await reportDelay(world, list);
}

interface Round {
  readonly oursMs: number;
  readonly bareMs: number;
}

function medianRound(rounds: readonly Round[]): Round {
  const sorted = rounds.toSorted((a, b) => a.oursMs / a.bareMs - b.oursMs / b.bareMs);
  return sorted[Math.floor(sorted.length / 2)] ?? { oursMs: Number.NaN, bareMs: Number.NaN };
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await act();
  return performance.now() - startMs;
}

async function fill(list: string): Promise<void> {
  const program = join(import.meta.dirname, 'fill-objects-main.ts');
  const child = fork(program, [list, String(OBJECTS), String(OBJECT_BYTES)]);
  const [exitCode]: number[] = await once(child, 'exit');
  if (exitCode !== 0) throw new Error('the objects of the benchmark could not be created');
}

/** Loads the hook and starts its monitors, as the daemon does; resolves when the snapshot is complete. */
async function synchronise(world: World): Promise<{ durationMs: number; runtime: HookRuntime }> {
  const { modules, hooks } = world.daemon.built;
  const { sources } = modules;
  const { bindings } = hooks;
  const hook = (await sources.loadGlobalHooks(never)).find(({ name }) => name === 'sync.sh');
  if (hook === undefined) throw new Error('the hook of the benchmark is missing');
  const runtime = bindings.createRuntime(hook);
  const durationMs = await timed(() => runtime.startMonitors(never));
  if (runtime.snapshot(0).length < OBJECTS) throw new Error('the snapshot is not complete');
  return { durationMs, runtime };
}

async function reportHeap(world: World): Promise<void> {
  // What the rounds before have left is to be freed first.
  await sleep(SETTLE_MS);
  const before = memory();
  const { runtime } = await synchronise(world);
  const heapPerObject = (memory().heapUsed - before.heapUsed) / OBJECTS;
  report(
    '  heap kept for one object',
    `${(heapPerObject / 1_024).toFixed(2)} KB`,
    `${(OBJECT_BYTES / 1_024).toFixed(2)} KB`,
    heapPerObject / OBJECT_BYTES,
    '< 1.5 KB and the filter result',
  );
  if (runtime.snapshot(0).length < OBJECTS) throw new Error('the snapshot is needed until here');
  await runtime.stop();
}

async function rssGrowthBytes<T>(act: () => Promise<T>): Promise<{ result: T; bytes: number }> {
  const before = memory().rss;
  const result = await act();
  return { result, bytes: memory().rss - before };
}

/** Delays of the event loop in milliseconds while something is done several times. */
async function delaysDuring(act: () => Promise<unknown>) {
  const histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  histogram.enable();
  for (let round = 0; round < ROUNDS; round += 1) await act();
  histogram.disable();
  return { p999: histogram.percentile(99.9) / NS_PER_MS, max: histogram.max / NS_PER_MS };
}

async function reportDelay(world: World, list: string): Promise<void> {
  const ours = await delaysDuring(async () => {
    const { runtime } = await synchronise(world);
    await runtime.stop();
  });
  const bare = await delaysDuring(() => listPaged(list));
  for (const [what, share, aim] of [
    ['p99.9', 'p999', '< 50 ms'],
    ['maximum', 'max', 'printed'],
  ] as const) {
    const figures = [ours[share], bare[share]].map((ms) => `${ms.toFixed(1)} ms`);
    report(`  event loop delay ${what}`, figures[0] ?? '', figures[1] ?? '', ours[share] / bare[share], aim);
  }
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
  const exported = (await response.text())
    .split('\n')
    .filter((text) => /event_loop_delay_seconds_(?:bucket\{le="(?:0\.05|\+Inf)"|sum)/.test(text));
  note(`  as the daemon exports it, since its start: ${exported.join(', ')}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

function memory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage();
}
