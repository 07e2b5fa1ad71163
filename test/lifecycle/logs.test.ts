import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const MODULES = { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) };

/** Operations contract, section 4: what people and their tools look for in the log. */
describeLifecycle((backend) => {
  test('the log has the documented messages of a start, of helm and of a deletion', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': shHook('beforeAll: 1', ':') },
      modules: MODULES,
    });
    await world.converge();
    const messages = messagesOf(world);
    const expected = [
      'GlobalHookRun task for beforeAll binding, trigger is Operator-Startup',
      'Enabled modules',
      "ModuleRun task for module 'web', phase 'Startup' with doModuleStartup, trigger is Operator-Startup",
      'Running helm upgrade for release',
      'Helm upgrade successful',
      'ModuleRun success, module is ready',
      'ConvergeModules task done',
      'first converge is finished. Operator is ready now.',
    ];
    expect(messages.filter((message) => expected.includes(String(message)))).toEqual(expected);
    expect(world.log.records.find(({ msg }) => msg === 'Enabled modules')).toMatchObject({
      modules: ['web'],
    });
    expect(world.log.records.find(({ msg }) => msg === 'Helm upgrade successful')).toMatchObject({
      release: 'web',
      namespace: world.namespace,
    });
    await world.putConfig({ webEnabled: 'false' });
    await world.log.untilMessage("ModuleDelete task done, result is 'Success'");
  });

  test('the log has the documented messages of a purge', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      flags: { 'allow-empty-modules-dir': 'true' },
    });
    await world.converge();
    await world.stop();
    await rm(join(world.directory, 'modules', '001-web'), { recursive: true });
    await world.converge();
    await world.log.untilMessage('Release without a module is removed');
    const found = world.log.records.find(({ msg }) => msg === 'Modules to purge found');
    expect(found).toMatchObject({ level: 'info', releases: ['web'] });
    const task = "ModulePurge for release 'web', trigger is Operator-PostConvergeCleanup";
    expect(messagesOf(world)).toEqual(
      expect.arrayContaining([`after task ${task}`, task.replace('ModulePurge', 'ModulePurge task')]),
    );
  });
});

