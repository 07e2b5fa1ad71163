import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { lookAtFiles } from '../support/store/store-world.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

const SAYS = (module: string) => announcer(module, { onStartup: 1, afterDeleteHelm: 1 });

const script = (body: string) => `#!/bin/sh\n${body}\n`;

/** A global hook that writes the operation in the ConfigMap `switch` as its values patch. */
function switcher(world: World, variable = 'VALUES_JSON_PATCH_PATH'): string {
  return shHook(
    `
kubernetes:
- name: switch
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [switch]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  jqFilter: .data.operation
  keepFullObjectsInMemory: false`,
    `sed -E 's/.*"filterResult":"(.*)"[,}].*/\\1/; s/\\\\"/"/g' "$BINDING_CONTEXT_PATH" > "$${variable}"`,
  );
}

const add = (key: string, value: unknown) => JSON.stringify({ op: 'add', path: `/${key}Enabled`, value });

async function withSwitch(world: World, operation: string): Promise<void> {
  const data = { operation };
  if ((await world.get('configmaps', 'switch')) === undefined)
    await world.create('configmaps', { metadata: { name: 'switch' }, data } as never);
  else await world.merge('configmaps', 'switch', { data });
}

function decision(world: World, module: string) {
  return world.daemon.operator.registry.discovery?.decisions.get(module as never);
}

describeLifecycle((backend) => {
  test('a flag in the ConfigMap stops and starts its module, with onStartup and its settings', async () => {
    const config = { web: 'a: 1\n', webEnabled: 'true' };
    await using world = await World.create(backend(), {
      modules: { '001-web/hooks/hook.sh': SAYS('web') },
      config,
    });
    await world.converge();
    await world.putConfig({ ...config, webEnabled: 'false' });
    await world.log.untilPrinted('web afterDeleteHelm');
    await world.putConfig(config);
    await world.log.untilPrinted('web onStartup', 2);
    expect(world.daemon.built.configuration.values.values('web' as never)).toEqual({ a: 1 });
  });

  test('a module whose directory is removed at run time can still be deleted, and a new directory is taken up', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/hooks/hook.sh': announcer('web', { onStartup: 1 }),
      },
      config: {},
    });
    await world.converge();
    const { rm } = await import('node:fs/promises');
    await rm(`${world.directory}/modules/001-web`, { recursive: true });
    await world.write('modules', { '002-new/hooks/hook.sh': SAYS('new') });
    await world.putConfig({ newEnabled: 'true' });
    expect(await world.untilDelayed()).toBe(5_000);
    expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain('Module "web" is no chart');
    await world.putConfig({ newEnabled: 'true', webEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await world.get('configmaps', 'web')).toBeUndefined();
    expect(world.log.printed).toEqual(['web onStartup']);
    await lookAtFiles(world, async () =>
      expect(world.log.printed).toEqual(['web onStartup', 'new onStartup']),
    );
    expect(world.daemon.operator.registry.modules.map(({ name }) => name)).toEqual(['new']);
  });
});

