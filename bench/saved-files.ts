import { watch } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { sandboxBackend } from '../test/support/backends.ts';
import { World } from '../test/support/world.ts';
import { shHook } from '../test/support/world-files.ts';
import { percentile, report } from './figures.ts';
import { bareRunsMs } from './reference/posix-spawn.ts';

const ROUNDS = 20;
/** Modules that have nothing to do with what is saved. */
const OTHERS = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', 'hen', 'ibis', 'jay'];

/**
 * Time from a saved file until the hook it is about has printed, or the module is gone, for each kind of change; against
 * the time until Node reports the same change plus bare runs of the hook for its configuration and its binding.
 */
export async function benchSavedFiles(): Promise<void> {
  await using backend = await sandboxBackend();
  const modules = Object.fromEntries(
    OTHERS.flatMap((name, index) => [
      [`0${10 + index}-${name}/values.yaml`, `${name}Enabled: true\n`],
      [`0${10 + index}-${name}/hooks/a.sh`, shHook('beforeHelm: 1', 'true')],
    ]),
  );
  await using world = await World.create(backend, {
    flags: { 'watch-files': 'true', 'log-level': 'info' },
    modules: {
      ...modules,
      '040-web/values.yaml': 'webEnabled: true\n',
      '040-web/hooks/sync.sh': synchronized('sync-none'),
    },
    globalHooks: { 'start.sh': onStartup('none') },
  });
  await world.converge();
  await world.log.untilMessage('watching files for changes');
  const latencies = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const change of changesOf(round)) {
      const latencyMs = await latencyOf(world, change);
      latencies.set(change.what, [...(latencies.get(change.what) ?? []), latencyMs]);
    }
  const bareMs = await bareLatenciesMs(world);
  const bare = percentile(bareMs, 0.95);
  for (const [what, latenciesMs] of latencies) {
    const ours = percentile(latenciesMs, 0.95);
    report(`${what}, p95`, `${ours.toFixed(0)} ms`, `${bare.toFixed(0)} ms`, ours / bare, '<= 1000 ms');
  }
}

function onStartup(says: string): string {
  return shHook('onStartup: 1', `echo ${says}`);
}

function synchronized(says: string): string {
  return shHook(
    'kubernetes:\n- {name: maps, kind: ConfigMap, namespace: {nameSelector: {matchNames: [none]}}}',
    `echo ${says}`,
  );
}

interface Change {
  readonly what: string;
  readonly make: (world: World) => Promise<void>;
  /** Whether it is in force, as the log says since the change. */
  readonly isInForce: (records: World['log']['records']) => boolean;
}

function changesOf(round: number): readonly Change[] {
  const printed = (line: string): Change['isInForce'] => {
    return (records) => records.some(({ msg }) => msg === line);
  };
  const module = (number: number): string => `${number}-added`;
  const place = (world: World, name: string): string => join(world.directory, 'modules', name);
  return [
    {
      what: 'edited onStartup of a global hook',
      make: (world) => world.write('global-hooks', { 'start.sh': onStartup(`start-${round}`) }),
      isInForce: printed(`start-${round}`),
    },
    {
      what: 'edited Synchronization of a module hook',
      make: (world) => world.write('modules', { '040-web/hooks/sync.sh': synchronized(`sync-${round}`) }),
      isInForce: printed(`sync-${round}`),
    },
    {
      what: 'added hook of a module',
      make: (world) =>
        world.write('modules', { [`040-web/hooks/new-${round}.sh`]: onStartup(`new-${round}`) }),
      isInForce: printed(`new-${round}`),
    },
    {
      what: 'renamed hook of a module',
      make: (world) =>
        rename(
          place(world, `040-web/hooks/new-${round}.sh`),
          place(world, `040-web/hooks/renamed-${round}.sh`),
        ),
      isInForce: printed(`new-${round}`),
    },
    {
      what: 'removed hook of a module',
      make: (world) => rm(place(world, `040-web/hooks/renamed-${round}.sh`)),
      isInForce: (records) =>
        records.some(({ msg, module: name }) => name === 'web' && String(msg).endsWith('module is ready')),
    },
    {
      what: 'added module',
      make: (world) =>
        world.write('modules', {
          [`${module(50)}/values.yaml`]: 'addedEnabled: true\n',
          [`${module(50)}/hooks/a.sh`]: onStartup(`module-${round}`),
        }),
      isInForce: printed(`module-${round}`),
    },
    {
      what: 'renamed module',
      make: (world) => rename(place(world, module(50)), place(world, module(60))),
      isInForce: printed(`module-${round}`),
    },
    {
      what: 'removed module',
      make: (world) => rm(place(world, module(60)), { recursive: true }),
      isInForce: (records) =>
        records.some(
          ({ msg, modules }) =>
            msg === 'Enabled modules' && Array.isArray(modules) && !modules.includes('added'),
        ),
    },
  ];
}

async function latencyOf(world: World, { make, isInForce }: Change): Promise<number> {
  const logged = world.log.records.length;
  const startMs = performance.now();
  await make(world);
  await world.log.until((records) => isInForce(records.slice(logged)));
  const latencyMs = performance.now() - startMs;
  await untilAtRest(world, logged);
  return latencyMs;
}

/** The next change must not be part of the same reload, nor wait for the converge of this one. */
async function untilAtRest(world: World, logged: number): Promise<void> {
  await world.log.until((records) =>
    records.slice(logged).some(({ msg }) => msg === 'ConvergeModules task done'),
  );
  await world.daemon.operator.router.main.untilEmpty();
}

async function bareLatenciesMs(world: World): Promise<number[]> {
  const directory = join(world.directory, 'global-hooks');
  const [file, noted] = [join(directory, 'start.sh'), join(world.directory, 'noted')];
  await world.stop();
  const latenciesMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const changed = Promise.withResolvers<void>();
    const watcher = watch(world.directory, () => changed.resolve());
    const startMs = performance.now();
    await writeFile(noted, String(round));
    await changed.promise;
    const noticedMs = performance.now() - startMs;
    watcher.close();
    const runsMs = ['--config', 'run'].flatMap((argument) => bareRunsMs(file, PATH, 1, [argument]));
    latenciesMs.push(noticedMs + runsMs.reduce((total, each) => total + each, 0));
  }
  return latenciesMs;
}

const PATH = [`PATH=${process.env['PATH'] ?? ''}`];
