import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { bashBatch, type FakeBatch, nodeBatch, PANIC } from '../support/batch-hook.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { eventsOf, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000 };
const TICK_MS = 15_000;
const READY = 'ModuleRun success, module is ready';

/** A module with a chart and a batch file in bash. */
const withBatch = (fake: FakeBatch, name = 'web') => ({
  'values.yaml': `${name}Enabled: true\n`,
  [`001-${name}/module.yaml`]: 'batchHooks: [batch]\n',
  [`001-${name}/hooks/batch`]: bashBatch(fake),
  ...under(`001-${name}`, configMapChart(name, name)),
});

interface Explanation {
  readonly status: string;
  readonly causes: readonly { readonly reason: string; readonly text: string }[];
  readonly warnings?: readonly string[];
}

async function explain(world: World, module = 'web'): Promise<Explanation> {
  const socketPath = world.flags['debug-unix-socket'] ?? '';
  const { body } = await requestDebug({ socketPath, path: `/module/${module}/explain.json` }, systemClock);
  return JSON.parse(body) as Explanation;
}

async function deployedValues(world: World, name = 'web'): Promise<unknown> {
  const object = (await world.get('configmaps', name)) as { data?: { values: string } } | undefined;
  return JSON.parse(object?.data?.values ?? 'null') as unknown;
}

/** A directory through which a test talks to its hooks. */
async function stateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'batch-state-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/** What a probe writes: the status of the object of another operator. */
const report = (status: 'True' | 'False', message: string): string =>
  JSON.stringify({
    operation: 'MergePatch',
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'Module',
    name: 'web',
    subresource: '/status',
    mergePatch: {
      status: {
        phase: status === 'True' ? 'Ready' : 'Reconciling',
        conditions: [{ type: 'IsReady', status, message }],
      },
    },
  });

