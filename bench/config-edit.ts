import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { World } from '../test/support/world.ts';
import { writeTree } from '../test/support/world-files.ts';
import { note, percentile, report } from './figures.ts';
import type { ModuleSet } from './module-set.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';
import { SentRequests } from './sent-requests.ts';

const EDITS = 15;

/**
 * Time from the API server's acknowledgement of a changed value in the ConfigMap to the start of the helm process for
 * it, against a bare `helm version`; of modules without enabled script. Starts and stops the daemon of the world.
 */
export async function benchConfigEdit(world: World, { names, unscripted }: ModuleSet): Promise<void> {
  await writeTree(world.directory, { helm: notingHelm(world.directory, world.backend.helmPath) });
  await world.putConfig({});
  await world.converge();
  const queue = world.daemon.operator.router.main;
  await queue.untilEmpty();
  const latenciesMs: number[] = [];
  const deployedMs: number[] = [];
  for (let edit = 0; edit < EDITS; edit += 1) {
    const name = unscripted[edit % unscripted.length] ?? '';
    const startsBefore = (await helmStarts(world)).length;
    const logged = world.log.records.length;
    await world.merge('configmaps', 'addon-operator', { data: { [name]: `replicas: ${edit + 2}` } });
    const acknowledgedMs = performance.timeOrigin + performance.now();
    await world.log.until((records) =>
      records.slice(logged).some(({ msg }) => msg === 'ModuleRun success, module is ready'),
    );
    deployedMs.push(performance.timeOrigin + performance.now() - acknowledgedMs);
    await queue.untilEmpty();
    const started = (await helmStarts(world))[startsBefore];
    if (started === undefined) throw new Error(`no helm was started for the new value of ${name}`);
    latenciesMs.push(started - acknowledgedMs);
  }
  const globalEdit = await globalEditCost(world);
  await world.stop();
  const bareMs = bareRunsMs(world.backend.helmPath, [`HOME=${world.directory}`], EDITS, ['version']);
  const bare = percentile(bareMs, 0.5);
  const reportRow = (what: string, ours: number, aim: string): void =>
    report(
      `${what}, ${names.length} modules`,
      `${ours.toFixed(0)} ms`,
      `${bare.toFixed(0)} ms`,
      ours / bare,
      aim,
    );
  reportRow('values edited to start of helm, p50', percentile(latenciesMs, 0.5), '<= 100 ms');
  reportRow('values edited to start of helm, max', percentile(latenciesMs, 1), '-');
  reportRow('values edited to module ready, p50', percentile(deployedMs, 0.5), '<= 310 ms');
  reportRow(
    'unused global values edited to all ready',
    globalEdit.tookMs,
    names.length > 20 ? '-' : '<= 210 ms',
  );
  note(
    `  the latter with ${globalEdit.helmRuns} helm processes, and ${globalEdit.requests} requests besides theirs`,
  );
}

/** A change of global values that no chart uses: what it takes until every module is known to be right. */
async function globalEditCost(world: World) {
  const { operator } = world.daemon;
  const converges = (): number =>
    world.log.records.filter(({ msg }) => msg === 'ConvergeModules task done').length;
  const [startsBefore, before] = [(await helmStarts(world)).length, converges()];
  using sent = new SentRequests();
  await world.merge('configmaps', 'addon-operator', { data: { global: 'unused: true' } });
  const startMs = performance.now();
  await world.log.until(() => converges() > before);
  await operator.router.main.untilEmpty();
  const tookMs = performance.now() - startMs;
  return {
    tookMs,
    helmRuns: (await helmStarts(world)).length - startsBefore,
    requests: sent.all.length,
  };
}

/** The real helm, which notes when it was started. */
function notingHelm(directory: string, helmPath: string): string {
  return `#!/bin/bash\necho "$EPOCHREALTIME" >> '${directory}/helm-starts'\nexec '${helmPath}' "$@"\n`;
}

/** In milliseconds since the epoch. */
async function helmStarts(world: World): Promise<number[]> {
  const text = await readFile(join(world.directory, 'helm-starts'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Number(line) * 1_000);
}
