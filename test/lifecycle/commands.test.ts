import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { type CommandResult, runInWorld } from '../support/world-command.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const PATCHING = shHook(
  'beforeHelm: 1',
  `echo '{"op":"add","path":"/dns/found","value":3}' > "$VALUES_JSON_PATCH_PATH"`,
);
const FAILING = shHook('beforeHelm: 1', 'echo "no disk" >&2; exit 1');

const WAIT = { timeout: 60_000 };

/** `web` has a chart, `dns` hooks only, and `off` is disabled. */
const MODULES = {
  'values.yaml': 'global: {domain: example.com}\nwebEnabled: true\ndnsEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/values.yaml': 'web: {replicas: 1}\n',
  '002-dns/hooks/patch.sh': PATCHING,
  '003-off/hooks/hook.sh': PATCHING,
};

/** What a command printed when it succeeded. */
async function said(world: World, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runInWorld(world, ...args);
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
  return stdout;
}

/** Operations contract, corner cases 7 and 9 to 16. */
describeLifecycle((backend) => {
  test('module resource-monitor lists the objects, also after a start that skipped the upgrade', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    const expected = { dns: 'No monitor', web: [`${world.namespace}/ConfigMap/web`] };
    await world.converge();
    expect(load(await said(world, 'module', 'resource-monitor'))).toEqual(expected);
    await world.stop();
    const before = await world.helmCalls();
    await world.converge();
    expect(load(await said(world, 'module', 'resource-monitor'))).toEqual(expected);
    expect((await world.helmCalls()).slice(before.length)).not.toContainEqual(
      expect.stringMatching(/^upgrade/),
    );
  });

  test('module resource-monitor lists objects without a namespace in the namespace of the release', async () => {
    await using world = await World.create(backend(), { modules: { 'values.yaml': 'webEnabled: true\n' } });
    const role = `${world.namespace}-reader`;
    await world.write('modules', {
      '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
      '001-web/templates/all.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: bare}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${role}}
rules: []
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ${role}, namespace: default}
`,
    });
    await world.converge();
    expect(load(await said(world, 'module', 'resource-monitor'))).toEqual({
      web: [
        `${world.namespace}/ConfigMap/bare`,
        `${world.namespace}/ClusterRole/${role}`,
        `default/ConfigMap/${role}`,
      ].toSorted(),
    });
    for (const path of [
      `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`,
      `/api/v1/namespaces/default/configmaps/${role}`,
    ])
      await world.expect({ method: 'DELETE', path });
  });

  test('module snapshots shows objects and counts operations', async () => {
    await using world = await World.create(backend(), { modules: { 'values.yaml': 'webEnabled: true\n' } });
    const config = `kubernetes:
- name: colors
  kind: ConfigMap
  apiVersion: v1
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  nameSelector: {matchNames: [settings]}
  jqFilter: .data.color`;
    await world.write('modules', { '001-web/hooks/colors.sh': shHook(config, 'echo ran') });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'settings' }, data: { color: 'red' } } as never);
    await world.log.untilPrinted('ran', 2);
    const { 'hooks/colors.sh': hook } = JSON.parse(
      await said(world, 'module', 'snapshots', 'web', '-o', 'json'),
    );
    const added = { count: 1, added: 1, deleted: 0, modified: 0, cleaned: 0 };
    expect(hook.colors).toEqual({
      operations: { sinceLastExecution: added, sinceStart: added },
      snapshot: [{ filterResult: 'red', object: expect.objectContaining({ kind: 'ConfigMap' }) }],
    });
  });

  test('config set log.configmap.events logs every event of the ConfigMap with the whole object', async () => {
    await using world = await World.create(backend(), { config: { global: 'a: 1' } });
    await world.converge();
    const events = () => world.log.records.filter(({ msg }) => msg === 'event of the ConfigMap');
    await world.putConfig({ global: 'a: 2' });
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(events()).toEqual([]);
    await said(world, 'config', 'set', 'log.configmap.events', 'true');
    await world.putConfig({ global: 'a: 3' });
    await world.log.untilMessage('event of the ConfigMap');
    expect(events().at(-1)).toMatchObject({
      level: 'info',
      watchEvent: 'Modified',
      configMap: `${world.namespace}/addon-operator`,
      object: { kind: 'ConfigMap', data: { global: 'a: 3' } },
    });
  });
});

describeApiIndependent((backend) => {
  test('commands show modules of a running daemon: names, values, patches, manifests', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: { web: 'replicas: 2' } });
    await world.converge();
    expect(load(await said(world, 'module', 'list'))).toEqual({ enabledModules: ['dns', 'web'] });
    const values = { global: { domain: 'example.com' }, web: { replicas: 2 } };
    expect(load(await said(world, 'module', 'values', 'web', '-g'))).toMatchObject(values);
    expect(load(await said(world, 'module', 'config', 'web'))).toEqual({ replicas: 2 });
    expect(load(await said(world, 'global', 'values'))).toMatchObject(values.global);
    expect(await said(world, 'module', 'patches', 'web')).toBe('null\n');
    expect(await said(world, 'module', 'patches', 'dns')).toBe(
      '[{"Operations":[{"op":"add","path":"/dns/found","value":3}]}]\n',
    );
    expect(await said(world, 'module', 'render', 'dns')).toBe('');
    expect(await said(world, 'module', 'render', 'web')).toContain('kind: ConfigMap');
    expect(await said(world, 'raw', '/graph?format=text')).toMatch(/"web" \[label="web\\nready"\]/);
    const unknown: CommandResult = {
      exitCode: 1,
      stdout: '',
      stderr: 'error: module not found\nCode: MODULE_UNKNOWN, explained in docs/errors.md\n',
    };
    expect(await runInWorld(world, 'module', 'values', 'nosuch')).toEqual(unknown);
  });

  test('changes over the debug socket are logged with the user who sent them', async () => {
    await using world = await World.create(backend(), {});
    await world.converge();
    await said(world, 'config', 'list');
    await said(world, 'config', 'set', 'log.level', 'info');
    const logged = world.log.records.filter(({ msg }) => msg === 'change requested over the debug socket');
    expect(logged).toMatchObject([
      {
        'peer.uid': process.platform === 'linux' ? process.getuid?.() : 'unknown',
        path: '/config/set',
        form: { name: 'log.level', value: 'info' },
      },
    ]);
  });

  test('a global hook is named with its hooks/ level in commands, logs and metrics', async () => {
    const config = `
onStartup: 1
kubernetes: [{name: maps, apiVersion: v1, kind: ConfigMap, nameSelector: {matchNames: [none]}}]`;
    const write = `echo '{"name":"m","set":1}' > "$METRICS_PATH"; echo ran`;
    await using world = await World.create(backend(), {
      globalHooks: { 'hooks/g.sh': shHook(config, write) },
    });
    await world.converge();
    const name = 'hooks/g.sh';
    expect(load(await said(world, 'global', 'list'))).toEqual({ globalHooks: [name] });
    expect(load(await said(world, 'global', 'snapshots'))).toMatchObject({ [name]: expect.anything() });
    const { httpPort } = world.daemon;
    const scrape = async (path: string) => await (await fetch(`http://127.0.0.1:${httpPort}${path}`)).text();
    expect(await scrape('/metrics/hooks')).toContain(`m{hook="${name}"} 1`);
    expect(await scrape('/metrics')).toContain(`hook="${name}"`);
    expect(world.log.records.filter(({ msg }) => msg === 'ran')).toMatchObject([
      { hook: name },
      { hook: name },
    ]);
  });

  test('queue main shows the delay of a failed task, the number of failures and the reason', async () => {
    await using world = await World.create(backend(), {
      modules: { ...MODULES, '001-web/hooks/fail.sh': FAILING },
    });
    await world.start();
    expect(await world.untilDelayed()).toBe(5_000);
    const [head, , first] = (await said(world, 'queue', 'main')).split('\n');
    expect(head).toMatch(
      /^Queue 'main': length 3, status: 'sleep after fail for 5s \(\ds left of 5s delay\)'$/,
    );
    expect(first).toBe(
      " 1. ModuleRun:main:web:doStartup:Operator-Startup:failures 1:run hooks by binding beforeHelm: module hook 'hooks/fail.sh' failed: no disk",
    );
    world.clock.jump(5_000);
    await world.log.untilMessage('attempt failed, will retry', 2);
    expect(await world.untilDelayed()).toBe(6_000);
    expect(await said(world, 'queue', 'list')).toContain(`Summary:
- 'main' queue: 3 tasks.
`);
    const list = JSON.parse(await said(world, 'queue', 'list', '-o', 'json'));
    expect(list).toEqual({
      active: [expect.objectContaining({ name: 'main', tasksCount: 3 })],
      summary: { mainQueueTasks: 3, otherQueues: expect.anything(), totalTasks: 3 },
    });
  });

  test('queue main shows for how long it has been waiting for a task', async () => {
    await using world = await World.create(backend(), {});
    await world.converge();
    await expect.poll(() => world.daemon.operator.router.main.status.type, WAIT).toBe('waiting');
    world.clock.jump(90_000);
    const text = await said(world, 'queue', 'main');
    const [, seconds] = /^Queue 'main': length 0, status: 'waiting for task (\d+)s'\n$/.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(90);
  });

  test('config set changes the log level at once, for the requested duration', async () => {
    await using world = await World.create(backend(), {});
    await world.converge();
    const debug = () => world.log.records.filter(({ level }) => level === 'debug').length;
    expect(await said(world, 'config', 'set', 'log.level', 'warn', '1m')).toBe('\n');
    expect(world.log.logger.level).toBe('warn');
    const [, , row] = (await said(world, 'config', 'list')).split('\n');
    expect(row).toMatch(/^log\.level {22}warn {17}\d{4}-\d\d-\d\dT\S+ +Global log level/);
    const before = debug();
    await world.clock.passSleep(15_000);
    expect(debug()).toBe(before);
    world.clock.jump(60_000);
    await expect.poll(() => world.log.logger.level, WAIT).toBe('debug');
    expect(await runInWorld(world, 'config', 'set', 'log.level', 'foo')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`'value' parameter is invalid: unknown log level "foo"`) as string,
    });
  });
});
