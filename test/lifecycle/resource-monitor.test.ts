import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { untilTasks } from '../support/until-tasks.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

/** No monitor waits longer. */
const TICK_MS = 330_000;
const READY = 'ModuleRun success, module is ready';
const TWO = {
  'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
  ...under('002-db', configMapChart('db', 'db')),
};

/** Lines of the metrics page that begin so. */
async function series(world: World, start: string): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
  return (await response.text()).split('\n').filter((line) => line.startsWith(`addon_operator_${start}`));
}

async function statuses(world: World): Promise<readonly string[]> {
  const list = await world.expect({ path: `${world.path('secrets')}?labelSelector=owner%3Dhelm` });
  return (list as { items: { metadata: { labels: Record<string, string> } }[] }).items
    .map(({ metadata: { labels } }) => `${labels['name']} ${labels['version']} ${labels['status']}`)
    .toSorted();
}

/** Why a module was run. */
function triggersOf(world: World, module: string): readonly string[] {
  const started = new RegExp(`^ModuleRun task for module '${module}',.* trigger is (\\S+)$`);
  return world.log.records.flatMap(({ msg }) => started.exec(String(msg))?.[1] ?? []);
}

describeLifecycle((backend) => {
  test('deleted objects of two modules are restored after one tick, and those of other modules stay as they are', async () => {
    const third = under('003-dns', configMapChart('dns', 'dns'));
    await using world = await World.create(backend(), {
      modules: { ...TWO, ...third, 'values.yaml': `${TWO['values.yaml']}dnsEnabled: true\n` },
    });
    await world.converge();
    // A jump ends requests in progress.
    await untilTasks(world, 'main', 0);
    for (const name of ['web', 'db'])
      await world.expect({ method: 'DELETE', path: world.path('configmaps', name) });
    world.clock.jump(TICK_MS);
    await world.log.untilMessage(READY, 3 + 2);
    for (const name of ['web', 'db']) expect(await world.get('configmaps', name)).toBeDefined();
    const absent = (name: string): string =>
      `addon_operator_modules_absent_resources_total{module="${name}",resource="${world.namespace}/ConfigMap/${name}"} 1`;
    expect((await series(world, 'modules_absent_resources_total')).toSorted()).toEqual([
      absent('db'),
      absent('web'),
    ]);
    for (const name of ['web', 'db'])
      expect(triggersOf(world, name)).toEqual(['Operator-Startup', 'AbsentHelmResourcesDetected']);
    expect(triggersOf(world, 'dns')).toEqual(['Operator-Startup']);
    expect(await statuses(world)).toEqual([
      'db 1 superseded',
      'db 2 deployed',
      'dns 1 deployed',
      'web 1 superseded',
      'web 2 deployed',
    ]);
  });

  test('a release that is not in the state deployed is deployed again, which is counted', async () => {
    await using world = await World.create(backend(), { modules: TWO });
    await world.converge();
    await untilTasks(world, 'main', 0);
    const labels = { status: 'failed' };
    await world.merge('secrets', 'sh.helm.release.v1.web.v1', { metadata: { labels } });
    world.clock.jump(TICK_MS);
    await world.log.untilMessage(READY, 2 + 1);
    expect(await series(world, 'modules_helm_release_redeployed_total')).toEqual([
      'addon_operator_modules_helm_release_redeployed_total{module="web"} 1',
    ]);
    expect(await series(world, 'modules_absent_resources_total')).toEqual([]);
    expect(await statuses(world)).toEqual(['db 1 deployed', 'web 1 superseded', 'web 2 deployed']);
    expect(triggersOf(world, 'web')).toEqual(['Operator-Startup', 'HelmReleaseUnexpectedStatus']);
    expect(triggersOf(world, 'db')).toEqual(['Operator-Startup']);
  });
});
