import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Cluster } from '../support/control-plane/global-setup.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { FaultMatch } from '../support/fault-rule.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import type { World } from '../support/world.ts';

/** Expects that modules, whose charts have a ConfigMap of their name, are deployed. */
export async function isDeployed(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    expect(await world.get('configmaps', name)).toBeDefined();
    expect((await releaseStatuses(world, name)).at(-1)).toBe('deployed');
  }
}

/** Lets a daemon run up to a request that the API server never gets to see, and kills it there. */
export async function killAt(match: FaultMatch, world: World, { access }: Cluster): Promise<void> {
  await using proxy = await FaultProxy.start(access);
  await writeFile(join(world.directory, 'proxied'), proxy.kubeconfig);
  const held = proxy.add(match, { type: 'hold' });
  await using daemon = DaemonProcess.start(world, { 'kube-config': join(world.directory, 'proxied') });
  await held.untilHit();
  await daemon.kill();
  await proxy.disconnect();
}

/** Directories of runs in the directory for temporary files. */
export async function leftovers(world: World): Promise<readonly string[]> {
  const names = await readdir(join(world.directory, 'tmp'), { recursive: true });
  return names.filter((name) => /^(helm\/)?run-[^/]*$/.test(name));
}
