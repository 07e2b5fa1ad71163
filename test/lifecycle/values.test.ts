import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const ENABLED = { 'values.yaml': 'webEnabled: true\n' };
const CHART: FileTree = { ...ENABLED, ...under('001-web', configMapChart('web', 'web')) };

/** Writes the files `values` and `config` of the world, where they exist, as the hook's patches. */
function patchHook(config: string): string {
  return shHook(
    config,
    `
[ ! -e "$WORLD/values" ] || cat "$WORLD/values" > "$VALUES_JSON_PATCH_PATH"
[ ! -e "$WORLD/config" ] || cat "$WORLD/config" > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo "patched"`,
  );
}

const PATCHED_WEB: FileTree = { ...CHART, '001-web/hooks/patch.sh': patchHook('beforeHelm: 1') };

/** A binding for changes of ConfigMap/poke. */
function poked(namespace: string): string {
  return `
kubernetes:
- name: poke
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [poke]}
  namespace: {nameSelector: {matchNames: [${namespace}]}}
  executeHookOnSynchronization: false`;
}

/** What the chart of `web` was last deployed with. */
async function deployed(world: World, section: 'values' | 'global' = 'values'): Promise<unknown> {
  const object = (await world.get('configmaps', 'web')) as { data?: Record<string, string> } | undefined;
  return JSON.parse(object?.data?.[section] ?? 'null') as unknown;
}

const add = (path: string, value: unknown): string => JSON.stringify({ op: 'add', path, value });
const runsOfWeb = (world: World): number =>
  world.log.records.filter(({ msg }) => msg === 'ModuleRun success, module is ready').length;
const lastError = (world: World): string => world.daemon.operator.router.main.entries[0]?.lastError ?? '';

async function runWeb(world: World): Promise<void> {
  const runs = runsOfWeb(world);
  world.daemon.operator.router.queueModuleRun('web' as never, 'test');
  await world.log.untilMessage('ModuleRun success, module is ready', runs + 1);
}

