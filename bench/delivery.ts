import { execFileSync } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '@addon-operator/base/clock';
import { openRepository } from '@addon-operator/oci/open-repository';
import { packModule } from '../src/artifacts/pack-module.ts';
import { pushPacked } from '../src/artifacts/push-module.ts';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { FaultRegistry } from '../test/support/oci/fault-registry.ts';
import { World } from '../test/support/world.ts';
import { runInWorld } from '../test/support/world-command.ts';
import { type FileTree, writeTree } from '../test/support/world-files.ts';
import { note, percentile, report, sum } from './figures.ts';
import { childrenOf, cpuMs, privateKb } from './process-usage.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

const MODULES = 100;
const INTERVAL_MS = 10_000;
const INTERVALS = 6;
const SETTLE_MS = 15_000;
const SWITCHES = 5;
const POLL_MS = 10;
const MAX_SWITCH_MS = 2_000;
const MAX_REQUESTS = 110;
const MAX_CPU_MS = 300;
const MAX_MEMORY_MB = 10;
const { signal: never } = new AbortController();

/** What delivery costs: a switch beside helm itself, and 100 modules of one source with nothing new beside the same as directories. */
export async function benchDelivery(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  await using registry = await FaultRegistry.start(never);
  await benchSwitch(sandbox, registry);
  await benchChecks(sandbox, registry);
}

async function benchSwitch({ backend }: SandboxProcess, registry: FaultRegistry): Promise<void> {
  await using world = await deliveringWorld(backend, registry, ['web']);
  await push(world, registry, 'web', '1.0.0', chart('1.0.0'));
  await using daemon = DaemonProcess.start(world, { 'log-level': 'info' });
  await daemon.untilConverged();
  await until(async () => (await liveVersion(world, 'web')) === '1.0.0');
  await until(async () => await allAreGood(world));
  const rounds: { readonly switchMs: number; readonly helmMs: number }[] = [];
  for (let round = 1; round <= SWITCHES; round += 1) {
    const version = `1.${round}.0`;
    const digest = await push(world, registry, 'web', version, chart(version));
    const mark = join(world.directory, 'store/content', `${digest.replace(':', '-')}.ok`);
    await until(
      async () =>
        await access(mark).then(
          () => true,
          () => false,
        ),
    );
    const startMs = performance.now();
    await until(async () => (await liveVersion(world, 'web')) === version);
    const switchMs = performance.now() - startMs;
    await until(async () => await allAreGood(world));
    rounds.push({ switchMs, helmMs: await bareHelmMs(world, version) });
  }
  const median = (of: (round: (typeof rounds)[number]) => number): number => percentile(rounds.map(of), 0.5);
  const [switchMs, helmMs] = [median((one) => one.switchMs), median((one) => one.helmMs)];
  const aboveMs = median((one) => one.switchMs - one.helmMs);
  report(
    'content in the store until the new chart is deployed',
    `${switchMs.toFixed(0)} ms`,
    `${helmMs.toFixed(0)} ms`,
    switchMs / helmMs,
    `<= ${MAX_SWITCH_MS} ms above: ${aboveMs.toFixed(0)}`,
  );
}

/** The daemons are new processes in which all modules are there already. */
async function benchChecks({ backend }: SandboxProcess, registry: FaultRegistry): Promise<void> {
  const names = Array.from({ length: MODULES }, (_, index) => `empty${index}`);
  const enabled = names.map((name) => `${name}Enabled: true\n`).join('');
  const directories = names.map((name) => [`100-${name}/values.yaml`, `${name}: {}\n`]);
  await using plain = await World.create(backend, {
    modules: { 'values.yaml': enabled, ...Object.fromEntries(directories) },
  });
  const without = await idle(plain);
  await using world = await deliveringWorld(backend, registry, names, { 'values.yaml': enabled });
  for (const name of names)
    await push(world, registry, name, '1.0.0', { 'values.yaml': `${name}: {}\n`, 'module.yaml': '{}\n' });
  {
    await using daemon = DaemonProcess.start(world, { 'log-level': 'info' });
    await daemon.untilConverged();
    await until(async () => await allAreGood(world));
  }
  const withDelivery = await idle(world, registry);
  const cpuMsOfOne = (withDelivery.usedMs - without.usedMs) / INTERVALS;
  report(
    `check of ${MODULES} modules, CPU`,
    `${(withDelivery.usedMs / INTERVALS).toFixed(0)} ms`,
    `${(without.usedMs / INTERVALS).toFixed(0)} ms`,
    cpuMsOfOne / MAX_CPU_MS,
    '<= 1',
  );
  report(
    `memory with ${MODULES} modules of a source`,
    `${withDelivery.memoryMb.toFixed(0)} MB`,
    `${without.memoryMb.toFixed(0)} MB`,
    (withDelivery.memoryMb - without.memoryMb) / MAX_MEMORY_MB,
    '<= 1',
  );
  note(`  requests of one check: ${withDelivery.requests.toFixed(0)}, aim <= ${MAX_REQUESTS}`);
}

