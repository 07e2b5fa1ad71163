import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Backend, World, type WorldOptions } from '../support/world.ts';

const ROOT = join(fileURLToPath(import.meta.url), '../../..');

/** A world on the directories of one example, as they are in the checkout. */
export function exampleWorld(backend: Backend, name: string, options: WorldOptions = {}): Promise<World> {
  const directories = {
    modules: join(ROOT, 'examples', name, 'modules'),
    globalHooks: join(ROOT, 'examples', name, 'global-hooks'),
    ...options.directories,
  };
  return World.create(backend, { flags: jqFlags(backend), ...options, directories });
}

/** A world on the modules and global hooks that `npm start` deploys. */
export function starterWorld(backend: Backend): Promise<World> {
  const directories = { modules: join(ROOT, 'modules'), globalHooks: join(ROOT, 'global-hooks') };
  return World.create(backend, { flags: jqFlags(backend), directories });
}

/** Filters must work in both engines: on the sandbox we take the built-in one, elsewhere jq where there is one. */
function jqFlags({ name }: Backend): Readonly<Record<string, string>> {
  return name === 'sandbox' ? { jq: 'builtin' } : {};
}

/** Path of a directory of an example. */
export function exampleDirectory(name: string, directory: string): string {
  return join(ROOT, 'examples', name, directory);
}

/** An object by its path; undefined if there is none. */
export async function read(world: World, path: string): Promise<unknown> {
  const { status, body } = await world.backend.request({ path });
  return status === 404 ? undefined : body;
}

/** Deletes an object that a hook made outside of the world's namespace. */
export async function remove(world: World, path: string): Promise<void> {
  await world.backend.request({ method: 'DELETE', path });
}

/** How long a change may take to reach the cluster. */
export const SOON = { timeout: 90_000, interval: 20 } as const;
