import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

const CHECK_MS = 5_000;
const WAIT = { timeout: 60_000 };
const WAITS =
  'ConfigMap is missing but existed before: waiting for it; after the grace period it is treated as deleted';

async function configErrors(world: World): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
  const [, count = '0'] = /^addon_operator_config_values_errors_total (\d+)$/m.exec(page) ?? [];
  return Number(count);
}

/** The values the chart of `web` was last deployed with. */
async function deployedValues(world: World): Promise<unknown> {
  const object = (await world.get('configmaps', 'web')) as { data?: { values: string } } | undefined;
  return JSON.parse(object?.data?.values ?? 'null') as unknown;
}

const WEB = {
  'values.yaml': 'webEnabled: true\nweb: {a: 0}\n',
  ...under('001-web', configMapChart('web', 'web')),
};

/** A ConfigMap that is wrong, gone, or written by several at once; faults H1, H3 to H8 of the catalogue. */
describeLifecycle((backend) => {
  test('while the ConfigMap is invalid the last valid content stays in force and the error counter grows', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { web: 'a: 1\n' } });
    await world.converge();
    await world.putConfig({ web: 'a: [1\n', webEnabled: 'false' });
    await world.log.until((records) =>
      records.some(({ msg }) => String(msg).startsWith('KubeConfig become invalid')),
    );
    const before = await configErrors(world);
    for (const more of [1, 2]) {
      await world.clock.passSleep(CHECK_MS);
      expect(await configErrors(world)).toBeGreaterThanOrEqual(before + more);
    }
    world.daemon.operator.router.queueModuleRun('web' as never, 'test');
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployedValues(world)).toEqual({ a: 1 });
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });

  test('a ConfigMap that is corrected is applied without a restart', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { web: 'a: 1\n' } });
    await world.converge();
    await world.putConfig({ web: '"\n' });
    await world.log.until((records) =>
      records.some(({ msg }) => String(msg).startsWith('KubeConfig become invalid')),
    );
    await world.putConfig({ web: 'a: 2\n' });
    await world.log.untilMessage('KubeConfig become valid');
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployedValues(world)).toEqual({ a: 2 });
  });

  test('when the ConfigMap is deleted, values and flags fall back to the files', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, '002-side/hooks/hook.sh': announcer('side', { onStartup: 1, afterDeleteHelm: 1 }) },
      config: { web: 'a: 1\n', sideEnabled: 'true' },
    });
    await world.converge();
    expect(await deployedValues(world)).toEqual({ a: 1 });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'addon-operator') });
    await world.log.until((records) =>
      records.some(({ msg }) =>
        String(msg).startsWith('ConfigMap is missing: its last content stays in use'),
      ),
    );
    world.clock.jump(10_000);
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(await deployedValues(world)).toEqual({ a: 0 });
    expect(world.log.printed).toEqual(['side onStartup', 'side afterDeleteHelm']);
  });

  test('a ConfigMap that is deleted for a moment uninstalls nothing, and is explained', async () => {
    const config = { web: 'a: 1\n', sideEnabled: 'true' };
    await using world = await World.create(backend(), {
      modules: { ...WEB, '002-side/hooks/hook.sh': announcer('side', { onStartup: 1, afterDeleteHelm: 1 }) },
      config,
    });
    await world.converge();
    const before = await world.helmCalls();
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'addon-operator') });
    await world.log.until((records) =>
      records.some(({ msg }) =>
        String(msg).startsWith('ConfigMap is missing: its last content stays in use'),
      ),
    );
    expect(world.daemon.operator.converge.configProblem).toBe(
      'it is missing, and is treated as deleted after 10s',
    );
    await world.putConfig(config);
    await world.log.untilMessage('KubeConfig become valid');
    world.clock.jump(60_000);
    // What the change to another section brings comes after all that the deletion could have brought.
    await world.putConfig({ ...config, web: 'a: 2\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(await deployedValues(world)).toEqual({ a: 2 });
    expect(world.log.printed).toEqual(['side onStartup']);
    expect(
      (await world.helmCalls()).slice(before.length).filter((call) => call.startsWith('uninstall')),
    ).toEqual([]);
  });

  test('a ConfigMap that is absent at start is waited for, and counts as deleted only after the grace period', async () => {
    const config = { web: 'a: 1\n', sideEnabled: 'true' };
    await using world = await World.create(backend(), {
      modules: { ...WEB, '002-side/hooks/hook.sh': announcer('side', { onStartup: 1, afterDeleteHelm: 1 }) },
      config,
    });
    const uninstalls = async (): Promise<readonly string[]> =>
      (await world.helmCalls()).filter((call) => call.startsWith('uninstall'));
    const memory = async (): Promise<unknown> =>
      (await world.get('configmaps', 'addon-operator-modules'))?.['data'];
    const path = world.path('configmaps', 'addon-operator');
    await world.write('modules', under('002-side', configMapChart('side', 'side')));
    await world.converge();
    await vi.waitFor(async () => expect(await memory()).toMatchObject({ configMap: 'present' }), WAIT);
    await world.stop();

    await world.expect({ method: 'DELETE', path });
    const back = world.converge();
    await world.log.untilMessage(WAITS);
    await world.putConfig(config);
    await back;
    expect(await deployedValues(world)).toEqual({ a: 1 });
    expect(await uninstalls()).toEqual([]);
    await world.stop();

    await world.expect({ method: 'DELETE', path });
    const gone = world.converge();
    await world.log.untilMessage(WAITS, 2);
    await world.clock.passSleep(1_000);
    world.clock.jump(9_000);
    await gone;
    expect(await deployedValues(world)).toEqual({ a: 0 });
    expect(await uninstalls()).toMatchObject([expect.stringContaining('side')]);
    await vi.waitFor(async () => expect(await memory()).not.toHaveProperty('configMap'), WAIT);
    await world.stop();

    await world.converge();
    expect(world.log.records.filter(({ msg }) => msg === WAITS)).toHaveLength(2);
  });

  test('an edit of the ConfigMap while a hook saves into the same section loses nothing', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/save.sh': shHook(
          'beforeHelm: 1',
          `
[ -e "$WORLD/go" ] || echo "hook runs"
while [ ! -e "$WORLD/go" ]; do :; done
echo '{"op":"add","path":"/web/byHook","value":"hook"}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
      config: { web: 'a: 1\n' },
    });
    await world.start();
    await world.log.untilPrinted('hook runs');
    await world.putConfig({ web: 'a: 1\nbyPerson: edit\n', global: 'too: 1\n' });
    await world.write('modules', { '../go': '' });
    await world.daemon.firstConverge;
    await vi.waitFor(
      async () => expect(await deployedValues(world)).toEqual({ a: 1, byPerson: 'edit', byHook: 'hook' }),
      { timeout: 60_000 },
    );
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
      data: { web: 'a: 1\nbyHook: hook\nbyPerson: edit\n', global: 'too: 1\n' },
    });
  });
});

describeApiIndependent((backend) => {
  test.each([
    ['a bad section', { web: 'a: [1\n' }, ["bad yaml at key 'web'", "ConfigMap key 'web':"]],
    ['a bad global section', { global: '- 1\n' }, ["bad yaml at key 'global'", 'a list']],
    ['a key that belongs to no possible module', { kubeDNS: 'a: 1' }, ["'kubeDNS'", 'camelCased']],
    ['a flag that is none', { webEnabled: 'True' }, ["'webEnabled'", "'True'"]],
  ])(
    'an invalid ConfigMap fails the start, and the message names the key: %s',
    async (_case, config, texts) => {
      await using world = await World.create(backend(), { modules: WEB, config });
      const message = await world.start().then(
        () => 'started',
        (error: unknown) => String(error),
      );
      for (const text of texts) expect(message).toContain(text);
    },
  );

  test('a ConfigMap that is reverted to its previous content is valid again, and nothing runs', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { web: 'a: 1\n' } });
    await world.converge();
    const { length } = await world.helmCalls();
    await world.putConfig({ web: 'a: [1\n' });
    await world.log.until((records) =>
      records.some(({ msg }) => String(msg).startsWith('KubeConfig become invalid')),
    );
    await world.putConfig({ web: 'a: 1\n' });
    await world.log.untilMessage('KubeConfig become valid');
    const errors = await configErrors(world);
    await world.clock.passSleep(CHECK_MS);
    await world.clock.passSleep(CHECK_MS);
    expect(await configErrors(world)).toBe(errors);
    await world.daemon.operator.router.main.untilEmpty();
    expect(await world.helmCalls()).toHaveLength(length);
  });
});
