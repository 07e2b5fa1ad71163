import { expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const ENABLED = { 'values.yaml': 'webEnabled: true\n' };
const WEB: FileTree = { ...ENABLED, ...under('001-web', configMapChart('web', 'web')) };

/** A module with a chart, and a schema of its config values with these properties. */
function webWithConfigSchema(properties: string): FileTree {
  return { ...WEB, '001-web/openapi/config-values.yaml': `type: object\nproperties:\n${properties}` };
}

/** The values the chart of `web` was last deployed with. */
async function deployedValues(world: World): Promise<unknown> {
  const object = (await world.get('configmaps', 'web')) as { data?: { values: string } } | undefined;
  return JSON.parse(object?.data?.values ?? 'null') as unknown;
}

async function refusal(world: World): Promise<string> {
  return world.start().then(
    () => 'started',
    (error: unknown) => String(error),
  );
}

async function configErrors(world: World): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
  const [, count = '0'] = /^addon_operator_config_values_errors_total (\d+)$/m.exec(page) ?? [];
  return Number(count);
}

const lastError = (world: World): string => world.daemon.operator.router.main.entries[0]?.lastError ?? '';

/** Schemas in openapi/ check values and give defaults. */
describeApiIndependent((backend) => {
  test('a ConfigMap that does not match the schemas fails the start, and every problem is named by path', async () => {
    await using world = await World.create(backend(), {
      modules: webWithConfigSchema('  size: {type: string}\n  replicas: {type: integer}\n'),
      globalHooks: { 'openapi/config-values.yaml': 'type: object\nproperties: {n: {type: integer}}' },
      config: { web: 'sice: s\nreplicas: hunter2\n', global: 'n: hunter2\n' },
    });
    const message = await refusal(world);
    expect(message).toContain('web.sice in body is a forbidden property');
    expect(message).toContain('web.replicas in body must be of type integer: "string"');
    expect(message).toContain('global.n in body must be of type integer: "string"');
    expect(message).not.toContain('hunter2');
  });

  test('a disabled module may have a section that does not match', async () => {
    await using world = await World.create(backend(), {
      modules: webWithConfigSchema('  size: {type: string}\n'),
      config: { web: 'size: 1\n', webEnabled: 'false' },
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual([]);
  });

  test('a bare object accepts no keys, and one with additionalProperties accepts any', async () => {
    const modules = webWithConfigSchema(
      '  bare: {type: object}\n  open: {type: object, additionalProperties: true}\n',
    );
    {
      await using world = await World.create(backend(), { modules, config: { web: 'bare: {a: 1}\n' } });
      expect(await refusal(world)).toContain('web.bare.a in body is a forbidden property');
    }
    await using world = await World.create(backend(), {
      modules,
      config: { web: 'open: {a: 1}\nbare: {}\n' },
    });
    await world.converge();
    expect(await deployedValues(world)).toEqual({ open: { a: 1 }, bare: {} });
  });

  test('defaults of both schemas fill missing values of files and ConfigMap, nested ones if the parent has a default', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...webWithConfigSchema(
          '  a: {default: config}\n  b: {default: config}\n  c: {default: config}\n  absent: {type: object, properties: {x: {default: 1}}}\n',
        ),
        '001-web/values.yaml': 'web: {a: file}\n',
        '001-web/openapi/values.yaml': `
x-extend: {schema: config-values.yaml}
type: object
properties:
  b: {default: values}
  own: {type: object, default: {}, properties: {x: {default: 1}}}
  list: {type: array, default: [{}], items: {type: object, properties: {x: {default: 1}}}}`,
        '001-web/hooks/see.sh': shHook('beforeHelm: 1', 'echo "see $(cat "$CONFIG_VALUES_PATH")"'),
      },
      config: { web: 'c: person\n' },
    });
    await world.converge();
    expect(await deployedValues(world)).toEqual({
      a: 'file',
      b: 'config',
      c: 'person',
      own: { x: 1 },
      list: [{ x: 1 }],
    });
    expect(world.log.printed).toEqual(['see {"global":null,"web":{"c":"person"}}']);
  });

  test('a hook that sets a wrong type fails and is retried, and neither values nor ConfigMap change', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...webWithConfigSchema('  replicas: {type: integer}\n'),
        '001-web/openapi/values.yaml': 'x-extend: {}\ntype: object\nproperties: {token: {type: string}}',
        '001-web/hooks/set.sh': shHook(
          'beforeHelm: 1',
          `
[ -e "$WORLD/good" ] && exit 0
if [ -e "$WORLD/values" ]; then
  echo '{"op":"add","path":"/web/token","value":12345}' > "$VALUES_JSON_PATCH_PATH"
else
  echo '{"op":"add","path":"/web/replicas","value":"hunter2"}' > "$CONFIG_VALUES_JSON_PATCH_PATH"
fi`,
        ),
      },
      config: { web: 'replicas: 2\n' },
    });
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toContain('web.replicas in body must be of type integer: "string"');
    expect(world.log.dump()).not.toContain('hunter2');
    await world.write('modules', { '../values': '' });
    await world.passDelay();
    await world.log.until(() => lastError(world).includes('web.token'));
    expect(lastError(world)).toContain('cannot apply values patch for module values: 1 error occurred:');
    expect(lastError(world)).toContain('web.token in body must be of type string: "number"');
    expect(lastError(world)).toContain('openapi/values.yaml requires this of all values together');
    await world.write('modules', { '../good': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await deployedValues(world)).toEqual({ replicas: 2 });
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({ data: { web: 'replicas: 2\n' } });
  });

  test('a value that is required for helm may come from a beforeHelm hook, and without it helm is not called', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/openapi/values.yaml':
          'type: object\nx-required-for-helm: [token]\nproperties: {token: {type: string}}',
        '001-web/hooks/set.sh': shHook(
          'beforeHelm: 1',
          `
[ -e "$WORLD/set" ] || exit 0
echo '{"op":"add","path":"/web/token","value":"x"}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toContain('check helm values: ');
    expect(lastError(world)).toContain('web.token in body is required');
    expect((await world.helmCalls()).filter((call) => call.includes('upgrade'))).toEqual([]);
    await world.write('modules', { '../set': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await deployedValues(world)).toEqual({ token: 'x' });
  });

  test('with x-extend a values patch fails as long as the config values lack what they require', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/openapi/config-values.yaml':
          'type: object\nrequired: [host]\nproperties: {host: {type: string}}',
        '001-web/openapi/values.yaml':
          'x-extend: {schema: config-values.yaml}\ntype: object\nproperties: {token: {type: string}}',
        '001-web/hooks/set.sh': shHook(
          'onStartup: 1',
          `echo '{"op":"add","path":"/web/token","value":"x"}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toContain('web.host in body is required');
    await world.putConfig({ web: 'host: h\n' });
    await world.daemon.firstConverge;
    expect(await deployedValues(world)).toEqual({ host: 'h', token: 'x' });
  });

  test('a ConfigMap that stops matching a schema is counted and ignored, and a corrected one is applied', async () => {
    await using world = await World.create(backend(), {
      modules: webWithConfigSchema('  replicas: {type: integer}\n'),
      config: { web: 'replicas: 1\n' },
    });
    await world.converge();
    await world.putConfig({ web: 'replicas: hunter2\n' });
    await world.untilDelayed();
    expect(lastError(world)).toContain("values of module 'web' in the ConfigMap do not match");
    const before = await configErrors(world);
    await world.clock.passSleep(5_000);
    await vi.waitFor(async () => expect(await configErrors(world)).toBeGreaterThan(before), WAIT);
    expect(await deployedValues(world)).toEqual({ replicas: 1 });
    await world.putConfig({ web: 'replicas: 3\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployedValues(world)).toEqual({ replicas: 3 });
    expect(world.log.dump()).not.toContain('hunter2');
    const after = await configErrors(world);
    await world.clock.passSleep(5_000);
    await world.clock.passSleep(5_000);
    expect(await configErrors(world)).toBe(after);
  });

  test('rules in CEL apply to values, also compared with their previous content, and report their own message', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/openapi/config-values.yaml': `type: object
x-deckhouse-validations:
- {expression: 'self.min <= self.max', message: min is more than max}
- {expression: 'self.max >= oldSelf.max', message: max must not become less}
properties: {min: {type: integer}, max: {type: integer}}
`,
      },
      config: { web: 'min: 1\nmax: 3\n' },
    });
    await world.converge();
    await world.putConfig({ web: 'min: 1\nmax: 2\n' });
    await world.untilDelayed();
    expect(lastError(world)).toContain('max must not become less');
    expect(await deployedValues(world)).toEqual({ min: 1, max: 3 });
    await world.putConfig({ web: 'min: 5\nmax: 4\n' });
    await world.passDelay();
    await world.log.until(() => lastError(world).includes('min is more than max'));
    await world.putConfig({ web: 'min: 4\nmax: 4\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployedValues(world)).toEqual({ min: 4, max: 4 });
  });

  test('a rule that is invalid CEL fails the start and is named', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/openapi/values.yaml':
          "type: object\nx-deckhouse-validations: [{expression: 'self.a >', message: m}]",
      },
    });
    const message = await refusal(world);
    expect(message).toContain('001-web/openapi/values.yaml');
    expect(message).toContain("compile the 'self.a >' rule");
  });

  test('a file that is not a schema fails the start and is named', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, '001-web/openapi/values.yaml': 'type: objekt\n' },
    });
    const message = await refusal(world);
    expect(message).toContain("load 'values' schema: ");
    expect(message).toContain('001-web/openapi/values.yaml');
  });
});
