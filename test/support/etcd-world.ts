import { controlPlaneBackend } from './backends.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import type { Cluster } from './control-plane/global-setup.ts';
import { itemsHook } from './items-hook.ts';
import { World } from './world.ts';
import { configMapChart, under } from './world-files.ts';

/** A module with a chart of one ConfigMap that holds its values. */
export const WEB = {
  'values.yaml': 'webEnabled: true\nweb: {a: 0}\n',
  ...under('001-web', configMapChart('web', 'web')),
};

/** A world on a control plane whose etcd the test breaks, with a hook that follows items. */
export async function startEtcdWorld(
  cluster: Cluster,
  plane: ControlPlane,
  modules: Record<string, string>,
): Promise<World> {
  const { access, kubeconfigPath } = plane;
  const backend = await controlPlaneBackend({ ...cluster, access, kubeconfigPath });
  const world = await World.create(backend, { modules, config: { web: 'a: 1\n' } });
  await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
  return world;
}

/** The ConfigMap of the chart of {@link WEB}. */
export function deployedMap(world: World): Promise<unknown> {
  return world.get('configmaps', 'web');
}
