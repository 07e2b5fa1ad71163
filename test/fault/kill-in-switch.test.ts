import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { uniqueName } from '../support/module-world.ts';
import { addVersion, storeWorld } from '../support/store/store-world.ts';
import type { Backend, World } from '../support/world.ts';
import { untilNoProcesses } from '../support/world-processes.ts';

const WAIT = { timeout: 60_000, interval: 100 };

async function untilRuns(world: World, name: string, version: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: version, hook: version } });
  }, WAIT);
}

/** Records of the daemon at which it is killed while it switches a module. */
const MOMENTS = ['Module is switched to another version', 'Helm upgrade successful'];

describeCluster('after kill -9 of the daemon in a switch', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-D18
  test('a module runs wholly in one version, and its release is never uninstalled', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend, [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await untilRuns(world, name, '1.0.0');
      await daemon.kill();
    }
    for (const [index, moment] of MOMENTS.entries()) {
      await untilNoProcesses(world);
      const version = `1.${index + 1}.0`;
      {
        await using daemon = DaemonProcess.start(world);
        await daemon.untilConverged();
        await addVersion(world, name, version);
        await daemon.log.untilMessage(moment);
        await daemon.kill();
      }
      const { data } = (await world.get('configmaps', name)) as { data: Readonly<Record<string, string>> };
      expect(data['chart']).toBe(data['hook']);
      await untilNoProcesses(world);
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await untilRuns(world, name, version);
      await daemon.kill();
    }
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    const left = await readdir(join(world.directory, 'store'), { recursive: true });
    expect(left.filter((path) => /(^|\/)\.(tmp|trash)-/.test(path))).toEqual([]);
  });
});
