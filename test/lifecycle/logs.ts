import { expect, test } from 'vitest';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const MODULES = { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) };

/** Operations contract, section 4: what people and their tools look for in the log. */
export function logTests(backend: () => Backend): void {
  test('the log has the milestones of a start, of helm and of a purge by their words', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': shHook('beforeAll: 1', ':') },
      modules: MODULES,
    });
    await world.converge();
    const messages = world.log.records.filter(({ level }) => level === 'info').map(({ msg }) => msg);
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

  test('records of a hook run say what it belongs to, which event it got and what started it', async () => {
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
    const common = { level: 'info', msg: 'ran', output: 'stdout', 'binding.name': 'settings', ...hook };
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
}
