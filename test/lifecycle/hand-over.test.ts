import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { ACTING_HOOK, actorsOf, startDev } from '../support/dev-process.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const PAUSES = 'addon-operator-pauses';

const WEB = { ...configMapChart('web', 'web'), 'hooks/act.sh': ACTING_HOOK };
const MODULES = {
  'values.yaml': 'web: {from: cluster}\nwebEnabled: true\ndnsEnabled: true\n',
  ...under('001-web', WEB),
  ...under('002-dns', configMapChart('dns', 'dns')),
};
/** What the author of the module has. */
const EDITED = { 'values.yaml': 'web: {from: laptop}\n', ...under('001-web', WEB) };

async function explained(world: World, format: string): Promise<string> {
  const socketPath = `${world.directory}/debug.socket`;
  return (await requestDebug({ socketPath, path: `/module/web/explain.${format}` }, systemClock)).body;
}

async function deployed(world: World, name: string): Promise<unknown> {
  const data = (await world.get('configmaps', name))?.['data'] as
    | Readonly<Record<string, string>>
    | undefined;
  return JSON.parse(data?.['values'] ?? 'null');
}

async function untilDeployed(world: World, name: string, values: object): Promise<void> {
  await vi.waitFor(async () => expect(await deployed(world, name)).toEqual(values), WAIT);
}

describeLifecycle((backend) => {
  test('dev runs one module in place of the operator, which runs it again when dev ends, and never both at once', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await untilDeployed(world, 'web', { from: 'cluster' });
    await using dev = await startDev(world, 'laptop', { modules: EDITED });
    await dev.untilConverged();
    await untilDeployed(world, 'web', { from: 'laptop' });
    expect(JSON.parse(await explained(world, 'json'))).toMatchObject({
      status: 'paused',
      causes: [],
      pause: { reason: expect.stringMatching(/^handed over to addon-operator dev of .+@.+$/) },
    });
    await world.putConfig({ web: 'a: 1', dns: 'b: 2' });
    await untilDeployed(world, 'dns', { b: 2 });
    await untilDeployed(world, 'web', { from: 'laptop', a: 1 });
    await using second = await startDev(world, 'second', { modules: EDITED });
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.log.dump()).toMatch(/module web is handed over to addon-operator dev of .+ --force/);
    dev.signal('SIGTERM');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(dev.said.at(-1)).toBe(`module web is handed back to the operator in ${world.namespace}`);
    await untilDeployed(world, 'web', { from: 'cluster', a: 1 });
    await vi.waitFor(async () => expect(await explained(world, 'text')).toMatch(/^status +ready$/m), WAIT);
    expect((await world.get('configmaps', PAUSES))?.['data'] ?? {}).toEqual({});
    expect(await actorsOf(world)).toEqual(['operator', 'laptop', 'operator']);
    // Its directory for temporary files.
    expect(await readdir(world.directory)).not.toContainEqual(expect.stringMatching(/^addon-operator-/));
  });
});

describeApiIndependent((backend) => {
  test('dev takes a module away from another one with --force, and loses it when the operator wants it back', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await using first = await startDev(world, 'first', { modules: EDITED });
    await first.untilConverged();
    await using second = await startDev(world, 'second', { modules: EDITED, args: ['--force'] });
    expect(await first.exited).toMatchObject({ code: 1 });
    expect(first.said.join('\n')).toMatch(/module web is not handed over any more: The lease is held by /);
    await second.untilConverged();
    const socketPath = `${world.directory}/debug.socket`;
    const resume = { socketPath, path: '/module/web/resume', form: {} };
    expect(await requestDebug(resume, systemClock)).toMatchObject({
      body: expect.stringMatching(
        /^module web is taken back from addon-operator dev of .+@.+: it runs here when /,
      ),
    });
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.said.at(-1)).toBe('what ran of module web here has ended');
    await world.log.untilMessage('module is taken back');
    await untilDeployed(world, 'web', { from: 'cluster' });
    expect(await actorsOf(world)).toEqual(['operator', 'first', 'second', 'operator']);
  });

  test.each([
    [
      'whose hooks are webhooks',
      {
        ...EDITED,
        '001-web/hooks/guard.sh': shHook(
          'kubernetesValidating: [{name: guard.example.com, rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]',
          'true',
        ),
      },
      /module web has webhooks, which the API server of the cluster cannot call on this machine: .*guard\.sh/,
    ],
    [
      'with a reconcile webhook',
      {
        ...EDITED,
        '001-web/module.yaml':
          'hook: {version: v1, address: {uri: "https://hooks.example.com"}, capabilities: [finalize]}\n',
      },
      /module web has a reconcile webhook in module\.yaml, which is a server in the cluster that this machine cannot reach/,
    ],
    ['that is not there', under('001-other', WEB), /there is no module web in .*, which has other/],
    ['for global values that are not there', EDITED, /--global-values: .*ENOENT.*none\.yaml/, 'none.yaml'],
    ['for global values that are a list', EDITED, /--global-values: .*list\.yaml is no mapping/, 'list.yaml'],
  ])('dev refuses a module %s before it is handed over', async (_case, modules, reason, global = '') => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await writeTree(world.directory, { 'list.yaml': '[a]\n' });
    const args = global === '' ? [] : ['--global-values', global];
    await using dev = await startDev(world, 'laptop', { modules, args });
    expect(await dev.exited).toMatchObject({ code: 1 });
    expect(dev.said.join('\n')).toMatch(reason);
    expect(await world.get('configmaps', PAUSES)).toBeUndefined();
  });

  test('dev runs an edited hook again, and keeps the module when its directory goes', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await using dev = await startDev(world, 'laptop', { modules: EDITED });
    await dev.untilConverged();
    const modules = join(world.directory, 'laptop', 'modules');
    await writeTree(modules, { '001-web/hooks/new.sh': shHook('onStartup: 1', 'echo edited') });
    await dev.log.untilPrinted('edited');
    await rename(join(modules, '001-web'), join(world.directory, 'gone'));
    await dev.log.untilMessage('cannot load changed files, the modules are not changed');
    expect(await deployed(world, 'web')).toEqual({ from: 'laptop' });
  });

  test('dev gives hooks the global values of a file and of the ConfigMap, and the enabled modules of the cluster', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      config: { global: '{"tier": "gold"}' },
    });
    await world.converge();
    await writeTree(world.directory, {
      'global.yaml': 'global: {zone: eu, tier: silver, enabledModules: [other]}\n',
    });
    const hook = shHook('onStartup: 1', 'cp "$VALUES_PATH" "$WORLD/values.json"');
    const modules = { ...EDITED, '001-web/hooks/values.sh': hook };
    await using dev = await startDev(world, 'laptop', { modules, args: ['--global-values', 'global.yaml'] });
    await dev.untilConverged();
    const values: unknown = JSON.parse(await readFile(join(world.directory, 'values.json'), 'utf8'));
    expect(values).toMatchObject({
      global: { zone: 'eu', tier: 'gold', enabledModules: ['web', 'dns'] },
    });
  });

  test('dev counts log records that nothing reads, and goes on', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await using dev = await startDev(world, 'laptop', { modules: EDITED });
    await dev.untilConverged();
    dev.closeOutput();
    const dropped = /^addon_operator_log_records_dropped_total [1-9]/m;
    await vi.waitFor(async () => expect(await dev.page('/metrics')).toMatch(dropped), WAIT);
    dev.signal('SIGTERM');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  });
});
