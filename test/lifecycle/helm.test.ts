import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { untilTasks } from '../support/until-tasks.ts';
import { World } from '../support/world.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const MONITOR_TICK_MS = 330_000;
/** What a helm process may take when each helm hook may take a second. */
const HELM_LIMIT_MS = 303_000;
const WAIT = { timeout: 60_000, interval: 50 };
const WEB = under('001-web', configMapChart('web', 'web'));
const DB = under('002-db', configMapChart('db', 'db'));
const BOTH = { 'values.yaml': 'webEnabled: true\ndbEnabled: true\n', ...WEB, ...DB };

async function releases(world: World): Promise<string[]> {
  const list = await world.expect({ path: `${world.path('secrets')}?labelSelector=owner%3Dhelm` });
  return (list as { items: { metadata: { labels: Record<string, string> } }[] }).items.map(
    ({ metadata: { labels } }) => `${labels['name']} ${labels['version']} ${labels['status']}`,
  );
}

/** helm as a person at a terminal would use it. */
async function person(world: World, ...args: readonly string[]): Promise<void> {
  const { helmPath, kubeconfigPath } = world.backend;
  const env = {
    KUBECONFIG: kubeconfigPath,
    HELM_CACHE_HOME: world.directory,
    HELM_CONFIG_HOME: world.directory,
  };
  await execa(helmPath, [...args, '--namespace', world.namespace], { env, stdin: 'ignore' });
}

/** An executable that is helm. */
function realHelm({ backend }: World): string {
  return `#!/bin/sh\nexec '${backend.helmPath}' "$@"\n`;
}

/** helm that notes whether another one deploys at the same time, after tenths of a second of patience. */
function helmThatMeets({ backend }: World, patience: number): string {
  return `#!/bin/sh
[ "$1" = upgrade ] || exec '${backend.helmPath}' "$@"
touch "$WORLD/running-$$"
found=alone
for _ in $(seq ${patience}); do
  if [ -e "$WORLD/met" ] && grep -q met "$WORLD/met"; then found=met; break; fi
  if [ $(ls "$WORLD" | grep -c '^running-') -gt 1 ]; then found=met; break; fi
  sleep 0.1
done
echo $found >>"$WORLD/met"
'${backend.helmPath}' "$@"
code=$?
rm "$WORLD/running-$$"
exit $code
`;
}

async function metrics(world: World): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
}

function upgrades(calls: readonly string[]): number {
  return calls.filter((call) => call.startsWith('upgrade')).length;
}

function messages(world: World): unknown[] {
  return world.log.records.map((record) => record['msg']);
}

