import { expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { under } from '../support/world-files.ts';
import { processesOf } from '../support/world-processes.ts';

describeCluster('an abort of a module', (cluster) => {
  test('ends a helm that waits, leaves no process, and the next change deploys', async () => {
    const modules = { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) };
    await using world = await World.create(await controlPlaneBackend(cluster()), {
      modules,
      config: { web: 'hangs: true\n' },
    });
    await world.start();
    await untilHanging(world, 'web');
    expect(await runInWorld(world, 'module', 'abort', 'web')).toMatchObject({ exitCode: 0 });
    await world.daemon.firstConverge;
    const { stdout } = await runInWorld(world, 'explain', 'module', 'web');
    expect(stdout).toMatch(/^status +failing$/m);
    expect(stdout).toMatch(/^last error +The run of module "web" was aborted on request$/m);
    await vi.waitFor(async () => {
      expect((await processesOf(world)).filter((line) => line.includes('upgrade'))).toEqual([]);
    }, 60_000);
    await world.putConfig({ web: 'hangs: false\n' });
    await world.log.untilMessage('ModuleRun success, module is ready');
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
  });
});