describeLifecycle((backend) => {
  test('the hooks of a batch file get what other hooks get, and what they write has the same effects', async () => {
    const write = `const objects = contexts().flatMap(({ snapshots }) => snapshots?.['marks'] ?? []);
      write('VALUES_JSON_PATCH_PATH', [{ op: 'add', path: '/web/marks', value: objects.map(({ filterResult }) => filterResult) }]);
      write('METRICS_PATH', { name: 'marks', action: 'set', value: objects.length });
      write('KUBERNETES_PATCH_PATH', { operation: 'CreateOrUpdate', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: file('TEST_NAMESPACE') } } });`;
    const kubernetes = {
      name: 'marks',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      labelSelector: { matchLabels: { mark: 'yes' } },
      jqFilter: '.metadata.name',
    };
    const namespace = { nameSelector: { matchNames: ['batch-effects'] } };
    await using world = await World.create(backend(), {
      namespace: 'batch-effects',
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/module.yaml': 'batchHooks: [fake.ts]\n',
        '001-web/hooks/fake.ts': nodeBatch({
          hooks: {
            marks: { kubernetes: [{ ...kubernetes, namespace }] },
            ticks: { schedule: [{ name: 'often', crontab: '*/10 * * * * *' }] },
            before: { beforeHelm: 1 },
          },
          runs: { marks: write, ticks: `console.log('tick');`, before: `console.log('before');` },
        }),
        ...under('001-web', configMapChart('web', 'web')),
      },
      hookEnv: { TEST_NAMESPACE: 'batch-effects' },
    });
    await world.create('configmaps', { metadata: { name: 'one', labels: { mark: 'yes' } } } as never);
    await world.converge();
    expect(await deployedValues(world)).toEqual({ marks: ['one'] });
    expect(await world.get('configmaps', 'made')).toBeDefined();
    expect(world.log.printed).toEqual(['before']);
    await world.create('configmaps', { metadata: { name: 'two', labels: { mark: 'yes' } } } as never);
    await vi.waitFor(
      async () => expect(await deployedValues(world)).toEqual({ marks: ['one', 'two'] }),
      WAIT,
    );
    const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
    expect(page).toContain('marks{hook="hooks/fake.ts:marks:0",module="web"} 2');
    world.clock.jump(10_000);
    await world.log.untilPrinted('tick');
    expect(world.log.records.filter(({ msg }) => msg === 'tick')[0]).toMatchObject({
      hook: 'hooks/fake.ts:ticks:1',
      module: 'web',
      level: 'info',
    });
  });

  test('a module is not ready while its probe says so, and ready at the next tick; nothing else waits', async () => {
    const state = await stateDirectory();
    const name = uniqueName();
    const modules = withBatch(
      {
        hooks: {},
        readiness: {},
        ready: `echo probed
if [ -e "$STATE/down" ]; then echo '${report('False', 'no endpoints')}'; else echo '${report('True', '')}'; fi > "$KUBERNETES_PATCH_PATH"`,
      },
      name,
    );
    await using made = await moduleWorld(backend(), { modules, hookEnv: { STATE: state } }, [name]);
    const { world } = made;
    await world.converge();
    expect(await explain(world, name)).toMatchObject({ status: 'ready' });
    await writeFile(join(state, 'down'), '');
    world.clock.jump(TICK_MS);
    await world.log.untilMessage('module is not ready: its readiness probe says so');
    await vi.waitFor(
      async () =>
        expect(await explain(world, name)).toMatchObject({
          status: 'starting',
          causes: [
            {
              reason: 'NotReady',
              text: 'its readiness probe says that it is not ready: no endpoints',
            },
          ],
        }),
      WAIT,
    );
    const condition = expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NotReady' });
    const conditions = expect.arrayContaining([condition]);
    await untilStatus(world, name, { phase: 'Progressing', conditions });
    await rm(join(state, 'down'));
    const probes = world.log.printed.length;
    world.clock.jump(TICK_MS);
    await world.log.untilMessage('module is ready: its readiness probe says so');
    expect(world.log.printed.length).toBe(probes + 1);
    expect(await explain(world, name)).toMatchObject({ status: 'ready', causes: [] });
  });

  test('a probe that fails says nothing without modules.deckhouse.io, and with it that the module is not ready', async () => {
    await using world = await World.create(backend(), {
      modules: withBatch({
        hooks: {},
        readiness: {},
        ready: `echo probed; echo '{"message":"execute: get module resource: not found"}' >&2; exit 1`,
      }),
    });
    await world.converge();
    for (const times of [1, 2]) {
      world.clock.jump(TICK_MS);
      await world.log.untilPrinted('probed', times);
    }
    await world.log.until((records) =>
      records.some(({ msg }) => String(msg).startsWith('readiness of the module is not known')),
    );
    expect(await explain(world)).toMatchObject({ status: 'ready' });
    expect(
      world.log.records.filter(({ level, module }) => level === 'warn' && module === 'web'),
    ).toHaveLength(1);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const name = 'modules.deckhouse.io';
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await world.expect({
      method: 'POST',
      path: crds,
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name },
        spec: {
          group: 'deckhouse.io',
          scope: 'Cluster',
          names: { plural: 'modules', singular: 'module', kind: 'Module', listKind: 'ModuleList' },
          versions: [{ name: 'v1alpha1', served: true, storage: true, schema, subresources: { status: {} } }],
        },
      },
    });
    try {
      await vi.waitFor(async () => {
        world.clock.jump(TICK_MS);
        expect(await explain(world)).toMatchObject({
          status: 'starting',
          causes: [{ text: expect.stringContaining('execute: get module resource: not found') as string }],
        });
      }, WAIT);
    } finally {
      await world.expect({ method: 'DELETE', path: `${crds}/${name}` });
    }
  });
});

