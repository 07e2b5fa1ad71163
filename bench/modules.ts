import { performance } from 'node:perf_hooks';
import { sandboxBackend } from '../test/support/backends.ts';
import { World } from '../test/support/world.ts';
import { configMapChart, type FileTree, under } from '../test/support/world-files.ts';
import { note, report } from './figures.ts';
import { installWithHelm } from './reference/helm-install.ts';

const MODULES = 20;

/** 20 modules with small charts: how much of the first converge is helm itself, and what a restart costs. */
export async function benchModules(): Promise<void> {
  await using backend = await sandboxBackend();
  const names = Array.from({ length: MODULES }, (_, index) => `mod${index}`);
  const modules: FileTree = Object.assign(
    { 'values.yaml': names.map((name) => `${name}Enabled: true\n`).join('') },
    ...names.map((name, index) =>
      under(`${String(index).padStart(3, '0')}-${name}`, configMapChart(name, name)),
    ),
  );
  await using world = await World.create(backend, {
    modules,
    flags: { 'log-level': 'info' },
  });
  const firstMs = await convergeMs(world);
  const calls = (await world.helmCalls()).length;
  await world.stop();
  const restartMs = await convergeMs(world);
  const again = (await world.helmCalls()).length - calls;
  const charts = names.map(
    (name, index) => `${world.directory}/modules/${String(index).padStart(3, '0')}-${name}`,
  );
  const helmMs = await installWithHelm(backend, `${world.namespace}-reference`, names, charts);
  report(
    'first converge of 20 modules, one after another',
    `${firstMs.toFixed(0)} ms`,
    `${helmMs.toFixed(0)} ms`,
    helmMs / firstMs,
    'helm alone >= 0.8 of it',
  );
  report(
    'restart with nothing changed',
    `${restartMs.toFixed(0)} ms`,
    `${firstMs.toFixed(0)} ms`,
    restartMs / firstMs,
    `helm processes: ${again}, aim 0`,
  );
  note(`  helm processes of the first converge: ${calls}`);
}

/** From the start of the queues to the end of the first converge. */
async function convergeMs(world: World): Promise<number> {
  await world.start();
  const startMs = performance.now();
  await world.daemon.firstConverge;
  return performance.now() - startMs;
}
