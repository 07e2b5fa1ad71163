import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { changingChart } from '../support/failing-upgrade.ts';
import type { FaultMatch } from '../support/fault-rule.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { type Backend, World } from '../support/world.ts';
import { under } from '../support/world-files.ts';
import { untilNoProcesses } from '../support/world-processes.ts';
import { killAt } from './killed-daemon.ts';

const WAIT = { timeout: 60_000, interval: 100 };

describeCluster('after kill -9 of the daemon in the deletion of a module whose upgrade failed', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-C3
  test.each<[string, FaultMatch, { readonly isOldThere: boolean }]>([
    [
      'before an object of the deployed revision is deleted',
      { verb: 'delete', path: /configmaps\/web-old$/ },
      { isOldThere: true },
    ],
    [
      'between that and the uninstall',
      { verb: 'patch', path: /secrets\/sh\.helm\.release/ },
      { isOldThere: false },
    ],
  ])('%s: a restart finishes it, and nothing is left', async (_case, match, { isOldThere }) => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', changingChart('web', 'web')) },
      config: {},
    });
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await world.putConfig({ web: 'isBroken: true' });
      await vi.waitFor(async () => expect((await releaseStatuses(world, 'web')).at(-1)).toBe('failed'), WAIT);
      await daemon.kill();
    }
    await untilNoProcesses(world);
    await world.putConfig({ web: 'isBroken: true', webEnabled: 'false' });
    await killAt(match, world, cluster());
    await untilNoProcesses(world);
    expect((await world.get('configmaps', 'web-old')) !== undefined).toBe(isOldThere);
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('failed');
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    expect(await releaseStatuses(world, 'web')).toEqual([]);
    expect(await world.get('configmaps', 'web')).toBeUndefined();
    expect(await world.get('configmaps', 'web-old')).toBeUndefined();
  });
});
