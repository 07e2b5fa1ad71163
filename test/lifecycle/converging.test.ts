import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

const RUNS = (module: string) => announcer(module, { onStartup: 1, beforeHelm: 1, afterDeleteHelm: 1 });

/** Stays in its binding as long as the file is there. */
function holding(file: string, hook: string): string {
  return hook.replace(/\necho /, `\nwhile [ -e "$WORLD/${file}" ]; do sleep 0.05; done\necho `);
}

/** A hook that runs for each change of the ConfigMap `trigger`. */
function onTrigger(world: World, body: string): string {
  return shHook(
    `
kubernetes:
- name: trigger
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  jqFilter: .data.n`,
    body,
  );
}

/** Writes the trigger's number into the values of the owner. */
const STORE = (pointer: string) => `
n=$(sed -E 's/.*"filterResult":"([0-9]+)".*/\\1/' "$BINDING_CONTEXT_PATH")
echo "stores $n"
echo "{\\"op\\":\\"add\\",\\"path\\":\\"${pointer}\\",\\"value\\":\\"$n\\"}" > "$VALUES_JSON_PATCH_PATH"`;

const set = (pointer: string, value: string) =>
  `echo '{"op":"add","path":"${pointer}","value":"${value}"}' > "$VALUES_JSON_PATCH_PATH"`;

/** For what no log record shows. */
async function eventually(isTrue: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(isTrue()).toBe(true), 60_000);
}