describeLifecycle((backend) => {
  test('a deleted object is restored after a tick of the monitor, and is counted by name', async () => {
    await using world = await World.create(backend(), {
      modules: { 'values.yaml': 'webEnabled: true\n', ...WEB },
    });
    await world.converge();
    // A jump ends requests in progress.
    await untilTasks(world, 'main', 0);
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'web') });
    world.clock.jump(MONITOR_TICK_MS);
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect(await metrics(world)).toContain(
      `modules_absent_resources_total{module="web",resource="${world.namespace}/ConfigMap/web"} 1`,
    );
    expect(await releases(world)).toEqual(['web 1 superseded', 'web 2 deployed']);
  });

  test('an object that a beforeHelm hook deletes is restored in the same run', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...BOTH,
        '001-web/hooks/clean.sh': shHook(
          'beforeHelm: 1',
          `cat >"$KUBERNETES_PATCH_PATH" <<END
{"operation": "Delete", "apiVersion": "v1", "kind": "ConfigMap", "namespace": "$NAMESPACE", "name": "web"}
END`,
        ),
      },
    });
    await world.converge();
    await world.stop();
    await world.converge();
    expect(await world.get('configmaps', 'web')).toBeDefined();
    expect(await releases(world)).toEqual(['db 1 deployed', 'web 1 superseded', 'web 2 deployed']);
    expect(
      messages(world).filter((message) => message === 'ModuleRun success, module is ready'),
    ).toHaveLength(4);
  });

  test('releases of this operator without a module are purged after the start; others and the ignored one stay', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...BOTH,
        ...under('003-own', configMapChart('own', 'own')),
        'values.yaml': enabled('web', 'db', 'own'),
      },
      env: { HELM_IGNORE_RELEASE: 'own' },
      flags: { 'allow-empty-modules-dir': 'true' },
    });
    await world.converge();
    await world.stop();
    await world.write('modules', under('../theirs', configMapChart('theirs', 'web')));
    await person(world, 'install', 'theirs', join(world.directory, 'theirs'), '--set', 'web.a=b');
    for (const directory of ['001-web', '002-db', '003-own'])
      await rm(join(world.directory, 'modules', directory), { recursive: true });
    await world.write('modules', { 'values.yaml': '' });
    await world.converge();
    await world.log.untilMessage('Release without a module is removed', 2);
    const purged = world.log.records.filter(({ msg }) => msg === 'Release without a module is removed');
    expect(purged.map((record) => record['release'])).toEqual(['web', 'db']);
    expect(await releases(world)).toEqual(['own 1 deployed', 'theirs 1 deployed']);
    const spared = world.log.records.find(
      ({ msg }) => msg === 'Releases without a module that were not created by this operator are skipped',
    );
    expect(spared).toMatchObject({ releases: ['theirs'] });
  });

  test('with --purge-foreign-releases releases of others are purged too', async () => {
    await using world = await World.create(backend(), {
      modules: WEB,
      flags: { 'purge-foreign-releases': 'true' },
    });
    await person(world, 'install', 'theirs', join(world.directory, 'modules', '001-web'), '--set', 'web.a=b');
    await world.converge();
    await world.log.untilMessage('Release without a module is removed');
    expect(await releases(world)).toEqual([]);
  });

  test('an enabled module adopts a release of its name that others created, and logs it', async () => {
    await using world = await World.create(backend(), { modules: { 'values.yaml': enabled('web'), ...WEB } });
    await person(world, 'install', 'web', join(world.directory, 'modules', '001-web'), '--set', 'web.a=b');
    await world.converge();
    expect(await releases(world)).toEqual(['web 1 superseded', 'web 2 deployed']);
    expect(messages(world)).toContain(
      'release was not created by this operator: adopting it, because a module has its name',
    );
  });

  test('a module in maintenance is labelled once, is then unmanaged while its hooks run, and is managed again later', async () => {
    const managed = 'maintenance.deckhouse.io/no-resource-reconciliation';
    await using world = await World.create(backend(), {
      modules: { ...WEB, '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'echo beforeHelm') },
      config: { webEnabled: 'true', web: 'a: 1\n' },
    });
    const labels = async (plural: string, name: string): Promise<unknown> =>
      ((await world.get(plural, name)) as { metadata?: { labels?: object } } | undefined)?.metadata?.labels;
    await world.converge();
    expect(await labels('secrets', 'sh.helm.release.v1.web.v1')).toMatchObject({ [managed]: 'false' });
    const config = { webEnabled: 'true', webMaintenance: 'NoResourceReconciliation' };
    await world.putConfig({ ...config, web: 'a: 1\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await labels('secrets', 'sh.helm.release.v1.web.v2')).toMatchObject({ [managed]: 'true' });
    expect(await labels('configmaps', 'web')).toMatchObject({ [managed]: '' });
    await world.putConfig({ ...config, web: 'a: 2\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(messages(world)).toContain('helm release is Unmanaged, skip helm upgrade');
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'web') });
    world.clock.jump(MONITOR_TICK_MS);
    expect(await releases(world)).toEqual(['web 1 superseded', 'web 2 deployed']);
    await world.putConfig({ webEnabled: 'true', web: 'a: 2\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 4);
    expect(await releases(world)).toContain('web 3 deployed');
    expect(await labels('configmaps', 'web')).not.toHaveProperty(managed);
    expect(world.log.printed.filter((line) => line === 'beforeHelm')).toHaveLength(4);
  });
});

describeApiIndependent((backend) => {
  test('a restart without changes sends no more requests for many modules than for a few', async () => {
    const requestsOfRestart = async (count: number): Promise<number> => {
      const names = Array.from({ length: count }, (_, index) => `mod${index}`);
      await using world = await World.create(backend(), {
        modules: Object.assign(
          { 'values.yaml': enabled(...names) },
          ...names.map((name, index) => under(`${index + 100}-${name}`, configMapChart(name, name))),
        ) as FileTree,
        config: {},
      });
      await world.converge();
      await world.stop();
      const helmRuns = upgrades(await world.helmCalls());
      await world.converge();
      expect(upgrades(await world.helmCalls())).toBe(helmRuns);
      const counts = (await metrics(world)).matchAll(/kubernetes_client_request_result_total\{.*\} (\d+)/g);
      return [...counts].reduce((sum, [, result]) => sum + Number(result), 0);
    };
    const [few, many] = [await requestsOfRestart(2), await requestsOfRestart(18)];
    expect(few).toBeGreaterThan(0);
    // One request for each module would be 16 more; a watch that opens again is one or two.
    expect(many - few).toBeLessThan(8);
  });

  test('changed global values stop the monitors, which start again with the following runs', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...BOTH,
        // The run of web holds up everything behind it, the monitor of db with it.
        '001-web/hooks/gate.sh': shHook(
          'beforeHelm: 1',
          'if [ -e "$WORLD/gate" ]; then echo held; exit 1; fi',
        ),
      },
      globalHooks: {
        'set.sh': shHook(
          'schedule: [{crontab: "* * * * * *"}]',
          `if [ -e "$WORLD/set" ]; then echo '[{"op": "add", "path": "/global/a", "value": 1}]' >"$VALUES_JSON_PATCH_PATH"; fi`,
        ),
      },
      config: {},
    });
    await world.converge();
    await world.write('modules', { '../set': '', '../gate': '' });
    world.clock.jump(1_000);
    await world.log.untilPrinted('held');
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'db') });
    const before = upgrades(await world.helmCalls());
    // A delay that began after the jump would pass in real time.
    await world.untilDelayed();
    world.clock.jump(MONITOR_TICK_MS + 60_000);
    await world.log.untilPrinted('held', 2);
    await world.expel('gate');
    await world.passDelay();
    await world.log.untilMessage('ModuleRun success, module is ready', 4);
    expect(await world.get('configmaps', 'db')).toBeDefined();
    // web and db got the changed global values; no monitor asked for a further run.
    expect(upgrades(await world.helmCalls()) - before).toBe(2);
    expect(await metrics(world)).not.toContain('modules_absent_resources_total{module="db"');
  });

  test('changed global values start helm only for charts that may read them', async () => {
    await using world = await World.create(backend(), {
      modules: {
        ...BOTH,
        '002-db/templates/config-map.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {size: {{ .Values.db.size | default 1 | quote }}}\n',
      },
      config: { global: 'mode: old' },
    });
    await world.converge();
    await world.daemon.operator.router.main.untilEmpty();
    const before = (await world.helmCalls()).length;
    await world.putConfig({ global: 'mode: new' });
    await world.log.untilMessage('ConvergeModules task done', 2);
    const calls = (await world.helmCalls()).slice(before);
    expect(calls.map((call) => / (web|db) /.exec(call)?.[1])).toEqual(['web']);
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { global: '{"mode":"new"}' } });
  });

  test('a helm that hangs is stopped at its limit, and the module is deployed after the back-off', async () => {
    await using world = await World.create(backend(), {
      modules: { 'values.yaml': enabled('web'), ...WEB },
      flags: { 'helm-timeout': '1s' },
    });
    const hanging =
      '#!/bin/sh\n[ "$1" = version ] && { echo v3.17.3; exit 0; }\necho hangs >>"$WORLD/hangs"; exec sleep 100000\n';
    await world.write('modules', { '../helm': hanging });
    await world.start();
    await vi.waitFor(() => readFile(join(world.directory, 'hangs')), WAIT);
    await world.write('modules', { '../helm': realHelm(world) });
    await world.clock.passSleep(HELM_LIMIT_MS);
    await world.untilDelayed();
    expect(messages(world)).not.toContain('helm failed, retrying once');
    const failure = world.log.records.find(({ msg }) => String(msg).startsWith('ModuleRun failed'));
    expect(String(failure?.['error'])).toMatch(
      /"web": run helm install: helm did not end within 5m3s\n.*API server responds.*--helm-timeout/,
    );
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(await releases(world)).toEqual(['web 1 deployed']);
  });

  test('parallel modules share the helm processes that --helm-parallel allows', async () => {
    const meetings = async (helmParallel: string, patience: number): Promise<string[]> => {
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': enabled('web', 'db'),
          ...WEB,
          ...under('001-db', configMapChart('db', 'db')),
        },
        flags: { 'parallel-modules': 'true', 'helm-parallel': helmParallel },
      });
      await world.write('modules', { '../helm': helmThatMeets(world, patience) });
      await world.converge();
      return (await readFile(join(world.directory, 'met'), 'utf8')).trim().split('\n');
    };
    expect(await meetings('1', 5)).toEqual(['alone', 'alone']);
    expect(await meetings('2', 300)).toEqual(['met', 'met']);
  });

  test('a missing helm binary is named, and the module continues when it is back', async () => {
    await using world = await World.create(backend(), { modules: WEB, config: {} });
    await world.converge();
    await world.expel('helm');
    await world.putConfig({ webEnabled: 'true' });
    await world.untilDelayed();
    const failure = world.log.records.find(({ msg }) => String(msg).startsWith('ModuleRun failed'));
    expect(String(failure?.['error'])).toContain(join(world.directory, 'helm'));
    await world.write('modules', { '../helm': realHelm(world) });
    await world.passDelay();
    await world.log.untilMessage('ModuleRun success, module is ready');
    expect(await releases(world)).toEqual(['web 1 deployed']);
  });

  test('a chart that fails to render is named with template, line and the missing value', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': enabled('web'),
        ...WEB,
        '001-web/templates/broken.yaml': '\n\na: {{ .Values.web.ingress.host }}\n',
      },
    });
    await world.start();
    await world.untilDelayed();
    const failure = world.log.records.find(({ msg }) => String(msg).startsWith('ModuleRun failed'));
    expect(String(failure?.['error'])).toMatch(
      /run helm install: .*templates\/broken\.yaml:3.*<\.Values\.web\.ingress\.host>/s,
    );
    expect(await releases(world)).toEqual([]);
    await world.write('modules', { '001-web/templates/broken.yaml': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
  });
});

function enabled(...keys: readonly string[]): string {
  return keys.map((key) => `${key}Enabled: true\n`).join('');
}
