import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { note } from './figures.ts';
import { hookRunsMs } from './hook-runs.ts';
import { startSandboxProcess } from './sandbox-process.ts';

/** `BENCH_SOAK_RUNS` makes a shorter one, with as many samples. */
const RUNS = Number(process.env['BENCH_SOAK_RUNS'] ?? 100_000);
const SAMPLES = 10;
const STEP = RUNS / SAMPLES;
/** Code is compiled and pools are filled until then. */
const WARM_UP_RUNS = 10_000;
const BYTES_A_MB = 2 ** 20;
/** Finalizers of one collection free what the next one finds. */
const COLLECTIONS = 3;
const PAUSE_MS = 100;

interface Sample {
  readonly runs: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly externalMb: number;
  readonly descriptors: number;
  readonly timers: number;
  readonly temporaryFiles: number;
  readonly childrenRssMb: number;
  readonly childrenDescriptors: number;
}

const FIGURES = [
  'rssMb',
  'heapMb',
  'externalMb',
  'descriptors',
  'timers',
  'temporaryFiles',
  'childrenRssMb',
  'childrenDescriptors',
] as const satisfies readonly (keyof Sample)[];

/**
 * P30: what the daemon, and the processes that it keeps to run hooks, hold after each tenth of the runs; nothing may grow
 * after the first 10,000. The API server is a process of its own, and garbage is collected before each sample.
 */
export async function benchSoak(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  const others = new Set(children());
  await using world = await World.create(sandbox.backend, { flags: { 'log-level': 'error' } });
  await world.write('global-hooks', { 'soak.sh': shHook('onStartup: 1', 'echo 1 > /dev/null') });
  await world.converge();
  const samples: Sample[] = [];
  for (let runs = STEP; runs <= RUNS; runs += STEP) {
    const durationMs = await hookRunsMs(world, 'soak.sh', STEP);
    await collectGarbage();
    const sample = measure(world, runs, others);
    samples.push(sample);
    note(`  ${JSON.stringify(sample)} ${(durationMs / STEP).toFixed(2)} ms a run`);
  }
  const [first, last] = [samples.find(({ runs }) => runs >= WARM_UP_RUNS) ?? samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return;
  const grown = FIGURES.map((key) => `${key} ${first[key]} -> ${last[key]}${growth(first[key], last[key])}`);
  note(
    `${RUNS} hook runs, from ${first.runs} to ${RUNS}: ${grown.join(', ')}; aim: less than 5 % more memory, the rest the same`,
  );
}

function measure(world: World, runs: number, others: ReadonlySet<string>): Sample {
  const { rss, heapUsed, external } = process.memoryUsage();
  const own = children().filter((pid) => !others.has(pid));
  const sum = (of: (pid: string) => number): number => own.reduce((total, pid) => total + of(pid), 0);
  return {
    runs,
    rssMb: inMb(rss),
    heapMb: inMb(heapUsed),
    externalMb: inMb(external),
    descriptors: descriptorsOf('self'),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    temporaryFiles: readdirSync(join(world.directory, 'tmp'), { recursive: true }).length,
    childrenRssMb: inMb(sum(rssOf)),
    childrenDescriptors: sum(descriptorsOf),
  };
}

function inMb(bytes: number): number {
  return Math.round((bytes / BYTES_A_MB) * 10) / 10;
}

function growth(first: number, last: number): string {
  return first === last ? '' : ` (${(((last - first) / first) * 100).toFixed(1)} %)`;
}

function children(): readonly string[] {
  const listed = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return listed.split(' ').filter((pid) => pid !== '');
}

function rssOf(pid: string): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

function descriptorsOf(pid: string): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** In this process only, which needs no option for it. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < COLLECTIONS; round += 1) {
    collect();
    await sleep(PAUSE_MS);
  }
}
