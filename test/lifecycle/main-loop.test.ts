import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';
import { makeGate, openGate } from '../support/world-processes.ts';

const TWO_MODULES = {
  'values.yaml': 'oneEnabled: true\ntwoEnabled: true\none: {color: red}\n',
  ...under('001-one', configMapChart('one', 'one')),
  '001-one/hooks/hook.sh': announcer('one', { onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
  ...under('002-two', configMapChart('two', 'two')),
  '002-two/hooks/hook.sh': announcer('two', { onStartup: 1, beforeHelm: 1, afterHelm: 1 }),
};

describeLifecycle((backend) => {
  test('a change in the cluster runs the hook with the event', async () => {
    await using world = await World.create(backend(), {});
    await world.write('global-hooks', {
      'watch.sh': shHook(
        `
kubernetes:
- name: settings
  apiVersion: v1
  kind: ConfigMap
  labelSelector: {matchLabels: {watched: "yes"}}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  keepFullObjectsInMemory: false
  jqFilter: .data.color`,
        `cat "$BINDING_CONTEXT_PATH"; echo`,
      ),
    });
    await world.converge();
    const context = (watchEvent: string, color: string) =>
      `[{"binding":"settings","type":"Event","watchEvent":"${watchEvent}","filterResult":"${color}"}]`;
    const metadata = { name: 'settings', labels: { watched: 'yes' } };
    await world.create('configmaps', { metadata, data: { color: 'red' } } as never);
    await world.log.untilPrinted(context('Added', 'red'));
    await world.merge('configmaps', 'settings', { data: { color: 'blue' } });
    await world.log.untilPrinted(context('Modified', 'blue'));
    await world.merge('configmaps', 'settings', { data: { other: 'is not in the filter result' } });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'settings') });
    await world.log.untilPrinted(context('Deleted', 'blue'));
    expect(world.log.printed).toHaveLength(3);
  });

  test('changed values of one module run that module only', async () => {
    await using world = await World.create(backend(), { modules: TWO_MODULES, config: {} });
    await world.converge();
    const before = world.log.printed.length;
    await world.putConfig({ one: 'color: blue\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(world.log.printed.slice(before)).toEqual(['one beforeHelm', 'one afterHelm']);
    expect(await world.get('configmaps', 'one')).toMatchObject({ data: { values: '{"color":"blue"}' } });
  });

  test('changed global values reload all modules', async () => {
    await using world = await World.create(backend(), {
      modules: TWO_MODULES,
      globalHooks: { 'g.sh': announcer('global', { beforeAll: 1, afterAll: 1 }) },
      config: {},
    });
    await world.converge();
    const before = world.log.printed.length;
    await world.putConfig({ global: 'size: big\n' });
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(world.log.printed.slice(before)).toEqual([
      'global beforeAll',
      'one beforeHelm',
      'one afterHelm',
      'two beforeHelm',
      'two afterHelm',
      'global afterAll',
    ]);
    expect(await world.get('configmaps', 'two')).toMatchObject({ data: { global: '{"size":"big"}' } });
  });

  test('a module hook that changes values runs its module, and its config values reach the ConfigMap', async () => {
    await using world = await World.create(backend(), { modules: TWO_MODULES });
    await world.write('modules', {
      '001-one/hooks/watch.sh': shHook(
        `
kubernetes:
- name: trigger
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false`,
        `
echo '[{"op":"add","path":"/one/fromHook","value":"memory"}]' > "$VALUES_JSON_PATCH_PATH"
echo '{"op":"add","path":"/one/saved","value":true}' > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo "patched"`,
      ),
    });
    await world.converge();
    const before = world.log.printed.length;
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(world.log.printed.slice(before)).toEqual(['patched', 'one beforeHelm', 'one afterHelm']);
    expect(await world.get('configmaps', 'one')).toMatchObject({
      data: { values: '{"color":"red","fromHook":"memory","saved":true}' },
    });
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({ data: { one: 'saved: true\n' } });
  });

  test('a global hook that changes values on an event causes a converge', async () => {
    await using world = await World.create(backend(), { modules: TWO_MODULES });
    await world.write('global-hooks', {
      'watch.sh': shHook(
        `
beforeAll: 1
kubernetes:
- name: trigger
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false`,
        `
if grep -q beforeAll "$BINDING_CONTEXT_PATH"; then echo beforeAll; exit 0; fi
echo '{"op":"add","path":"/global/found","value":1}' > "$VALUES_JSON_PATCH_PATH"`,
      ),
    });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(world.log.printed.filter((line) => line === 'beforeAll')).toHaveLength(2);
    expect(await world.get('configmaps', 'two')).toMatchObject({ data: { global: '{"found":1}' } });
  });
});

describeApiIndependent((backend) => {
  test('a tick of a crontab runs the hook, but not before the first converge is over', async () => {
    // In queues of their own, so that only the rule keeps them from running.
    const ticking = (name: string) =>
      shHook(`schedule: [{crontab: "* * * * * *", queue: ${name} ticks}]`, `echo "${name} tick"`);
    await using world = await World.create(backend(), {
      globalHooks: { 'tick.sh': ticking('global') },
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        '001-one/hooks/tick.sh': ticking('one'),
        '002-two/hooks/hold.sh': shHook('beforeHelm: 1', 'echo held; read -r go < "$WORLD/gate"; echo over'),
      },
    });
    await makeGate(world);
    await world.start();
    await world.log.untilPrinted('held');
    world.clock.jump(5_000);
    // The ticks that went by meanwhile are reported in the same turn in which the one that is due fires.
    await world.log.untilMessage('ticks missed');
    const { queues } = world.daemon.operator;
    expect(['global ticks', 'one ticks'].map((name) => queues.get(name).length)).toEqual([0, 0]);
    await openGate(world);
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual(['held', 'over']);
    world.clock.jump(1_000);
    await world.log.untilPrinted('global tick');
    await world.log.untilPrinted('one tick');
  });
});
