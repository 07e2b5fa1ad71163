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

const ROUNDS = 5;

interface Round {
  /** From the first converge task to the end of the converge. */
  readonly oursMs: number;
  readonly bareMs: number;
  /** The same of a daemon that was just started: its code is not compiled yet. */
  readonly newProcessMs: number;
}

/**
 * A restart in which nothing has changed, against what it cannot do without: asking each hook for its configuration,
 * each enabled script for its opinion, and one list per kind of object, releases included. The daemon of the world is
 * down, before and after.
 */
export async function benchRestart(world: World, set: ModuleSet, url: string): Promise<void> {
  const helmBefore = (await world.helmCalls()).length;
  const rounds: Round[] = [];
  let requests = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    using sent = new SentRequests();
    const oursMs = await restartMs(world);
    requests = sent.all.length;
    rounds.push({
      oursMs,
      bareMs: await bareMs(world, set, url, round),
      newProcessMs: await newProcessMs(world),
    });
  }
  const helmRuns = (await world.helmCalls()).slice(helmBefore).filter((call) => !call.startsWith('version'));
  const sorted = rounds.toSorted((a, b) => a.oursMs / a.bareMs - b.oursMs / b.bareMs);
  const median = sorted[Math.floor(ROUNDS / 2)] ?? { oursMs: Number.NaN, bareMs: Number.NaN };
  const cold = rounds
    .map((round) => round.newProcessMs / round.bareMs)
    .toSorted((a, b) => a - b)
    .map((ratio) => ratio.toFixed(2));
  const count = set.names.length;
  report(
    `restart of ${count} modules, nothing changed`,
    `${median.oursMs.toFixed(0)} ms`,
    `${median.bareMs.toFixed(0)} ms`,
    median.oursMs / median.bareMs,
    '<= 1.5',
  );
  note(
    `  ratios of all rounds: ${sorted.map(({ oursMs, bareMs: bare }) => (oursMs / bare).toFixed(2)).join(' ')}`,
  );
  note(`  the same in a new process: ${cold.join(' ')}`);
  note(
    `  requests from start to converged: ${requests}, aim <= 30; helm processes: ${helmRuns.length}, aim 0`,
  );
}

async function restartMs(world: World): Promise<number> {
  await world.start();
  const startMs = performance.now();
  await world.daemon.firstConverge;
  const tookMs = performance.now() - startMs;
  await world.daemon.operator.main.untilEmpty();
  await world.stop();
  return tookMs;
}

async function newProcessMs(world: World): Promise<number> {
  await using daemon = DaemonProcess.start(world, { 'log-level': 'info' });
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
