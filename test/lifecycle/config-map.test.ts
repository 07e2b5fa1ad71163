import { dumpYaml } from '@addon-operator/yaml';
import { expect, test, vi } from 'vitest';
import { parseSection } from '../../src/values/config-map-content.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WEB: FileTree = {
  'values.yaml': 'webEnabled: true\nglobal: {g: file}\nweb: {a: file}\n',
  ...under('001-web', configMapChart('web', 'web')),
};

async function deployed(world: World, section: 'values' | 'global' = 'values'): Promise<unknown> {
  const object = (await world.get('configmaps', 'web')) as { data?: Record<string, string> } | undefined;
  return JSON.parse(object?.data?.[section] ?? 'null') as unknown;
}

const count = (world: World, message: string): number =>
  world.log.records.filter(({ msg }) => msg === message).length;
const runs = (world: World): number => count(world, 'ModuleRun success, module is ready');
const converges = (world: World): number => count(world, 'ConvergeModules task done');

/** Makes a change that only gives a warning, and waits for it: what was written before has been seen by then. */
async function fence(world: World): Promise<void> {
  const warning = 'KubeConfigManager has values for unknown modules';
  const before = count(world, warning);
  await world.merge('configmaps', 'addon-operator', { data: { nobody: `n: ${before}\n` } });
  await world.log.untilMessage(warning, before + 1);
  await world.daemon.operator.router.main.untilEmpty();
}

/** Adds a key to the section `web` as a careful person does: under the version that was read. */
async function addAsPerson(world: World, key: string): Promise<void> {
  for (;;) {
    const object = (await world.get('configmaps', 'addon-operator')) as { data?: Record<string, string> };
    const section = parseSection('web' as never, object.data?.['web'] ?? '{}');
    const data = { ...object.data, web: dumpYaml({ ...section, [key]: 1 }, 2) };
    const path = world.path('configmaps', 'addon-operator');
    const { status } = await world.backend.request({ method: 'PUT', path, body: { ...object, data } });
    if (status === 200) return;
    if (status !== 409) throw new Error(`the ConfigMap cannot be written: ${status}`);
  }
}

/** The ConfigMap: what changes in it do, and what the daemon writes. */
const WAIT = { timeout: 60_000, interval: 100 };