async function deliveringWorld(
  backend: SandboxProcess['backend'],
  registry: FaultRegistry,
  names: readonly string[],
  modules: FileTree = { 'values.yaml': 'webEnabled: true\n' },
): Promise<World> {
  const world = await World.create(backend, {
    modules,
    env: (directory) => ({
      ADDON_OPERATOR_MODULE_STORE: join(directory, 'store'),
      ADDON_OPERATOR_MODULE_SOURCES: join(directory, 'sources.yaml'),
    }),
  });
  const document = (kind: string, name: string, spec: object): string =>
    JSON.stringify({ apiVersion: 'addon-operator.io/v1alpha1', kind, metadata: { name }, spec });
  const documents = [
    document('ModuleSource', 'bench', {
      url: registry.url(world.namespace),
      interval: `${INTERVAL_MS / 1_000}s`,
    }),
    ...names.map((name) =>
      document('ModuleInstall', name, { source: 'bench', version: { channel: 'stable' } }),
    ),
  ];
  await writeFile(join(world.directory, 'sources.yaml'), documents.join('\n---\n'));
  return world;
}

/** @returns the digest of the version */
async function push(
  { directory, namespace }: World,
  registry: FaultRegistry,
  name: string,
  version: string,
  files: FileTree,
): Promise<string> {
  const from = join(directory, 'pushed', version, name);
  await writeTree(from, files);
  const packed = await packModule(from, { version }, never);
  const repository = openRepository(registry.url(`${namespace}/${name}`), { clock: systemClock });
  return (await pushPacked(packed, repository, ['stable'], never)).digest;
}

function chart(version: string): FileTree {
  return {
    'Chart.yaml': `apiVersion: v2\nname: web\nversion: ${version}\n`,
    'templates/web.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {version: {{ .Chart.Version | quote }}}\n',
  };
}

async function liveVersion({ backend, namespace }: World, name: string): Promise<string | undefined> {
  const { body } = await backend.request({ path: `/api/v1/namespaces/${namespace}/configmaps/${name}` });
  return (body as { readonly data?: { readonly version?: string } }).data?.version;
}

/** Whether each module has passed its gates with the version that is wanted. */
async function allAreGood(world: World): Promise<boolean> {
  const { exitCode, stdout } = await runInWorld(world, 'module', 'versions', '-o', 'json');
  if (exitCode !== 0) return false;
  type Version = { readonly digest: string } | undefined;
  const installs = JSON.parse(stdout) as readonly { readonly lastGood: Version; readonly wanted: Version }[];
  return installs.every(({ lastGood, wanted }) => wanted !== undefined && lastGood?.digest === wanted.digest);
}

/** helm alone, with the same chart as another release. */
async function bareHelmMs({ backend, directory, namespace }: World, version: string): Promise<number> {
  const path = join(directory, 'pushed', version, 'web');
  const args = ['upgrade', '--install', 'reference', path, '--namespace', namespace];
  const startMs = performance.now();
  execFileSync(backend.helmPath, [...args, '--kubeconfig', backend.kubeconfigPath], { stdio: 'ignore' });
  return await Promise.resolve(performance.now() - startMs);
}

/** A daemon with nothing to do, for some intervals. */
async function idle(world: World, registry?: FaultRegistry) {
  await using daemon = DaemonProcess.start(world, { 'log-level': 'info' });
  await daemon.untilConverged();
  await sleep(SETTLE_MS);
  const pids = [daemon.pid, ...childrenOf(daemon.pid)];
  const used = (): number => sum(pids.map(cpuMs));
  await registry?.clearLog();
  const before = used();
  await sleep(INTERVALS * INTERVAL_MS);
  const usedMs = used() - before;
  const requests = ((await registry?.accessLog()) ?? []).length / INTERVALS;
  return { usedMs, memoryMb: privateKb(daemon.pid) / 1_024, requests };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(POLL_MS);
}
