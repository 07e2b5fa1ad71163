import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';
import { announcer, configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const SAYS = (module: string) => announcer(module, { onStartup: 1, afterDeleteHelm: 1 });

function enabledScript(body: string): string {
  return `#!/bin/sh\n${body.trim()}\n`;
}

/** The enablement example of the lifecycle page, with node in place of jq. */
const STOP_ON_PARAMETER = `#!/usr/bin/env node
const fs = require('node:fs');
const values = JSON.parse(fs.readFileSync(process.env.VALUES_PATH, 'utf8'));
if (values.simpleModule.param2 === 'stopMePlease') {
  fs.writeFileSync(process.env.MODULE_ENABLED_RESULT, 'false\\n');
  fs.writeFileSync(process.env.MODULE_ENABLED_REASON, 'Module disabled: param2 == stopMePlease\\n');
} else {
  fs.writeFileSync(process.env.MODULE_ENABLED_RESULT, 'true\\n');
}
`;

async function enabledModules(backend: Backend, modules: FileTree, config?: Record<string, string>) {
  await using world = await World.create(backend, { modules, ...(config === undefined ? {} : { config }) });
  await world.converge();
  const decisions = world.daemon.operator.registry.discovery?.decisions ?? new Map();
  return {
    enabled: world.daemon.operator.registry.enabled,
    reasons: Object.fromEntries(
      [...decisions].map(([name, { source, reason }]) => [name, { source, reason }]),
    ),
  };
}

describeLifecycle((backend) => {
  test('a module that is disabled at start loses the release it still has', async () => {
    const modules = {
      'values.yaml': 'webEnabled: true\n',
      ...under('001-web', configMapChart('web', 'web')),
      '001-web/hooks/hook.sh': SAYS('web'),
    };
    await using world = await World.create(backend(), { modules });
    await world.converge();
    await world.stop();
    await world.write('modules', { 'values.yaml': 'webEnabled: false\n' });
    await world.converge();
    expect(world.log.printed).toEqual(['web onStartup', 'web afterDeleteHelm']);
    expect(await world.get('configmaps', 'web')).toBeUndefined();
  });
});

describeApiIndependent((backend) => {
  test('modules are disabled by default', async () => {
    const { enabled } = await enabledModules(backend(), { '001-web/hooks/hook.sh': SAYS('web') });
    expect(enabled).toEqual([]);
  });

  test('every enabled script runs once when the daemon starts', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `mod${index}`);
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
        ...Object.assign(
          {},
          ...names.map((name) =>
            under(`001-${name}`, {
              enabled: enabledScript(`echo ${name} >> "$WORLD/asked"; echo true > "$MODULE_ENABLED_RESULT"`),
            }),
          ),
        ),
      },
      config: { mod0: 'a: 1' },
    });
    await world.converge();
    expect((await readFile(join(world.directory, 'asked'), 'utf8')).trim().split('\n')).toEqual(names);
  });

  test('worked example 1: the flag in the module file beats the one in the common file', async () => {
    const { enabled, reasons } = await enabledModules(backend(), {
      'values.yaml': 'nginxIngressEnabled: true\n',
      '001-nginx-ingress/values.yaml': 'nginxIngressEnabled: false\n',
    });
    expect(enabled).toEqual([]);
    expect(reasons['nginx-ingress']).toMatchObject({ source: 'module-values' });
  });

  test('worked example 2: the ConfigMap enables what the common file disables, and the script decides last', async () => {
    const modules = {
      'values.yaml': 'global:\n  param1: 100\nsomeModuleEnabled: false\n',
      '001-some-module/values.yaml': 'someModule:\n  param1: "String"\n',
      '001-some-module/enabled': enabledScript('echo false > $MODULE_ENABLED_RESULT'),
    };
    const config = {
      global: 'param1: 200\n',
      someModule: 'param1: "Long string"\nparam2: "FOO"\n',
      someModuleEnabled: 'true',
    };
    const withScript = await enabledModules(backend(), modules, config);
    expect(withScript.enabled).toEqual([]);
    expect(withScript.reasons['some-module']).toMatchObject({ source: 'enabled-script' });
    const { '001-some-module/enabled': _script, ...withoutScript } = modules;
    expect((await enabledModules(backend(), withoutScript, config)).enabled).toEqual(['some-module']);
    expect((await enabledModules(backend(), withoutScript)).enabled).toEqual([]);
  });

  test('worked example 3: a script decides by the values of the module and gives a reason', async () => {
    const modules = {
      'values.yaml': 'simpleModuleEnabled: true\nsimpleModule: {param2: go}\n',
      '001-simple-module/enabled': STOP_ON_PARAMETER,
    };
    expect((await enabledModules(backend(), modules)).enabled).toEqual(['simple-module']);
    const stopped = await enabledModules(backend(), modules, { simpleModule: 'param2: stopMePlease\n' });
    expect(stopped.enabled).toEqual([]);
    expect(stopped.reasons['simple-module']).toEqual({
      source: 'enabled-script',
      reason: 'Module disabled: param2 == stopMePlease',
    });
  });

  test('the enabled script sees values, config values and the modules enabled before it', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\ntwoEnabled: true\nglobal: {a: 1}\ntwo: {b: 2}\n',
        '001-one/hooks/hook.sh': SAYS('one'),
        '002-two/enabled': enabledScript(
          'cat "$VALUES_PATH"; echo; cat "$CONFIG_VALUES_PATH"; echo; echo true > "$MODULE_ENABLED_RESULT"',
        ),
      },
      config: { two: 'c: 3\n' },
    });
    await world.converge();
    expect(world.log.printed.slice(0, 2).map((line) => JSON.parse(line) as unknown)).toEqual([
      { global: { a: 1, enabledModules: ['one'] }, two: { b: 2, c: 3 } },
      { global: null, two: { c: 3 } },
    ]);
  });

  test('a script sees the values of beforeAll hooks, and runs again in every converge', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'g.sh': shHook(
          'beforeAll: 1',
          `echo '{"op":"add","path":"/global/flag","value":"from beforeAll"}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      },
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled': enabledScript(
          `
if grep -q '"flag":"from beforeAll"' "$VALUES_PATH" && ! grep -q '"off":true' "$VALUES_PATH"
then echo true; else echo false; fi > "$MODULE_ENABLED_RESULT"`,
        ),
        '001-web/hooks/hook.sh': SAYS('web'),
      },
      config: {},
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['web']);
    await world.putConfig({ global: 'off: true\n' });
    await world.log.untilPrinted('web afterDeleteHelm');
    expect(world.daemon.operator.registry.enabled).toEqual([]);
  });

  test('a changed section of the ConfigMap runs the enabled scripts again', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'simpleModuleEnabled: true\notherEnabled: true\n',
        '001-simple-module/enabled': STOP_ON_PARAMETER,
        '001-simple-module/hooks/hook.sh': announcer('simple', { beforeHelm: 1, afterDeleteHelm: 1 }),
        '002-other/hooks/hook.sh': announcer('other', { beforeHelm: 1 }),
      },
      config: { simpleModule: 'param2: go\n' },
    });
    await world.converge();
    await world.putConfig({ simpleModule: 'param2: still\n' });
    await world.log.untilPrinted('simple beforeHelm', 2);
    expect(world.log.printed).toEqual(['simple beforeHelm', 'other beforeHelm', 'simple beforeHelm']);
    await world.putConfig({ simpleModule: 'param2: stopMePlease\n' });
    await world.log.untilPrinted('simple afterDeleteHelm');
    expect(world.daemon.operator.registry.enabled).toEqual(['other']);
    await world.putConfig({ simpleModule: 'param2: go\n' });
    await world.log.untilPrinted('simple beforeHelm', 3);
  });

  test('a changed section runs only the scripts that see the change, and its module', async () => {
    const asking = enabledScript(`
name=$(basename "$(dirname "$0")"); echo "asked $name"
if grep -q '"off":true' "$VALUES_PATH"; then echo false; else echo true; fi > "$MODULE_ENABLED_RESULT"`);
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'oneEnabled: true\nwebEnabled: true\nthreeEnabled: true\n',
        '001-one/enabled': asking,
        '002-web/hooks/hook.sh': announcer('web', { beforeHelm: 1 }),
        '003-three/enabled': asking,
      },
      config: {},
    });
    await world.converge();
    let seen = world.log.printed.length;
    const printedUntil = async (line: string, count: number) => {
      await world.log.untilPrinted(line, count);
      await world.daemon.operator.router.main.untilEmpty();
      const printed = world.log.printed.slice(seen);
      seen = world.log.printed.length;
      return printed;
    };
    await world.putConfig({ web: 'x: 1\n' });
    expect(await printedUntil('web beforeHelm', 2)).toEqual(['web beforeHelm']);
    await world.putConfig({ web: 'x: 2\n', three: 'x: 1\n' });
    expect(await printedUntil('web beforeHelm', 3)).toEqual(['asked 003-three', 'web beforeHelm']);
    const inConverge = ['asked 001-one', 'asked 003-three', 'web beforeHelm'];
    await world.putConfig({ global: 'x: 1\n', web: 'x: 2\n', three: 'x: 1\n' });
    expect(await printedUntil('web beforeHelm', 4)).toEqual(inConverge);
    await world.putConfig({ global: 'x: 1\n', web: 'x: 2\n', three: 'x: 1\n', one: 'off: true\n' });
    // The list of enabled modules is another one now for the script behind it.
    expect(await printedUntil('web beforeHelm', 5)).toEqual([
      'asked 001-one',
      'asked 003-three',
      ...inConverge,
    ]);
    expect(world.daemon.operator.registry.enabled).toEqual(['web', 'three']);
  });

  test('a failed discovery is retried every 5 s, and blocks events in the main queue only', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled': enabledScript(
          'if [ -e "$WORLD/broken" ]; then echo nonsense; else echo true; fi > "$MODULE_ENABLED_RESULT"',
        ),
        '001-web/hooks/hook.sh': SAYS('web'),
        '../broken': '',
      },
      globalHooks: { 'all.sh': announcer('global', { beforeAll: 1 }) },
    });
    const watch = (name: string, queue: string) =>
      shHook(
        `
kubernetes:
- name: trigger
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  queue: ${queue}`,
        `echo "${name} runs"`,
      );
    await world.write('global-hooks', { 'main.sh': watch('main', 'main'), 'side.sh': watch('side', 'side') });
    await world.start();
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await world.log.until(
        (records) => records.filter(({ msg }) => msg === 'attempt failed, will retry').length > attempt,
      );
      if (attempt === 0) {
        await world.create('configmaps', { metadata: { name: 'trigger' } });
        await world.log.untilPrinted('side runs');
      }
      if (attempt === 3) await world.expel('broken');
      expect(await world.passDelay()).toBe(5_000);
    }
    await world.daemon.firstConverge;
    await world.log.untilPrinted('main runs');
    expect(world.log.printed).toEqual(['global beforeAll', 'side runs', 'web onStartup', 'main runs']);
  });

  test('a global hook can enable and disable modules', async () => {
    await using world = await World.create(backend(), {
      modules: { '001-web/hooks/hook.sh': SAYS('web') },
    });
    await world.write('global-hooks', {
      'switch.sh': shHook(
        `
kubernetes:
- name: switch
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [switch]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false
  jqFilter: .data.on
  keepFullObjectsInMemory: false`,
        `
on=$(sed -E 's/.*"filterResult":"(true|false)".*/\\1/' "$BINDING_CONTEXT_PATH")
echo "{\\"op\\":\\"add\\",\\"path\\":\\"/webEnabled\\",\\"value\\":$on}" > "$VALUES_JSON_PATCH_PATH"`,
      ),
    });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'switch' }, data: { on: 'true' } } as never);
    await world.log.untilPrinted('web onStartup');
    await world.merge('configmaps', 'switch', { data: { on: 'false' } });
    await world.log.untilPrinted('web afterDeleteHelm');
    expect(world.daemon.operator.registry.enabled).toEqual([]);
  });
});
