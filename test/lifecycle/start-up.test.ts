import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

/** Prints the types and objects of its contexts. */
const WATCHER = shHook(
  `
onStartup: 5
kubernetes:
- name: settings
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [settings]}
  namespace: {nameSelector: {matchNames: [NAMESPACE]}}
  jqFilter: .data.color`,
  `echo "watcher $(cat "$BINDING_CONTEXT_PATH")"`,
);

describeLifecycle((backend) => {
  test('global kubernetes hooks get what exists as Synchronization, after onStartup and before the first converge', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'z.sh': announcer('z', { onStartup: 9, beforeAll: 1 }) },
    });
    await world.create('configmaps', { metadata: { name: 'settings' }, data: { color: 'red' } } as never);
    await world.write('global-hooks', { 'w.sh': WATCHER.replace('NAMESPACE', world.namespace) });
    await world.converge();
    const printed = world.log.printed.map((line) =>
      line.replace(/"object":\{.*?"filterResult"/, '"filterResult"'),
    );
    expect(printed).toEqual([
      'watcher [{"binding":"onStartup"}]',
      'z onStartup',
      'watcher [{"binding":"settings","type":"Synchronization","objects":[{"filterResult":"red"}]}]',
      'z beforeAll',
    ]);
  });

  test('an operator without modules and without a ConfigMap becomes ready', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'g.sh': announcer('global', { onStartup: 1 }) },
    });
    await world.converge();
    const ready = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, 'Startup converge done.\n']);
  });
});

describeApiIndependent((backend) => {
  test('global onStartup hooks run first, in their order', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'a.sh': announcer('a', { onStartup: 10, beforeAll: 1 }),
        'b.sh': announcer('b', { onStartup: 5 }),
        'c.sh': announcer('c', { onStartup: 5 }),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['b onStartup', 'c onStartup', 'a onStartup', 'a beforeAll']);
  });

  test('hooks and modules are discovered in the directories that MODULES_DIR and GLOBAL_HOOKS_DIR name', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'global.sh': announcer('global', { onStartup: 1 }) },
      modules: {
        'values.yaml': 'firstEnabled: true\nsecondEnabled: true\n',
        '001-first/hooks/hook.sh': announcer('first', { onStartup: 1 }),
        '002-second': { link: '../elsewhere' },
        '../elsewhere/hooks/hook.sh': announcer('second', { onStartup: 1 }),
        'README.md': 'not a module\n',
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['global onStartup', 'first onStartup', 'second onStartup']);
    expect(world.daemon.operator.registry.modules.map(({ name }) => name)).toEqual(['first', 'second']);
  });

  test('beforeAll hooks, modules and afterAll hooks follow one another', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'g.sh': announcer('global', { beforeAll: 1, afterAll: 1 }) },
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        ...under('001-one', configMapChart('one', 'one')),
        '001-one/hooks/hook.sh': announcer('one', { onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
        '002-two/hooks/hook.sh': announcer('two', { onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual([
      'global beforeAll',
      'one onStartup',
      'one beforeHelm',
      'one afterHelm',
      'two onStartup',
      'two beforeHelm',
      'two afterHelm',
      'global afterAll',
    ]);
    expect(await world.get('configmaps', 'one')).toBeDefined();
  });
});
