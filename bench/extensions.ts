import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { sandboxBackend } from '../test/support/backends.ts';
import { type Backend, World } from '../test/support/world.ts';
import { configMapChart, type FileTree, under, writeTree } from '../test/support/world-files.ts';
import { percentile, report } from './figures.ts';

const ROUNDS = 60;
const RUNS = 20;

/** Files beside the modules; undefined: not even the directories are there. */
const INSTALLED: Readonly<Record<string, FileTree | undefined>> = {
  nothing: undefined,
  'empty directories': {},
  'an extension of another kind': {
    'customizations/apps/stateful-set.ts': `import { defineExtensions } from 'addon-operator/sdk';
export class StatefulSetExtensions { modifyManifest(object, next) { return next(object); } }
export default defineExtensions(new StatefulSetExtensions());
`,
  },
};

/** Runs of a module whose release is up to date: what extensions cost those that have none. */
export async function benchExtensions(): Promise<void> {
  const backend = await sandboxBackend();
  await using worlds = new AsyncDisposableStack();
  worlds.defer(() => backend[Symbol.asyncDispose]());
  const runs = new Map<string, () => Promise<number>>();
  for (const [name, files] of Object.entries(INSTALLED)) {
    const world = worlds.use(await worldWith(backend, files));
    await world.converge();
    world.log.logger.setLevel('error');
    runs.set(name, () => moduleRunMs(world));
  }
  const ms = new Map([...runs.keys()].map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, run] of runs) ms.get(name)?.push(await run());
  }
  // What else the machine does only ever adds to a time.
  const quickMs = (name: string): number => percentile(ms.get(name) ?? [], 0.1);
  for (const name of Object.keys(INSTALLED).slice(1)) {
    const [figure, reference] = [quickMs(name), quickMs('nothing')];
    report(
      `module run, unchanged, ${name}`,
      `${figure.toFixed(3)} ms`,
      `${reference.toFixed(3)} ms`,
      figure / reference,
      name === 'empty directories' ? '<= 1.05' : '-',
    );
  }
}

async function worldWith(backend: Backend, files: FileTree | undefined): Promise<World> {
  const world = await World.create(backend, {
    modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    flags: { 'log-level': 'info' },
  });
  if (files === undefined) return world;
  for (const directory of ['customizations', 'flow-hooks'])
    await mkdir(join(world.directory, directory), { recursive: true });
  await writeTree(world.directory, files);
  return world;
}

/** The mean of some runs behind one another. */
async function moduleRunMs({ daemon: { operator } }: World): Promise<number> {
  const module = operator.registry.find('web');
  if (module === undefined) throw new Error('the module web is missing');
  const queue = operator.queues.get('bench');
  const startMs = performance.now();
  queue.append(...Array.from({ length: RUNS }, () => operator.router.moduleRun(module.name, 'bench')));
  await queue.untilEmpty();
  return (performance.now() - startMs) / RUNS;
}
