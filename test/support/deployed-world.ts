import { execa } from 'execa';
import { type Backend, World } from './world.ts';
import { configMapChart, under } from './world-files.ts';

/** Files of a module `web`, which is enabled and has a chart with a ConfigMap. */
export const WEB = { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) };

/** helm as a person at a terminal would use it. */
export async function person(
  { backend, directory, namespace }: World,
  ...args: readonly string[]
): Promise<void> {
  const env = {
    KUBECONFIG: backend.kubeconfigPath,
    HELM_CACHE_HOME: directory,
    HELM_CONFIG_HOME: directory,
  };
  await execa(backend.helmPath, [...args, '--namespace', namespace], { env, stdin: 'ignore' });
}

/** A world in which web was deployed and no daemon runs any more. */
export async function deployedWorld(backend: Backend, modules: Readonly<Record<string, string>> = {}) {
  const world = await World.create(backend, { modules: { ...WEB, ...modules }, config: {} });
  await world.converge();
  await world.stop();
  return world;
}

/** Starts a daemon, and stops it after its first converge. */
export async function restart(world: World): Promise<void> {
  await world.converge();
  await world.stop();
}
