import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../../test/support/world.ts';
import { configMapChart, type FileTree, under } from '../../test/support/world-files.ts';
import { percentile } from '../figures.ts';
import { type SandboxProcess, startSandboxProcess } from '../sandbox-process.ts';
import type { Dimension, Figure, Measurement } from './figure.ts';
import { ScaleDaemon } from './scale-daemon.ts';

const EDITS = 11;
const POLL_MS = 100;
const SETTLE_MS = 3_000;
const MODULES = '/apis/addon-operator.io/v1alpha1/modules';
const FLAGS = { 'module-objects': 'true' };
const READY = '"msg":"ModuleRun success, module is ready"';

const FIGURES: readonly Figure[] = [
  { key: 'converge', title: 'first converge', unit: 's', isTotal: true },
  { key: 'mirror', title: 'until all statuses are written', unit: 's', goal: { size: 1_000, most: 5 } },
  { key: 'convergeRequests', title: 'requests of it, helm included', unit: '', isTotal: true },
  { key: 'restart', title: 'restart, no hooks', unit: 's', isTotal: true, goal: { size: 1_000, most: 5 } },
  { key: 'restartRequests', title: 'requests of it', unit: '' },
  {
    key: 'bashRestart',
    title: 'restart, a bash hook and an enabled script each',
    unit: 's',
    isTotal: true,
    goal: { size: 1_000, most: 15 },
  },
  { key: 'edit', title: 'edit to ready, p50', unit: 'ms' },
  { key: 'editRequests', title: 'requests of an edit, helm included', unit: '' },
  { key: 'memory', title: 'memory, helpers included', unit: 'MB' },
  { key: 'loop', title: 'event loop delay p99.9', unit: 'ms' },
  { key: 'scrape', title: 'metrics scrape', unit: 'ms', goal: { size: 1_000, most: 100 } },
  { key: 'scrapeSize', title: 'metrics size', unit: 'MB', goal: { size: 1_000, most: 5 } },
];

/** Modules in order, half of them with a chart. */
export function modulesDimension(sizes: readonly number[]): Dimension {
  return {
    name: 'modules',
    description:
      'Modules of one order each, every second with a chart of one ConfigMap. The restarts find nothing changed; in the second one ' +
      'every module has a bash hook, which prints its configuration with `cat`, and a bash `enabled` script.',
    sizes,
    figures: FIGURES,
    measure: measureModules,
  };
}

async function measureModules(size: number): Promise<Measurement> {
  await using api = await startSandboxProcess();
  const names = Array.from({ length: size }, (_, index) => `mod${index}`);
  await using world = await World.create(api.backend, {
    modules: plainModules(names),
    flags: FLAGS,
    config: {},
  });
  const first = await firstConverge(api, world, size);
  const { mirror: _mirror, ...restart } = await restarted(api, world, size);
  await world.write('modules', scripts(names));
  await converge(world);
  const bash = await restarted(api, world, size);
  const { mirror } = first;
  return { size, figures: { ...first, ...restart, bashRestart: bash.restart, mirror } };
}

async function firstConverge(api: SandboxProcess, world: World, size: number) {
  const before = await api.requests();
  await using daemon = await ScaleDaemon.start(world);
  await daemon.untilConverged();
  const convergedMs = performance.now();
  const converge = (convergedMs - daemon.startedMs) / 1_000;
  const convergeRequests = (await api.requests()) - before;
  return { converge, convergeRequests, mirror: await mirroredS(world, size, convergedMs) };
}

async function mirroredS(world: World, size: number, convergedMs: number): Promise<number> {
  for (;;) {
    const { items = [] } = (await world.expect({ path: MODULES })) as {
      readonly items?: readonly { readonly status?: { readonly phase?: string } }[];
    };
    if (items.filter(({ status }) => status?.phase === 'Succeeded').length >= size)
      return (performance.now() - convergedMs) / 1_000;
    await sleep(POLL_MS);
  }
}

async function converge(world: World): Promise<void> {
  await using daemon = await ScaleDaemon.start(world);
  await daemon.untilConverged();
}

async function restarted(api: SandboxProcess, world: World, size: number) {
  const before = await api.requests();
  await using daemon = await ScaleDaemon.start(world, {}, [READY]);
  await daemon.beginLoop();
  await daemon.untilConverged();
  const restart = (performance.now() - daemon.startedMs) / 1_000;
  const restartRequests = (await api.requests()) - before;
  await sleep(SETTLE_MS);
  const memory = daemon.memoryMb();
  const scrapes = [await daemon.scrape(), await daemon.scrape(), await daemon.scrape()];
  const edits = await edited(api, world, daemon, size);
  const { p999Ms: loop } = await daemon.loop();
  const scrape = percentile(
    scrapes.map(({ tookMs }) => tookMs),
    0.5,
  );
  return {
    restart,
    restartRequests,
    memory,
    loop,
    scrape,
    scrapeSize: scrapes[0]?.sizeMb ?? 0,
    ...edits,
    mirror: 0,
  };
}

/** Values of modules with a chart, one after another. */
async function edited(api: SandboxProcess, world: World, daemon: ScaleDaemon, size: number) {
  const tookMs: number[] = [];
  const before = await api.requests();
  for (let edit = 0; edit < EDITS; edit += 1) {
    const name = `mod${(edit * 2) % size}`;
    const ready = daemon.count(READY);
    await world.merge('configmaps', 'addon-operator', { data: { [name]: `replicas: ${Date.now()}\n` } });
    const startMs = performance.now();
    await daemon.untilCount(READY, ready + 1);
    tookMs.push(performance.now() - startMs);
  }
  return { edit: percentile(tookMs, 0.5), editRequests: ((await api.requests()) - before) / EDITS };
}

function plainModules(names: readonly string[]): FileTree {
  const trees = names.map((name, index) =>
    under(
      directoryOf(name, index),
      index % 2 === 0 ? configMapChart(name, name) : { 'values.yaml': `${name}: {size: small}\n` },
    ),
  );
  const values = names.map((name) => `${name}Enabled: true\n${name}: {replicas: 1}\n`).join('');
  return Object.assign({ 'values.yaml': values }, ...trees) as FileTree;
}

function scripts(names: readonly string[]): FileTree {
  const enabled = '#!/usr/bin/env bash\necho true > "$MODULE_ENABLED_RESULT"\n';
  const hook = `#!/usr/bin/env bash
if [[ $1 == "--config" ]]; then
  cat <<EOF
configVersion: v1
schedule:
- name: yearly
  crontab: "0 0 1 1 *"
EOF
  exit
fi
`;
  const trees = names.map((name, index) =>
    under(directoryOf(name, index), { enabled, [join('hooks', 'yearly.sh')]: hook }),
  );
  return Object.assign({}, ...trees) as FileTree;
}

function directoryOf(name: string, index: number): string {
  return `${String(index + 1).padStart(4, '0')}-${name}`;
}
