import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { requestDebug } from '../../src/server/debug-client.ts';
import { type Backend, World } from './world.ts';
import { announcer, configMapChart, type FileTree, under, writeTree } from './world-files.ts';

/** Two modules with a ConfigMap each, `web` with hooks. */
export const MODULES = {
  'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/hooks/say.sh': announcer('web', { onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
  ...under('002-db', configMapChart('db', 'db')),
};

/** A host with this method, for ConfigMaps. */
export function host(method: string, body: string): string {
  return `import { existsSync } from 'node:fs';
import { block, defineExtensions, errorDetails, notReady, proceed, ready } from 'addon-operator/sdk';
const isThere = (name) => existsSync(process.env.WORLD + '/' + name);
class ConfigMapExtensions {
  async ${method}(input, next, apiVersion, log) {
    ${body}
  }
}
export default defineExtensions(new ConfigMapExtensions());
`;
}

/** Extends every point, and has each do what it would do anyway. */
export const ONLY_NEXT = `import { defineExtensions } from 'addon-operator/sdk';
const next = (input, next) => next(input);
export default defineExtensions({
  classifyError: next, modifyManifest: next, preReconcileCheck: next,
  postReconcileCheck: next, delete: next, onSuccess: next,
});
`;

/** A world with operator-wide extensions. */
export async function worldOf(
  backend: Backend,
  customizations: FileTree,
  options: Partial<Parameters<typeof World.create>[1]> = {},
): Promise<World> {
  const world = await World.create(backend, { modules: MODULES, ...options });
  await extend(world, customizations);
  return world;
}

/** Writes operator-wide extensions. */
export async function extend(world: World, customizations: FileTree): Promise<void> {
  await writeTree(join(world.directory, 'customizations'), customizations);
}

/** What the operator says about a module. */
export async function explain(world: World, module: string): Promise<Record<string, unknown>> {
  const socketPath = join(world.directory, 'debug.socket');
  const { body } = await requestDebug({ socketPath, path: `/module/${module}/explain.json` }, systemClock);
  return JSON.parse(body) as Record<string, unknown>;
}
