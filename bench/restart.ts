import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import type { World } from '../test/support/world.ts';
import { note, report, sum } from './figures.ts';
import { CHART_COLLECTIONS, type ModuleSet } from './module-set.ts';
import { listsMs } from './reference/metadata-lists.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';
import { SentRequests } from './sent-requests.ts';

const PROGRAM = join(import.meta.dirname, '..', 'bin', 'addon-operator');
const ROUNDS = 5;

interface Round {
  /** From the first converge task to the end of the converge, of a daemon in a process that had one before. */
  readonly warmMs: number;
  /** The same of the compiled program in a new process, where all code runs for the first time. */
  readonly coldMs: number;
  readonly bareMs: number;
}

/**
 * A restart in which nothing has changed, against what it cannot do without: asking each hook for its configuration,
 * each enabled script for its opinion, and one list per kind of object, releases included. The daemon of the world is
 * down, before and after.
 */
export async function benchRestart(
  { what, aim }: { readonly what: string; readonly aim: string },
  world: World,
  set: ModuleSet,
  url: string,
): Promise<void> {
  const helmBefore = (await world.helmCalls()).length;
  // Compiles the program where that is still to do.
  execFileSync(PROGRAM, ['version']);
  const rounds: Round[] = [];
  let requests = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    using sent = new SentRequests();
    const warmMs = await restartMs(world);
    requests = sent.all.length;
    rounds.push({
      warmMs,
      bareMs: await bareMs(world, set, url, round),
      coldMs: await newProcessMs(world),
    });
  }
  const helmRuns = (await world.helmCalls()).slice(helmBefore).filter((call) => !call.startsWith('version'));
  reportMedian(
    what,
    aim,
    rounds.map(({ warmMs, bareMs: bare }) => [warmMs, bare]),
  );
  reportMedian(
    '  in a new process',
    aim,
    rounds.map(({ coldMs, bareMs: bare }) => [coldMs, bare]),
  );
  note(
    `  requests from start to converged: ${requests}, aim <= 30; helm processes: ${helmRuns.length}, aim 0`,
  );
}

function reportMedian(
  what: string,
  aim: string,
  rounds: readonly (readonly [oursMs: number, bareMs: number])[],
): void {
  const sorted = rounds.toSorted(([a, bareA], [b, bareB]) => a / bareA - b / bareB);
  const [oursMs, bare] = sorted[Math.floor(sorted.length / 2)] ?? [Number.NaN, Number.NaN];
  report(what, `${oursMs.toFixed(0)} ms`, `${bare.toFixed(0)} ms`, oursMs / bare, aim);
  note(`    all rounds: ${sorted.map(([ours, other]) => (ours / other).toFixed(2)).join(' ')}`);
}

async function restartMs(world: World): Promise<number> {
  await world.start();
  const startMs = performance.now();
  await world.daemon.firstConverge;
  const tookMs = performance.now() - startMs;
  await world.daemon.operator.router.main.untilEmpty();
  await world.stop();
  return tookMs;
}

async function newProcessMs(world: World): Promise<number> {
  await using daemon = DaemonProcess.start(world, { 'log-level': 'info' }, {}, [], [PROGRAM]);
  await daemon.record('ConvergeModules task, trigger is Operator-Startup');
  const startMs = performance.now();
  await daemon.untilConverged();
  const tookMs = performance.now() - startMs;
  daemon.signal('SIGTERM');
  await daemon.exited;
  return tookMs;
}

async function bareMs(world: World, set: ModuleSet, url: string, round: number): Promise<number> {
  const modules = join(world.directory, 'modules');
  const path = `PATH=${process.env['PATH'] ?? ''}`;
  const hooksMs = set.hooks.map((hook) => sum(bareRunsMs(join(modules, hook), [path], 1, ['--config'])));
  const results = join(world.directory, `reference-${round}`);
  await mkdir(results);
  const scriptsMs: number[] = [];
  for (const [index, script] of set.enabledScripts.entries()) {
    // As the contract has it: the file exists, and is empty.
    const result = join(results, String(index));
    await writeFile(result, '');
    const env = [path, `MODULE_ENABLED_RESULT=${result}`];
    scriptsMs.push(sum(bareRunsMs(join(modules, script), env, 1)));
  }
  const lists = CHART_COLLECTIONS.map(
    ([api, plural]) => `${url}/${api}/namespaces/${world.namespace}/${plural}`,
  );
  const releases = `${url}/api/v1/namespaces/${world.namespace}/secrets?labelSelector=owner%3Dhelm`;
  return sum(hooksMs) + sum(scriptsMs) + (await listsMs([...lists, releases]));
}