describeApiIndependent((backend) => {
  test('a hook that panics fails its module with the stack, until it is corrected', async () => {
    const state = await stateDirectory();
    await using world = await World.create(backend(), {
      modules: withBatch({
        hooks: { main: { beforeHelm: 5 } },
        runs: { main: `[ -e "$STATE/mended" ] || echo '${PANIC}'` },
      }),
      hookEnv: { STATE: state },
    });
    await world.start();
    await world.untilDelayed();
    const [failed] = world.log.records.filter(({ level, error }) => level === 'error' && error !== undefined);
    expect(failed?.['error']).toMatch(
      /module hook 'hooks\/batch:main:0' failed: it panicked: boom\ngoroutine 1 \[running\]/,
    );
    expect(await deployedValues(world)).toBeNull();
    await writeFile(join(state, 'mended'), '');
    await world.passDelay();
    await world.log.untilMessage(READY);
  });

  test('an extension-less script is never run at load, and keeps only its own module waiting', async () => {
    const state = await stateDirectory();
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\notherEnabled: true\n',
        '001-web/hooks/script': '#!/bin/sh\n[ "$1" = --config ] && exit 1\ntouch "$STATE/ran"\n',
        '002-other/hooks/a.sh': shHook('beforeHelm: 1', 'echo other'),
      },
      hookEnv: { STATE: state },
      flags: { 'module-failure-policy': 'isolate' },
    });
    await world.start();
    await world.log.untilPrinted('other');
    await vi.waitFor(async () => expect(await explain(world)).toMatchObject({ status: 'isolated' }), WAIT);
    expect(existsSync(join(state, 'ran'))).toBe(false);
  });

  test.each([
    ['panics', 'echo "panic: no clock" >&2; exit 2', 'hook config ended with exit status 2: panic: no clock'],
    ['prints rubbish', 'echo hello', 'not JSON'],
    ['prints 10 MB', 'head -c 10000000 /dev/zero', 'hook config printed more than 1048576 bytes'],
    [
      'has a bad hook',
      `echo '[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"onStartup":"x"}]'`,
      "hooks[1] 'b': onStartup must be of type integer",
    ],
  ])('a program that %s keeps only its own module waiting', async (_what, body, problem) => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\notherEnabled: true\n',
        '001-web/module.yaml': 'batchHooks: [batch]\n',
        '001-web/hooks/batch': `#!/bin/bash\n[ "$1" = --config ] && exit 1\n${body}\n`,
        '002-other/hooks/a.sh': shHook('beforeHelm: 1', 'echo other'),
      },
      flags: { 'module-failure-policy': 'isolate' },
    });
    await world.start();
    await world.log.untilPrinted('other');
    await world.log.until((records) =>
      records.some(({ error }) => {
        const text = String(error);
        return text.includes('hooks/batch') && text.includes(problem);
      }),
    );
    await vi.waitFor(async () => {
      expect(await explain(world)).toMatchObject({ status: 'isolated' });
      expect(await explain(world, 'other')).toMatchObject({ status: 'ready' });
    }, WAIT);
  });

  test('after a restart an index stands for the hook that the program has there now', async () => {
    const fake = (...names: readonly string[]): FakeBatch => ({
      hooks: Object.fromEntries(names.map((name) => [name, { beforeHelm: 1 }])),
      runs: Object.fromEntries(names.map((name) => [name, `echo ${name}`])),
    });
    await using world = await World.create(backend(), { modules: withBatch(fake('one', 'two')) });
    await world.converge();
    await world.stop();
    await world.write('modules', { '001-web/hooks/batch': bashBatch(fake('two', 'three', 'one')) });
    await world.converge();
    expect(world.log.printed).toEqual(['one', 'two', 'two', 'three', 'one']);
    expect(world.log.records.filter(({ msg }) => msg === 'three')[0]).toMatchObject({
      hook: 'hooks/batch:three:1',
    });
  });

  test('a program that is built anew while the operator runs is run when it was read again', async () => {
    const fake = (...names: readonly string[]): FakeBatch => ({
      hooks: Object.fromEntries(names.map((name) => [name, { beforeHelm: 1 }])),
      runs: Object.fromEntries(names.map((name) => [name, `echo ${name}`])),
    });
    await using world = await World.create(backend(), {
      modules: withBatch(fake('one')),
      flags: { 'watch-files': 'true' },
    });
    await world.converge();
    await world.write('modules', { '001-web/hooks/batch': bashBatch(fake('zero', 'one')) });
    await world.log.untilPrinted('zero');
    await world.log.untilPrinted('one', 2);
    expect(world.log.printed).toEqual(['one', 'zero', 'one']);
  });

  test('global hooks of a batch file run before all modules, in the order of their indexes', async () => {
    const hooks = Object.fromEntries(
      Array.from({ length: 11 }, (_, index) => [`h${index}`, { beforeHelm: 5 }]),
    );
    const runs = Object.fromEntries(Object.keys(hooks).map((name) => [name, `echo ${name} "$MODULE_NAME"`]));
    await using world = await World.create(backend(), {
      globalHooks: { 'facts.batch': bashBatch({ hooks, runs }) },
    });
    await world.converge();
    expect(world.log.printed).toEqual(Object.keys(hooks).map((name) => `${name} global`));
  });

  test('a changed section that its module refuses is not taken over, and a warning is shown', async () => {
    const check = `size=$(sed -E 's/.*"size":([0-9]+).*/\\1/' "$SETTINGS_PATH")
[ "$size" -lt 10 ] || { echo "{\\"valid\\":false,\\"message\\":\\"size $size is too large\\"}" >&2; exit 1; }
[ "$size" -lt 5 ] || { echo '{"valid":true,"message":"","warnings":["five nodes are slow"]}' >&2; exit 1; }`;
    const name = uniqueName();
    const modules = withBatch({ hooks: {}, check }, name);
    const config = { [name]: 'size: 1\n' };
    await using made = await moduleWorld(backend(), { modules, config }, [name]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    await world.putConfig({ [name]: 'size: 12\n' });
    await world.untilDelayed();
    const refused =
      /values of module '\w+' in the ConfigMap are refused by `.*hooks\/batch hook check`: size 12 is too large/;
    expect((await explain(world, name)).causes[0]).toMatchObject({
      reason: 'ConfigMapRefused',
      text: expect.stringMatching(refused) as string,
    });
    expect(await deployedValues(world, name)).toEqual({ size: 1 });
    await world.putConfig({ [name]: 'size: 7\n' });
    await world.log.untilMessage(READY, 2);
    expect(await deployedValues(world, name)).toEqual({ size: 7 });
    expect((await explain(world, name)).warnings).toEqual([
      'its section of the ConfigMap: five nodes are slow',
    ]);
    const event = { type: 'Warning', reason: 'SettingsWarning', message: 'five nodes are slow' };
    await vi.waitFor(
      async () => expect(await eventsOf(world, name)).toContainEqual(expect.objectContaining(event)),
      WAIT,
    );
  });

  test('a refused section is not taken over by a restart either', async () => {
    const modules = withBatch({ hooks: {}, check: `echo '{"valid":false,"message":"never"}' >&2; exit 1` });
    await using world = await World.create(backend(), { modules, config: { web: 'size: 1\n' } });
    await world.start();
    await world.untilDelayed();
    expect(world.log.records.at(-1)?.['error']).toMatch(/hook check`: never$/);
    expect(await deployedValues(world)).toBeNull();
    await world.putConfig({});
    await world.log.untilMessage(READY);
  });

  test('a hook of a batch file is triggered, recorded and replayed by its name', async () => {
    const directory = await stateDirectory();
    const one = `echo '[{"op":"add","path":"/web/n","value":1}]' > "$VALUES_JSON_PATCH_PATH"`;
    await using world = await World.create(backend(), {
      modules: withBatch({ hooks: { zero: {}, one: { onStartup: 1 } }, runs: { one } }),
    });
    await world.converge();
    const name = 'web/hooks/batch:one:1';
    const recorded = runInWorld(world, 'hook', 'record', name, '--runs', '1', '-o', directory);
    await vi.waitFor(() => expect(world.daemon.built.recorder.isWanted(name)).toBe(true), WAIT);
    expect(await runInWorld(world, 'hook', 'trigger', name, 'onStartup')).toMatchObject({ exitCode: 0 });
    expect(await recorded).toMatchObject({ exitCode: 0 });
    const modules = `--modules-dir=${join(world.directory, 'modules')}`;
    expect(await runInWorld(world, 'hook', 'replay', modules, directory)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 same, 0 differ'),
    });
    const runs = await runInWorld(world, 'runs', '-o', 'json');
    expect(runs.stdout).toContain('hooks/batch:one:1');
  });

  test('rbac and plan know the hooks of a batch file', async () => {
    const kubernetes = [{ name: 'nodes', apiVersion: 'v1', kind: 'Node', executeHookOnEvent: false }];
    await using world = await World.create(backend(), {
      modules: withBatch({ hooks: { nodes: { kubernetes } }, readiness: {} }),
    });
    const { stdout } = await runInWorld(world, 'rbac');
    expect(stdout).toMatch(/resources:\n *- nodes\n/);
    expect(stdout).toMatch(/- deckhouse\.io\n/);
    // 2: there are changes.
    const plan = await runInWorld(world, 'plan');
    expect(plan).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('web') });
  });
});