/** What layers of values there are, and how hooks change them. */
describeLifecycle((backend) => {
  test('a patch that changes nothing runs no module and writes no ConfigMap', async () => {
    await using world = await World.create(backend(), { modules: CHART, config: { web: 'a: 1\n' } });
    await world.write('modules', {
      '001-web/hooks/patch.sh': patchHook(poked(world.namespace)),
      '../values': add('/web/a', 1),
      '../config': add('/web/a', 1),
    });
    await world.converge();
    const before = await world.get('configmaps', 'addon-operator');
    const checksum = world.daemon.built.configuration.values.checksum('web' as never);
    await world.create('configmaps', { metadata: { name: 'poke' } });
    await world.log.untilPrinted('patched');
    await world.daemon.operator.router.main.untilEmpty();
    expect(world.daemon.built.configuration.values.checksum('web' as never)).toBe(checksum);
    expect(await world.get('configmaps', 'addon-operator')).toEqual(before);
    expect(runsOfWeb(world)).toBe(1);
  });

  test('values of 5 MB go through hooks and helm', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...PATCHED_WEB,
        '001-web/templates/config-map.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {values: {{ len .Values.web.big | quote }}}
`,
      },
    });
    await world.write('modules', { '../values': add('/web/big', 'x'.repeat(5_000_000)) });
    await world.converge();
    expect(await deployed(world)).toBe(5_000_000);
    await runWeb(world);
  });
});

describeApiIndependent((backend) => {
  test('lists and scalars are replaced, maps merged, and nulls stay, in lists too', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...CHART,
        'values.yaml':
          'webEnabled: true\nglobal: {a: 1}\nweb: {list: [1, 2], map: {a: 1, b: 2}, text: common}\n',
        '001-web/values.yaml': 'web: {text: own}\n',
      },
      config: {
        global: 'a: null\nb: yes\n',
        web: 'list: [3, null, {n: null}]\nmap: {b: {c: null}}\nword: yes\n',
      },
    });
    await world.converge();
    expect(await deployed(world)).toEqual({
      list: [3, null, { n: null }],
      map: { a: 1, b: { c: null } },
      text: 'own',
      word: 'yes',
    });
    expect(await deployed(world, 'global')).toEqual({ a: null, b: true });
  });

  test('module hooks get all enabled modules and config values, and helm gets neither', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...CHART,
        'values.yaml': 'webEnabled: true\nzetEnabled: true\nglobal: {a: 1}\nweb: {s: 1}\n',
        '002-zet/hooks/see.sh': shHook('onStartup: 1', 'true'),
        '001-web/hooks/see.sh': shHook(
          'beforeHelm: 1',
          'echo "values $(cat "$VALUES_PATH")"; echo "config $(cat "$CONFIG_VALUES_PATH")"',
        ),
      },
      globalHooks: {
        'see.sh': shHook('beforeAll: 1', 'echo "global $(cat "$VALUES_PATH") $(cat "$CONFIG_VALUES_PATH")"'),
      },
      config: { web: 'c: 1\n' },
    });
    await world.converge();
    expect(world.log.printed).toEqual([
      'global {"global":{"a":1}} {"global":null}',
      'values {"global":{"a":1,"enabledModules":["web","zet"]},"web":{"c":1,"s":1}}',
      'config {"global":null,"web":{"c":1}}',
    ]);
    expect(await deployed(world, 'global')).toEqual({ a: 1 });
    expect(await deployed(world)).toEqual({ c: 1, s: 1 });
  });

  test('a patch that is not allowed fails the hook, and nothing of it is kept', async () => {
    await using world = await World.create(backend(), { modules: PATCHED_WEB, config: { web: 'a: 1\n' } });
    await world.converge();
    const cases = [
      ['{"op":"replace","path":"/web/a","value":2}', "unsupported patch operation 'replace'"],
      [add('/global/x', 1), "only 'web' accepted"],
      [add('/webEnabled', true), "only 'web' accepted"],
      [add('/web/b', 1) + add('/web/missing/c', 1), 'doc is missing path: "/web/missing/c": missing value'],
      ['{"op":"remove","path":"/web/missing"}', 'doc is missing path: "/web/missing"'],
      ['{"op":"test","path":"/web/a","value":2}', 'testing value /web/a failed: test failed'],
      [`${add('/web/b', 1)} garbage`, 'bad json patch for values'],
      ['{"op":"remove","path":"/web"}', '/web must stay a map'],
    ] as const;
    for (const [patch, reason] of cases) {
      await world.write('modules', { '../values': patch });
      const runs = runsOfWeb(world);
      world.daemon.operator.router.queueModuleRun('web' as never, 'test');
      await world.untilDelayed();
      expect(lastError(world)).toContain(reason);
      await world.expel('values');
      await world.passDelay();
      await world.log.untilMessage('ModuleRun success, module is ready', runs + 1);
      expect(await deployed(world)).toEqual({ a: 1 });
    }
  });

  test('a global hook must not patch the values of a module', async () => {
    await using world = await World.create(backend(), {
      modules: CHART,
      globalHooks: { 'patch.sh': patchHook('beforeAll: 1') },
    });
    await world.write('modules', { '../values': add('/web/x', 1) });
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toContain("only 'global' and '*Enabled' are permitted");
  });

  test('a stream of operations and arrays is applied in order, and add replaces what is there', async () => {
    await using world = await World.create(backend(), { modules: PATCHED_WEB });
    await world.write('modules', {
      '../values': `${add('/web/a', 1)}\n[${add('/web/obj', {})}, ${add('/web/obj/k', 1)}]\n${add('/web/a', 2)}`,
    });
    await world.converge();
    expect(await deployed(world)).toEqual({ a: 2, obj: { k: 1 } });
  });

  test('a stored patch overrides later changes of the ConfigMap, one below a replaced path is dropped, and a stored removal ignores missing paths', async () => {
    await using world = await World.create(backend(), {
      modules: PATCHED_WEB,
      config: { web: 'a: person\ngone: 1\n' },
    });
    await world.write('modules', {
      '../values': `${add('/web/a', 'hook')}${add('/web/obj', {})}${add('/web/obj/k', 1)}{"op":"remove","path":"/web/gone"}`,
    });
    await world.converge();
    expect(await deployed(world)).toEqual({ a: 'hook', obj: { k: 1 } });
    await world.write('modules', { '../values': add('/web/obj', {}) });
    const runs = runsOfWeb(world);
    await world.putConfig({ web: 'a: later\nb: 1\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', runs + 1);
    expect(await deployed(world)).toEqual({ a: 'hook', b: 1, obj: {} });
    const patches = world.daemon.built.configuration.values.patchesDump('web' as never);
    expect(JSON.stringify(patches)).not.toContain('/web/obj/k');
  });

  test('a global hook may patch values and flags in one file', async () => {
    await using world = await World.create(backend(), {
      modules: { ...CHART, 'values.yaml': '' },
      globalHooks: { 'patch.sh': patchHook('onStartup: 1') },
    });
    await world.write('modules', { '../values': `[${add('/global/q', 1)}, ${add('/webEnabled', true)}]` });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['web']);
    expect(await deployed(world, 'global')).toEqual({ q: 1 });
  });

  test('value patches in memory end with the module, and its section of the ConfigMap applies again', async () => {
    await using world = await World.create(backend(), {
      modules: { ...CHART, 'values.yaml': '', '001-web/hooks/patch.sh': patchHook('onStartup: 1') },
      config: { webEnabled: 'true', web: 'a: 1\n' },
    });
    await world.write('modules', { '../values': add('/web/memory', true) });
    await world.converge();
    expect(await deployed(world)).toEqual({ a: 1, memory: true });
    await world.expel('values');
    await world.putConfig({ webEnabled: 'false', web: 'a: 1\n' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    await world.putConfig({ webEnabled: 'true', web: 'a: 1\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployed(world)).toEqual({ a: 1 });
  });

  test('a values.yaml of 50 MB is refused by name', async () => {
    await using world = await World.create(backend(), {
      modules: { ...CHART, '001-web/values.yaml': `web:\n${'  a: xxxxxxxxxxxxxxxx\n'.repeat(2_400_000)}` },
    });
    await expect(world.start()).rejects.toThrow(/001-web\/values\.yaml:1: too large: \d+ characters/);
  });
});