describeApiIndependent((backend) => {
  test('tasks are logged when they are queued, with their place and the event that caused them', async () => {
    await using world = await World.create(backend(), {
      modules: { ...MODULES, '001-web/hooks/a.sh': shHook('afterHelm: 1', 'echo ran') },
    });
    await world.converge();
    await world.log.untilMessage("DiscoverHelmReleases task done, result is 'Success'");
    const run =
      "ModuleRun for module 'web', phase 'Startup' with doModuleStartup, trigger is Operator-Startup";
    const added = world.log.records.filter((record) => record['task.flow'] === 'add');
    expect(added.map(({ level, msg }) => [level, msg])).toEqual([
      ['info', 'append task GlobalHookWaitKubernetesSynchronization, trigger is Operator-Startup'],
      ['info', 'append task ConvergeModules, trigger is Operator-Startup'],
      ['info', `head task ${run}`],
      ['info', 'append task DiscoverHelmReleases, trigger is Operator-PostConvergeCleanup'],
    ]);
    const ofFlow = world.log.records.filter((record) => record['task.flow'] !== undefined);
    const ended = ofFlow.filter(({ msg }) => String(msg).endsWith("task done, result is 'Success'"));
    expect(ended.map(({ level, binding }) => [level, binding])).toEqual([
      ['debug', 'GlobalHookWaitKubernetesSynchronization'],
      ['debug', 'ModuleRun'],
      ['info', 'ConvergeModules'],
      ['debug', 'DiscoverHelmReleases'],
    ]);
    expect(new Set(ofFlow.map((record) => record['event.id'])).size).toBe(1);
    expect(ofFlow.filter(({ msg }) => msg === run.replace('ModuleRun', 'ModuleRun task'))).toMatchObject([
      { queue: 'main', binding: 'ModuleRun', module: 'web', 'event.type': 'OperatorStartup' },
    ]);
    expect(world.log.records.find(({ msg }) => msg === 'ran')).toMatchObject({
      'event.id': ofFlow[0]?.['event.id'],
    });
    await world.putConfig({ web: 'a: 1' });
    await world.log.until(() => world.log.printed.length === 2);
    const changed = world.log.records.filter(
      (record) => record['task.flow'] === 'add' && record['event.id'] !== ofFlow[0]?.['event.id'],
    );
    expect(changed.map(({ msg }) => msg)).toEqual([
      'head task ApplyKubeConfigValues, trigger is Apply-Kube-Config-Values-Changes',
      "after task ModuleRun for module 'web', phase 'Ready', trigger is KubeConfig-Changed-Modules",
    ]);
    expect(new Set(changed.map((record) => record['event.id'])).size).toBe(1);
  });

  test('a task that a hook caused names the hook, its binding and its event', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    const config = `kubernetes:
- name: settings
  kind: ConfigMap
  apiVersion: v1
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  nameSelector: {matchNames: [settings]}`;
    const patch = (path: string): string =>
      `[ $(jq -r '.[0].type' "$BINDING_CONTEXT_PATH") = Synchronization ] || echo '{"op": "add", "path": "${path}", "value": 1}' >"$VALUES_JSON_PATCH_PATH"`;
    await world.write('global-hooks', { 'all.sh': shHook(config, patch('/global/a')) });
    await world.write('modules', { '001-web/hooks/own.sh': shHook(config, patch('/web/a')) });
    await world.converge();
    await world.create('configmaps', { metadata: { name: 'settings' } });
    await world.log.untilMessage('ConvergeModules task done', 2);
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    const records = (msg: string) => world.log.records.filter((record) => record['msg'] === msg);
    const causeOf = (hook: string) => ({
      'event.triggered-by.hook': hook,
      'event.triggered-by.binding': 'kubernetes',
      'event.triggered-by.binding.name': 'settings',
      'event.triggered-by.watchEvent': 'Added',
    });
    const event = world.log.records.find(
      ({ hook, watchEvent }) => hook === 'all.sh' && watchEvent === 'Added',
    );
    const ofEvent = { 'event.id': event?.['event.id'], ...causeOf('all.sh') };
    const converge = 'ConvergeModules, trigger is Kubernetes-Change-GlobalValues';
    expect(records(`append task ${converge}`)).toMatchObject([{ 'task.flow': 'add', ...ofEvent }]);
    expect(records(converge.replace('Modules', 'Modules task'))[0]).toMatchObject({
      'task.flow': 'start',
      'event.type': 'GlobalValuesChanged',
      ...ofEvent,
    });
    expect(
      records("ModuleRun task for module 'web', phase 'Ready', trigger is Kubernetes-Change-GlobalValues"),
    ).toMatchObject([ofEvent]);
    expect(
      records("ModuleRun task for module 'web', phase 'Ready', trigger is Kubernetes-Change-ModuleValues"),
    ).toMatchObject([causeOf('hooks/own.sh')]);
  });

  test('records name their component, and at level debug file and line', async () => {
    await using world = await World.create(backend(), {
      modules: { ...MODULES, '001-web/hooks/a.sh': shHook('afterHelm: 1', 'echo ran') },
      hasLogSources: true,
    });
    await world.converge();
    const loggers = ['HTTP server listens', 'Running helm upgrade for release', 'Enabled modules', 'ran'].map(
      (message) => world.log.records.find(({ msg }) => msg === message)?.['logger'],
    );
    expect(loggers).toEqual(['server', 'helm', 'operator', 'hooks'].map((name) => `addon-operator.${name}`));
    const { source } = world.log.records.find(({ msg }) => msg === 'Helm upgrade successful') ?? {};
    expect(source).toMatch(/^releases\/[a-z-]+\.[jt]s:\d+$/);
  });

  test('records of a hook run name its owner, its event and its cause', async () => {
    await using world = await World.create(backend(), { modules: { 'values.yaml': 'webEnabled: true\n' } });
    const config = `kubernetes:
- name: settings
  kind: ConfigMap
  apiVersion: v1
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  nameSelector: {matchNames: [settings]}
  queue: side`;
    await world.write('modules', { '001-web/hooks/a.sh': shHook(config, 'echo ran; echo oops >&2') });
    await world.converge();
    const hook = { hook: 'hooks/a.sh', 'hook.type': 'module', module: 'web', queue: 'side' };
    const common = {
      level: 'info',
      msg: 'ran',
      logger: 'addon-operator.hooks',
      output: 'stdout',
      'binding.name': 'settings',
      'event.id': expect.any(String),
      source: expect.any(String),
      path: join(world.directory, 'modules/001-web/hooks/a.sh'),
      ...hook,
    };
    const said = (msg: string) => world.log.records.filter((record) => record['msg'] === msg);
    expect(said('ran')).toEqual([
      { ...common, binding: 'kubernetesSynchronization', 'event.type': 'OperatorStartup' },
    ]);
    expect(said('oops')).toMatchObject([{ output: 'stderr' }]);
    await world.create('configmaps', { metadata: { name: 'settings' } });
    await world.log.untilPrinted('ran', 2);
    expect(said('ran').at(-1)).toEqual({ ...common, binding: 'kubernetes', watchEvent: 'Added' });
    const start = said("ModuleHookRun task for 'kubernetes/settings' binding, trigger is Kubernetes");
    expect(start.at(-1)).toMatchObject({
      'task.flow': 'start',
      queue: 'side',
      module: 'web',
      hook: 'hooks/a.sh',
    });
  });
});

function messagesOf(world: World): readonly unknown[] {
  return world.log.records.filter(({ level }) => level === 'info').map(({ msg }) => msg);
}
