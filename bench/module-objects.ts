import { once } from 'node:events';
import { join } from 'node:path';
import { DaemonProcess } from '../test/support/daemon-process.ts';
import { type Backend, World } from '../test/support/world.ts';
import type { FileTree } from '../test/support/world-files.ts';
import { note, percentile, report } from './figures.ts';
import { cpuMs } from './process-usage.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const MANY = 1_000;
const FEW = 20;
const ROUNDS = 5;
const POLL_MS = 500;
/** Longer than times of runs wait that are not urgent. */
const IDLE_MS = 45_000;
const MODULES = '/apis/addon-operator.io/v1alpha1/modules';

/** How soon Module objects show a converge, and how soon an idle daemon ends. The API server is a process of its own. */
export async function benchModuleObjects(): Promise<void> {
  await using sandbox = await startSandboxProcess();
  await benchMirror(sandbox.backend);
  await benchStop(sandbox.backend);
}

/** Modules without files run nothing: what is left is the converge, and the objects. */
async function benchMirror(backend: Backend): Promise<void> {
  const names = Array.from({ length: MANY }, (_, index) => `empty${index}`);
  await using world = await World.create(backend, { modules: emptyModules(names), flags: FLAGS });
  await using daemon = DaemonProcess.start(world, FLAGS);
  await daemon.untilConverged();
  const [convergedMs, usedMs] = [performance.now(), cpuMs(daemon.pid)];
  while ((await succeeded(backend)) < MANY) await pause(POLL_MS);
  const mirroredMs = performance.now() - convergedMs;
  const workMs = cpuMs(daemon.pid) - usedMs;
  const writesMs = await bareWrites(world, names);
  report(
    `${MANY} modules, from the converge to their objects`,
    `${mirroredMs.toFixed(0)} ms`,
    `${writesMs.toFixed(0)} ms`,
    mirroredMs / writesMs,
    '< 5000 ms',
  );
  note(`  CPU of the daemon in this time: ${workMs.toFixed(0)} ms`);
  await remove(backend, names);
}

async function benchStop(backend: Backend): Promise<void> {
  const names = Array.from({ length: FEW }, (_, index) => `few${index}`);
  await using world = await World.create(backend, { modules: emptyModules(names), flags: FLAGS });
  const [justMs, idleMs]: [number[], number] = [[], await stopAfter(world, IDLE_MS)];
  for (let round = 0; round < ROUNDS; round += 1) justMs.push(await stopAfter(world, 0));
  const medianMs = percentile(justMs, 0.5);
  report(
    `SIGTERM to exit, idle daemon with ${FEW} modules`,
    `${idleMs.toFixed(0)} ms`,
    `${medianMs.toFixed(0)} ms right after a converge`,
    idleMs / medianMs,
    '< 300 ms',
  );
  await remove(backend, names);
}

/** From the signal to the exit of the process. */
async function stopAfter(world: World, idleMs: number): Promise<number> {
  await using daemon = DaemonProcess.start(world, FLAGS);
  await daemon.untilConverged();
  await pause(idleMs);
  const startMs = performance.now();
  daemon.signal('SIGTERM');
  await daemon.exited;
  return performance.now() - startMs;
}

/** The same number of writes of one object, one after another: what the API server and the machine can do. */
async function bareWrites(world: World, names: readonly string[]): Promise<number> {
  await world.create('configmaps', { metadata: { name: 'reference' } });
  const startMs = performance.now();
  for (const name of names) await world.merge('configmaps', 'reference', { data: { name } });
  return performance.now() - startMs;
}

async function succeeded(backend: Backend): Promise<number> {
  const { body } = await backend.request({ path: MODULES });
  const { items = [] } = body as {
    readonly items?: readonly { readonly status?: { readonly phase?: string } }[];
  };
  return items.filter(({ status }) => status?.phase === 'Succeeded').length;
}

async function remove(backend: Backend, names: readonly string[]): Promise<void> {
  for (const name of names) await backend.request({ method: 'DELETE', path: `${MODULES}/${name}` });
}

const FLAGS = { 'module-objects': 'true', 'log-level': 'info' };

function emptyModules(names: readonly string[]): FileTree {
  return {
    'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
    ...Object.fromEntries(names.map((name) => [join(`001-${name}`, 'values.yaml'), '{}\n'])),
  };
}

function pause(ms: number): Promise<unknown> {
  return once(AbortSignal.timeout(ms), 'abort');
}
