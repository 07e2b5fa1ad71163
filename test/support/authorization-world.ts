import { keyringEnv, Signer } from './signed-modules.ts';
import { type Backend, World, type WorldOptions } from './world.ts';
import { announcer, configMapChart, type FileTree, under } from './world-files.ts';

export const REFUSED = 'Module is not authorized and does not run';
/** The config that enables both modules. */
export const ON = { webEnabled: 'true', dnsEnabled: 'true' };
/** A hook that prints its module and binding. */
export const SAYS = (module: string) =>
  announcer(module, { onStartup: 1, beforeHelm: 1, afterDeleteHelm: 1 });

/** A module with a ConfigMap and a hook. */
export const WEB: FileTree = {
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/values.yaml': 'web: {color: blue}\n',
  '001-web/hooks/hook.sh': SAYS('web'),
};
export const DNS: FileTree = { '002-dns/hooks/hook.sh': SAYS('dns') };

/** The color that the ConfigMap of a module was deployed with. */
export async function colorOf(world: World, name = 'web'): Promise<unknown> {
  const map = (await world.get('configmaps', name)) as { data?: { values: string } } | undefined;
  return map === undefined ? 'absent' : (JSON.parse(map.data?.values ?? '{}') as { color?: string }).color;
}

/** Modules that were refused, in order, with the reasons. */
export function reasonsOf(world: World): unknown[] {
  return world.log.records.filter(({ msg }) => msg === REFUSED).map(({ module, reason }) => [module, reason]);
}

/** A world that runs signed modules only. */
export async function createSignedWorld(
  backend: Backend,
  options: WorldOptions,
): Promise<{ readonly world: World; readonly signer: Signer }> {
  const world = await World.create(backend, { config: ON, env: keyringEnv, ...options });
  return { world, signer: await Signer.create(world) };
}
