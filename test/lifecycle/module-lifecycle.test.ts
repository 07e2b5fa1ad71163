import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

const ALL_BINDINGS = {
  onStartup: 1,
  beforeHelm: 1,
  afterHelm: 1,
  beforeDeleteHelm: 1,
  afterDeleteHelm: 1,
};

const WEB = {
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/hooks/hook.sh': announcer('web', ALL_BINDINGS),
};

/** Fails while the file `fail-<binding>` is there. */
function failing(name: string, orders: Readonly<Record<string, number>>): string {
  return announcer(name, orders).replace(
    /\n(echo .*)\n$/,
    `
$1
if [ -e "$WORLD/fail-$(sed -E 's/.*"binding":"([A-Za-z]+)".*/\\1/' "$BINDING_CONTEXT_PATH")" ]; then exit 1; fi
`,
  );
}

async function release(world: World): Promise<string[]> {
  const list = await world.expect({ path: `${world.path('secrets')}?labelSelector=owner%3Dhelm` });
  return (list as { items: { metadata: { labels: Record<string, string> } }[] }).items.map(
    ({ metadata }) => `${metadata.labels['name']} ${metadata.labels['status']}`,
  );
}

describeLifecycle((backend) => {
  test('a module that is enabled later runs onStartup, Synchronization, beforeHelm, its chart and afterHelm', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: {} });
    await world.write('modules', {
      '001-web/hooks/watch.sh': shHook(
        `
kubernetes:
- name: maps
  apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [web]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnEvent: []
  jqFilter: .metadata.name`,
        `echo "watch $(cat "$BINDING_CONTEXT_PATH")"`,
      ),
    });
    await world.converge();
    expect(world.log.printed).toEqual([]);
    await world.putConfig({ webEnabled: 'true' });
    await world.log.untilMessage('ModuleRun success, module is ready');
    expect(world.log.printed).toEqual([
      'web onStartup',
      'watch [{"binding":"maps","type":"Synchronization","objects":[]}]',
      'web beforeHelm',
      'web afterHelm',
    ]);
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect(await release(world)).toEqual(['web deployed']);
  });

  test('a disabled module loses its release, then its afterDeleteHelm hooks run', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: { webEnabled: 'true' } });
    await world.converge();
    const before = world.log.printed.length;
    await world.putConfig({ webEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(world.log.printed.slice(before)).toEqual(['web beforeDeleteHelm', 'web afterDeleteHelm']);
    expect(await world.get('configmaps', 'web')).toBeUndefined();
    expect(await release(world)).toEqual([]);
    await world.putConfig({ webEnabled: 'true' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(world.log.printed.slice(before + 2)).toEqual(['web onStartup', 'web beforeHelm', 'web afterHelm']);
  });

  test('a module responds to its own schedules and events only while it is enabled', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/tick.sh': shHook('schedule: [{crontab: "* * * * * *"}]', 'echo tick'),
      },
      config: { webEnabled: 'true' },
    });
    await world.converge();
    world.clock.jump(1_000);
    await world.log.untilPrinted('tick');
    await world.putConfig({ webEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    const ticks = world.log.printed.filter((line) => line === 'tick').length;
    world.clock.jump(5_000);
    await world.putConfig({ webEnabled: 'true' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(world.log.printed.filter((line) => line === 'tick')).toHaveLength(ticks);
  });

  test('a restart with nothing changed starts no helm', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, 'values.yaml': 'webEnabled: true\n' },
    });
    await world.converge();
    const calls = await world.helmCalls();
    expect(calls.filter((call) => call.startsWith('upgrade'))).toHaveLength(1);
    await world.stop();
    await world.converge();
    expect(await world.helmCalls()).toEqual(calls);
    expect(await release(world)).toEqual(['web deployed']);
  });
});

describeApiIndependent((backend) => {
  test('after a failed first run all its hooks run again, including onStartup, after 5 s', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...WEB,
        '001-web/hooks/hook.sh': failing('web', ALL_BINDINGS),
        '../fail-afterHelm': '',
      },
    });
    await world.start();
    await world.untilDelayed();
    expect(world.log.printed).toEqual(['web onStartup', 'web beforeHelm', 'web afterHelm']);
    await world.expel('fail-afterHelm');
    expect(await world.passDelay()).toBe(5_000);
    await world.daemon.firstConverge;
    expect(world.log.printed.slice(3)).toEqual(['web onStartup', 'web beforeHelm', 'web afterHelm']);
  });

  test('a failure in a later run repeats beforeHelm, helm and afterHelm only', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, '001-web/hooks/hook.sh': failing('web', ALL_BINDINGS) },
      config: { webEnabled: 'true' },
    });
    await world.converge();
    const before = world.log.printed.length;
    await world.write('modules', { '../fail-afterHelm': '' });
    await world.putConfig({ webEnabled: 'true', web: 'color: red\n' });
    await world.untilDelayed();
    await world.expel('fail-afterHelm');
    await world.passDelay();
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(world.log.printed.slice(before)).toEqual([
      'web beforeHelm',
      'web afterHelm',
      'web beforeHelm',
      'web afterHelm',
    ]);
  });

  test('after a failed deletion its hooks run again until they succeed', async () => {
    await using world = await World.create(backend(), {
      modules: { ...WEB, '001-web/hooks/hook.sh': failing('web', ALL_BINDINGS) },
      config: { webEnabled: 'true' },
    });
    await world.converge();
    const before = world.log.printed.length;
    await world.write('modules', { '../fail-beforeDeleteHelm': '', '../fail-afterDeleteHelm': '' });
    await world.putConfig({ webEnabled: 'false' });
    await world.untilDelayed();
    expect(await release(world)).toEqual(['web deployed']);
    await world.expel('fail-beforeDeleteHelm');
    await world.passDelay();
    await world.log.until(
      (records) => records.filter(({ msg }) => msg === 'attempt failed, will retry').length === 2,
    );
    expect(await release(world)).toEqual([]);
    await world.expel('fail-afterDeleteHelm');
    await world.passDelay();
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(world.log.printed.slice(before)).toEqual([
      'web beforeDeleteHelm',
      'web beforeDeleteHelm',
      'web afterDeleteHelm',
      'web afterDeleteHelm',
    ]);
  });

  test('afterHelm hooks that change values run the module once more, without start-up', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...WEB,
        '001-web/hooks/patch.sh': shHook(
          'afterHelm: 2',
          `echo '{"op":"add","path":"/web/seen","value":true}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual([
      'web onStartup',
      'web beforeHelm',
      'web afterHelm',
      'web beforeHelm',
      'web afterHelm',
    ]);
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { values: '{"seen":true}' } });
  });
});