describeLifecycle((backend) => {
  test('a hook that saves without a ConfigMap creates one with only its key, and its write runs nothing', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/save.sh': shHook(
          'beforeHelm: 1',
          `echo '{"op":"add","path":"/web/byHook","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
      globalHooks: {
        'save.sh': shHook(
          'afterAll: 1',
          `[ -e "$WORLD/quiet" ] || echo '{"op":"add","path":"/global/byHook","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await world.write('modules', { '../quiet': '' });
    await world.converge();
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({ data: { web: 'byHook: 1\n' } });
    expect(Object.keys(((await world.get('configmaps', 'addon-operator')) as { data: object }).data)).toEqual(
      ['web'],
    );
    await fence(world);
    expect([runs(world), converges(world)]).toEqual([1, 1]);
    await world.merge('configmaps', 'addon-operator', { data: { web: 'byHook: 1\nbyPerson: 1\n' } });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployed(world)).toEqual({ a: 'file', byHook: 1, byPerson: 1 });
  });

  test('comments, formatting, order of keys, labels and annotations change nothing', async () => {
    await using world = await World.create(backend(), {
      modules: WEB,
      config: { web: 'a: 1\nb: {c: 2}\n', global: 'g: 1\n' },
    });
    await world.converge();
    await world.merge('configmaps', 'addon-operator', {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      data: { web: '# why\nb:\n    c: 0x2\na: 1.0\n', global: '{"g": 1}\n' },
    });
    await fence(world);
    expect([runs(world), converges(world)]).toEqual([1, 1]);
  });

  test('concurrent writes of two clients and the daemon to one section lose nothing', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/save.sh': shHook(
          'beforeHelm: 1',
          `
n=$(cat "$WORLD/n" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$WORLD/n"
echo "{\\"op\\":\\"add\\",\\"path\\":\\"/web/daemon$n\\",\\"value\\":1}" > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
      config: { web: '{}\n' },
    });
    await world.converge();
    const person = async (name: string): Promise<void> => {
      for (let n = 1; n <= 5; n += 1) await addAsPerson(world, `${name}${n}`);
    };
    await Promise.all([person('anna'), person('bob')]);
    await fence(world);
    const object = (await world.get('configmaps', 'addon-operator')) as { data: { web: string } };
    const section = parseSection('web' as never, object.data.web);
    for (const name of ['anna', 'bob'])
      for (let n = 1; n <= 5; n += 1) expect(section).toHaveProperty(`${name}${n}`);
    expect(section).toHaveProperty('daemon1');
    expect(Object.keys(section).filter((key) => key.startsWith('daemon'))).toHaveLength(runs(world));
    await vi.waitFor(async () => expect(await deployed(world)).toEqual({ a: 'file', ...section }), WAIT);
  });

  test('a ConfigMap that is nearly full causes a warning, and a hook that would fill it fails without writing', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/save.sh': shHook(
          'beforeHelm: 1',
          `
[ -e "$WORLD/small" ] && exit 0
printf '{"op":"add","path":"/web/big","value":"' > "$CONFIG_VALUES_JSON_PATCH_PATH"
head -c 300000 /dev/zero | tr '\\0' x >> "$CONFIG_VALUES_JSON_PATCH_PATH"
printf '"}' >> "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
      config: { global: `big: ${'x'.repeat(900_000)}\n` },
    });
    await world.start();
    await world.untilDelayed();
    expect(world.log.records.some(({ msg }) => String(msg).startsWith('the ConfigMap is nearly full'))).toBe(
      true,
    );
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
      'more than the 1048576 a ConfigMap can hold',
    );
    await world.write('modules', { '../small': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await world.get('configmaps', 'addon-operator')).not.toHaveProperty('data.web');
  });
});

describeApiIndependent((backend) => {
  test('a removed section falls back to the files and runs its module once', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { web: 'a: person\n' } });
    await world.converge();
    expect(await deployed(world)).toEqual({ a: 'person' });
    await world.putConfig({});
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployed(world)).toEqual({ a: 'file' });
    await fence(world);
    expect([runs(world), converges(world)]).toEqual([2, 1]);
  });

  test('a removed global section falls back to the files and reloads all modules', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { global: 'g: person\n' } });
    await world.converge();
    expect(await deployed(world, 'global')).toEqual({ g: 'person' });
    await world.putConfig({});
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(await deployed(world, 'global')).toEqual({ g: 'file' });
  });

  test('a changed section of a disabled module runs nothing, and is used when the module is enabled', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { webEnabled: 'false' } });
    await world.converge();
    await world.putConfig({ webEnabled: 'false', web: 'a: person\n' });
    await fence(world);
    expect([runs(world), converges(world)]).toEqual([0, 1]);
    await world.merge('configmaps', 'addon-operator', { data: { webEnabled: 'true' } });
    await world.log.untilMessage('ModuleRun success, module is ready');
    expect(await deployed(world)).toEqual({ a: 'person' });
  });

  test('every form of key is recognized: sections, flags, maintenance, and keys of unknown modules', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, '002-side-car/hooks/hook.sh': announcer('side', { onStartup: 1 }) },
      config: {
        global: '',
        web: '{}',
        webEnabled: 'true',
        webMaintenance: '',
        sideCarEnabled: 'true',
        nobody: 'a: 1\n',
        nobodyEnabled: 'false',
      },
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['web', 'side-car']);
    expect(count(world, 'KubeConfigManager has values for unknown modules')).toBeGreaterThan(0);
    expect(await deployed(world)).toEqual({ a: 'file' });
  });
});