describeApiIndependent((backend) => {
  test('several modules directories are read in order, and a missing one fails the start', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: false\nglobal: {a: 1, b: 1}\n',
        '001-one/hooks/hook.sh': SAYS('one'),
        '001-same/hooks/hook.sh': SAYS('first'),
        '../more/values.yaml': 'twoEnabled: true\nsameEnabled: true\nglobal: {b: 2}\n',
        '../more/002-two/hooks/hook.sh': SAYS('two'),
        '../more/005-same/hooks/hook.sh': SAYS('second'),
      },
    });
    const dirs = `${world.directory}/modules::${world.directory}/more`;
    await using both = await World.create(backend(), { directories: { modules: dirs } });
    await both.converge();
    expect(both.log.printed).toEqual(['one onStartup', 'first onStartup', 'two onStartup']);
    expect(both.daemon.built.configuration.values.values('global')).toEqual({ a: 1, b: 2 });
    await both.log.untilMessage('module is not registered, because it has a duplicate');
    await using missing = await World.create(backend(), {
      directories: { modules: `${dirs}:${world.directory}/none` },
    });
    await expect(missing.start()).rejects.toThrow(`path '${world.directory}/none' does not exist`);
  });

  test('without a ConfigMap config values are null', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'echo "config $(cat "$CONFIG_VALUES_PATH")"'),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['config {"global":null,"web":null}']);
  });

  test('a link to a directory is a module with the name of the link, a broken one is warned of', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'frontendEnabled: true\n',
        '002-frontend': { link: '../storage/x' },
        '../storage/x/hooks/hook.sh': SAYS('frontend'),
        '003-gone': { link: '../storage/none' },
        '.hidden-2/values.yaml': '[',
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['frontend onStartup']);
    await world.log.untilMessage('Symlink target does not exist. Ignoring module');
  });

  test('a module may have hooks only, or templates only, and nothing is written into its directory', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'hooksEnabled: true\nbareEnabled: true\n',
        '001-hooks/hooks/hook.sh': announcer('hooks', { beforeHelm: 1, afterHelm: 1 }),
        '002-bare/templates/config-map.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bare}\ndata: {chart: "{{ .Chart.Version }}"}\n',
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['hooks beforeHelm', 'hooks afterHelm']);
    expect((await world.helmCalls()).some((call) => call.includes('upgrade') && call.includes('hooks'))).toBe(
      false,
    );
    expect(await world.get('configmaps', 'bare')).toMatchObject({ data: { chart: '0.2.0' } });
    const { readdir } = await import('node:fs/promises');
    expect(await readdir(`${world.directory}/modules/002-bare`)).toEqual(['templates']);
  });

  test('the values.yaml of a module does not affect other modules', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        '001-one/values.yaml': 'one: {a: 1}\ntwo: {b: 1}\ntwoEnabled: false\nglobal: {c: 1}\n',
        '002-two/hooks/hook.sh': SAYS('two'),
      },
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['one', 'two']);
    expect(world.daemon.built.configuration.values.values('two' as never)).toEqual({});
    expect(world.daemon.built.configuration.values.values('global')).toEqual({});
  });

  test('in strict mode every module needs a values.yaml', async () => {
    await using world = await World.create(backend(), {
      modules: { 'values.yaml': '', '001-one/hooks/hook.sh': SAYS('one') },
      flags: { 'strict-check-values-mode-enabled': 'true' },
    });
    await expect(world.start()).rejects.toThrow(/001-one\/values\.yaml: .*strict mode is on/);
  });

  test('a script that is not executable is ignored, and the reason of one that returns false is logged', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
        '001-one/enabled': 'echo false > "$MODULE_ENABLED_RESULT"\n',
        '001-one/hooks/hook.sh': SAYS('one'),
        '002-two/enabled': script(
          'echo false > "$MODULE_ENABLED_RESULT"; echo " no disk " > "$MODULE_ENABLED_REASON"',
        ),
      },
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['one']);
    await world.log.untilMessage('Found non-executable enabled script for module - assuming enabled state');
    await world.log.until((records) =>
      records.some(
        (record) => record['msg'] === 'Enabled script run successful' && record['status'] === 'no disk',
      ),
    );
  });

  test('a script runs again when a hook changes global values, and may change its result', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled': script(
          'if grep -q \'"off":true\' "$VALUES_PATH"; then echo false; else echo true; fi > "$MODULE_ENABLED_RESULT"',
        ),
        '001-web/hooks/hook.sh': SAYS('web'),
      },
    });
    await world.write('global-hooks', { 'switch.sh': switcher(world) });
    await world.converge();
    await withSwitch(world, '{"op":"add","path":"/global/off","value":true}');
    await world.log.untilPrinted('web afterDeleteHelm');
    await withSwitch(world, '{"op":"remove","path":"/global/off"}');
    await world.log.untilPrinted('web onStartup', 2);
    expect(world.daemon.operator.registry.enabled).toEqual(['web']);
  });

  test('a flag of a global hook starts and deletes a module until it is withdrawn', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'dnsEnabled: true\n',
        'web/hooks/hook.sh': SAYS('web'),
        'dns/hooks/hook.sh': SAYS('dns'),
      },
    });
    await world.write('global-hooks', { 'switch.sh': switcher(world, 'CONFIG_VALUES_JSON_PATCH_PATH') });
    await world.converge();
    await withSwitch(world, add('web', 'true'));
    await world.log.untilPrinted('web onStartup');
    expect(decision(world, 'web')).toMatchObject({
      reason: 'webEnabled set by global hook switch.sh is true',
    });
    await withSwitch(world, add('web', false));
    await world.log.untilPrinted('web afterDeleteHelm');
    await withSwitch(world, add('dns', false));
    await world.log.untilPrinted('dns afterDeleteHelm');
    await withSwitch(world, '{"op":"remove","path":"/dnsEnabled"}');
    await world.log.untilPrinted('dns onStartup', 2);
    expect(decision(world, 'dns')).toMatchObject({ source: 'common-values', isEnabled: true });
    expect(await world.get('configmaps', 'addon-operator')).toBeUndefined();
  });

  test('the ConfigMap overrides a flag of a global hook, unless the extenders have another order', async () => {
    const options = {
      modules: { 'web/hooks/hook.sh': SAYS('web') },
      globalHooks: {
        'on.sh': shHook('onStartup: 1', `echo '${add('web', true)}' > "$VALUES_JSON_PATCH_PATH"`),
      },
      config: { webEnabled: 'false' },
    };
    await using usual = await World.create(backend(), options);
    await usual.converge();
    expect(decision(usual, 'web')).toMatchObject({ isEnabled: false, source: 'config-map' });
    await using turned = await World.create(backend(), {
      ...options,
      flags: { 'applied-module-extenders': 'Static,KubeConfig,DynamicallyEnabled' },
    });
    await turned.converge();
    expect(decision(turned, 'web')).toMatchObject({ isEnabled: true, source: 'global-hook' });
    await using wrong = await World.create(backend(), {
      ...options,
      flags: { 'applied-module-extenders': 'Static,Magic' },
    });
    await expect(wrong.start()).rejects.toThrow(
      "couldn't find Magic extender in the list of available extenders",
    );
  });

  test('flags of global hooks that change nothing restart no converge, so hooks may disagree about them', async () => {
    const set = (binding: string, isEnabled: boolean): string =>
      shHook(
        `${binding}: 1`,
        `echo '${add('web', isEnabled)}${add('nobody', isEnabled)}' > "$VALUES_JSON_PATCH_PATH"`,
      );
    await using world = await World.create(backend(), {
      modules: { 'web/hooks/hook.sh': SAYS('web') },
      globalHooks: { 'on.sh': set('beforeAll', true), 'off.sh': set('afterAll', false) },
      config: { webEnabled: 'true' },
    });
    await world.converge();
    await world.daemon.operator.router.main.untilEmpty();
    expect(world.log.printed).toEqual(['web onStartup']);
    expect(world.log.records.filter(({ msg }) => msg === 'ConvergeModules task done')).toHaveLength(1);
  });
});