async function readiness(world: World): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/readyz`);
  await response.body?.cancel();
  return response.status;
}

function count(world: World, line: string): number {
  return world.log.printed.filter((other) => other === line).length;
}

describeLifecycle((backend) => {
  test('modules run by number, then by name, and are deleted in reverse', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'aEnabled: true\nbEnabled: true\ncEnabled: true\ndEnabled: true\n',
        '020-a/hooks/hook.sh': announcer('a', { beforeHelm: 1, afterDeleteHelm: 1 }),
        '010-b/hooks/hook.sh': announcer('b', { beforeHelm: 1, afterDeleteHelm: 1 }),
        '010-c/hooks/hook.sh': announcer('c', { beforeHelm: 1, afterDeleteHelm: 1 }),
        'd/hooks/hook.sh': announcer('d', { beforeHelm: 1, afterDeleteHelm: 1 }),
      },
      config: {},
    });
    await world.converge();
    const off = { aEnabled: 'false', bEnabled: 'false', cEnabled: 'false', dEnabled: 'false' };
    await world.putConfig(off);
    await world.log.untilPrinted('d afterDeleteHelm');
    const ran = (binding: string) =>
      world.log.printed.filter((line) => line.endsWith(binding)).map((line) => line.slice(0, 1));
    expect(ran('beforeHelm')).toEqual(['d', 'b', 'c', 'a']);
    expect(ran('afterDeleteHelm')).toEqual(['a', 'c', 'b', 'd']);
  });

  test('a module is deleted even if the converge restarts before its deletion', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        ...under('001-one', configMapChart('one', 'one')),
        '001-one/hooks/hook.sh': RUNS('one'),
        '002-two/hooks/hook.sh': holding('hold', announcer('two', { afterDeleteHelm: 1 })),
      },
      config: {},
    });
    await world.converge();
    await world.write('modules', { '../hold': '' });
    await world.putConfig({ oneEnabled: 'false', twoEnabled: 'false' });
    await eventually(() => world.daemon.operator.router.main.entries[0]?.task.type === 'ModuleDelete');
    await world.putConfig({ oneEnabled: 'false', twoEnabled: 'false', global: 'a: 1\n' });
    await eventually(() =>
      world.daemon.operator.router.main.entries.some(({ task }) => task.type === 'ApplyKubeConfigValues'),
    );
    await world.expel('hold');
    await world.log.untilPrinted('one afterDeleteHelm');
    expect(world.log.printed.slice(-2)).toEqual(['two afterDeleteHelm', 'one afterDeleteHelm']);
    expect(await world.get('configmaps', 'one')).toBeUndefined();
  });
});

describeApiIndependent((backend) => {
  test('a failing beforeAll hook blocks discovery and main, and no other queue', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled': '#!/bin/sh\necho "script runs"; echo true > "$MODULE_ENABLED_RESULT"\n',
        '001-web/hooks/hook.sh': RUNS('web'),
        '../broken': '',
      },
      globalHooks: { 'b.sh': shHook('beforeAll: 1', 'if [ -e "$WORLD/broken" ]; then exit 1; fi') },
    });
    await world.write('global-hooks', {
      'side.sh': onTrigger(world, 'echo "side runs"').replace('  jqFilter', '  queue: side\n  jqFilter'),
    });
    await world.start();
    await world.untilDelayed();
    await world.create('configmaps', { metadata: { name: 'trigger' }, data: { n: '1' } } as never);
    await world.log.untilPrinted('side runs');
    expect(world.log.printed).toEqual(['side runs']);
    expect(await readiness(world)).toBe(500);
    await world.expel('broken');
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual(['side runs', 'script runs', 'web onStartup', 'web beforeHelm']);
  });

  test('behind a failing module nothing starts, afterAll waits, and the daemon is not ready', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'aEnabled: true\nbEnabled: true\ncEnabled: true\n',
        '001-a/hooks/hook.sh': RUNS('a'),
        '002-b/hooks/hook.sh': shHook('beforeHelm: 1', 'if [ -e "$WORLD/broken" ]; then exit 1; fi'),
        '003-c/hooks/hook.sh': RUNS('c'),
        '../broken': '',
      },
      globalHooks: { 'g.sh': announcer('global', { afterAll: 1 }) },
    });
    await world.start();
    await world.untilDelayed();
    expect(world.log.printed).toEqual(['a onStartup', 'a beforeHelm']);
    expect(await readiness(world)).toBe(500);
    await world.expel('broken');
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(world.log.printed.slice(2)).toEqual(['c onStartup', 'c beforeHelm', 'global afterAll']);
    expect(await readiness(world)).toBe(200);
  });

  test('afterAll hooks that do not change global values cause no converge, and a change causes one more', async () => {
    const restoring = {
      '1.sh': shHook('afterAll: 1', `echo "A"\n${set('/global/x', 'changed')}`),
      '2.sh': shHook('afterAll: 2', `echo "B"\n${set('/global/x', 'first')}`),
      '0.sh': shHook('onStartup: 1', set('/global/x', 'first')),
    };
    await using restored = await World.create(backend(), { globalHooks: restoring });
    await restored.converge();
    await restored.daemon.operator.router.main.untilEmpty();
    expect(restored.daemon.operator.router.main.entries.map(({ task }) => task.type)).not.toContain(
      'ConvergeModules',
    );
    expect(count(restored, 'A')).toBe(1);
    await using changing = await World.create(backend(), {
      globalHooks: { '1.sh': restoring['1.sh'], '2.sh': shHook('afterAll: 2', 'echo "B"') },
    });
    await changing.start();
    await changing.log.untilMessage('ConvergeModules task done', 2);
    await changing.daemon.operator.router.main.untilEmpty();
    expect(changing.log.printed).toEqual(['A', 'B', 'A', 'B']);
  });

  test('a hook that changes global values during a converge does not interrupt it, and several such changes cause one converge', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/hook.sh': holding('hold', announcer('web', { beforeHelm: 1 })),
        '../hold': '',
      },
      globalHooks: { 'all.sh': announcer('global', { beforeAll: 1, afterAll: 1 }) },
    });
    await world.write('global-hooks', {
      'store.sh': onTrigger(world, STORE('/global/n')).replace('  jqFilter', '  queue: side\n  jqFilter'),
    });
    await world.start();
    await world.log.untilPrinted('global beforeAll');
    await world.create('configmaps', { metadata: { name: 'trigger' }, data: { n: '1' } } as never);
    await world.log.untilPrinted('stores 1');
    await world.merge('configmaps', 'trigger', { data: { n: '2' } });
    await world.log.untilPrinted('stores 2');
    await eventually(
      () =>
        world.daemon.operator.router.main.entries.filter(({ task }) => task.type === 'ConvergeModules')
          .length === 3,
    );
    await world.expel('hold');
    await world.log.untilPrinted('global afterAll', 2);
    await world.daemon.operator.router.main.untilEmpty();
    const once = ['global beforeAll', 'web beforeHelm', 'global afterAll'];
    expect(world.log.printed.filter((line) => !line.startsWith('stores'))).toEqual([...once, ...once]);
  });

  test('a global change in the ConfigMap during a converge restarts it from beforeAll', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        '001-one/hooks/hook.sh': holding('hold', announcer('one', { beforeHelm: 1 })),
        '002-two/hooks/hook.sh': announcer('two', { beforeHelm: 1 }),
        '../hold': '',
      },
      globalHooks: { 'all.sh': announcer('global', { beforeAll: 1, afterAll: 1 }) },
      config: {},
    });
    await world.start();
    await eventually(() => world.daemon.operator.registry.tracked.has('one' as never));
    await world.putConfig({ global: 'a: 1\n' });
    await eventually(() =>
      world.daemon.operator.router.main.entries.some(({ task }) => task.type === 'ApplyKubeConfigValues'),
    );
    await world.expel('hold');
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual([
      'global beforeAll',
      'one beforeHelm',
      'global beforeAll',
      'one beforeHelm',
      'two beforeHelm',
      'global afterAll',
    ]);
  });

  test('changes of values while a run waits cause no other run, and while it runs one more', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\nblockEnabled: true\n',
        '001-block/hooks/hook.sh': holding('hold-block', announcer('block', { beforeHelm: 1 })),
        '002-web/hooks/hook.sh': holding('hold-web', announcer('web', { beforeHelm: 1 })),
      },
      config: {},
    });
    await world.write('modules', {
      '002-web/hooks/store.sh': onTrigger(world, STORE('/web/n')).replace(
        '  jqFilter',
        '  queue: side\n  jqFilter',
      ),
    });
    await world.converge();
    await world.write('modules', { '../hold-block': '', '../hold-web': '' });
    await world.putConfig({ block: 'a: 1\n' });
    await eventually(() => world.daemon.operator.router.main.entries[0]?.task.type === 'ModuleRun');
    await world.create('configmaps', { metadata: { name: 'trigger' }, data: { n: '1' } } as never);
    await world.log.untilPrinted('stores 1');
    await world.merge('configmaps', 'trigger', { data: { n: '2' } });
    await world.log.untilMessage('module values are changed, ModuleRun task already queued');
    await world.expel('hold-block');
    await world.log.untilPrinted('block beforeHelm', 2);
    await eventually(() => world.daemon.operator.router.main.entries.length === 1);
    await world.merge('configmaps', 'trigger', { data: { n: '3' } });
    await eventually(() => world.daemon.operator.router.main.entries.length === 2);
    await world.expel('hold-web');
    await world.log.untilPrinted('web beforeHelm', 3);
    await world.daemon.operator.router.main.untilEmpty();
    expect(count(world, 'web beforeHelm')).toBe(3);
  });

  test('helm uses what a beforeHelm hook sets, without another run', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/hooks/hook.sh': shHook(
          'beforeHelm: 1',
          `echo "web beforeHelm"\n${set('/web/color', 'red')}`,
        ),
      },
    });
    await world.converge();
    await world.daemon.operator.router.main.untilEmpty();
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { values: '{"color":"red"}' } });
    expect(count(world, 'web beforeHelm')).toBe(1);
  });
});
