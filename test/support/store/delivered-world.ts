import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { Backend, World } from '../world.ts';
import { runInWorld } from '../world-command.ts';
import { type StoreWorld, storeWorld, writeVersion } from './store-world.ts';

/** From a change in a source to its next check. */
const INTERVAL_MS = 10_000;

/**
 * A world whose modules come from a source: image layouts in `source`, one for each module. The documents of all of them
 * are in the file of `--module-sources`.
 */
export async function deliveredWorld(
  backend: Backend,
  names: readonly string[],
  flags: Readonly<Record<string, string>> = {},
): Promise<StoreWorld> {
  const made = await storeWorld(backend, names, {
    flags,
    env: (directory) => ({
      ADDON_OPERATOR_MODULE_STORE: join(directory, 'store'),
      ADDON_OPERATOR_MODULE_SOURCES: join(directory, 'sources.yaml'),
    }),
  });
  for (const name of names) {
    const layout = join(made.world.directory, 'source', name);
    await mkdir(layout, { recursive: true });
    await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    await writeFile(join(layout, 'index.json'), '{"schemaVersion":2,"manifests":[]}');
  }
  await writeSources(made.world, names);
  return made;
}

/** Writes the documents anew. */
export async function writeSources(world: World, installs: readonly string[]): Promise<void> {
  const document = (kind: string, name: string, spec: object): string =>
    JSON.stringify({ apiVersion: 'addon-operator.io/v1alpha1', kind, metadata: { name }, spec });
  const url = `oci-layout://${join(world.directory, 'source')}`;
  const documents = [
    document('ModuleSource', 'platform', { url, interval: `${INTERVAL_MS}ms` }),
    ...installs.map((name) =>
      document('ModuleInstall', name, { source: 'platform', order: 30, version: { channel: 'stable' } }),
    ),
  ];
  const path = join(world.directory, 'sources.yaml');
  await writeFile(`${path}.draft`, documents.join('\n---\n'));
  await rename(`${path}.draft`, path);
}

/** Pushes a version to the source, where it is the one of the channel. */
export async function pushVersion(world: World, name: string, version: string): Promise<void> {
  const directory = join(world.directory, 'versions', version, name);
  await writeVersion(directory, name, version);
  const url = `oci-layout://${join(world.directory, 'source', name)}`;
  const pushed = await runInWorld(world, 'module', 'push', directory, url, '--channel', 'stable');
  expect(pushed).toMatchObject({ exitCode: 0, stderr: '' });
}

/**
 * Lets time pass until something holds: sources are checked, modules step, and files are looked at. While a task of `main`
 * runs none passes: it would end a helm or a hook by its time limit on a slow machine.
 */
export async function deliver(world: World, done: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      if (world.daemon.operator.router.main.status.type !== 'running') world.clock.jump(INTERVAL_MS);
      await done();
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Takes the source away, or brings it back. */
export async function moveSource(world: World, where: 'away' | 'back'): Promise<void> {
  const [source, aside] = [join(world.directory, 'source'), join(world.directory, 'source-away')];
  await (where === 'away' ? rename(source, aside) : rename(aside, source));
}

export async function loseStore(world: World): Promise<void> {
  await rm(join(world.directory, 'store'), { recursive: true });
}
