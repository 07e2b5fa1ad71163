import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
import { describe, expect, test, vi } from 'vitest';
import type { ModuleName } from '../../src/values/module-key.ts';
import { contextHook, contextsOf } from '../support/context-hook.ts';
import { startHookServer } from '../support/hook-server.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const READY = 'ModuleRun success, module is ready';
const FAILED = 'Deploy hook failed, the deploy continues';
/** For hooks of a deploy where neither the hook nor the settings have a limit. */
const LIMIT_MS = 300_000;
const BINDINGS = `${DEPLOY_BINDINGS.join(': 1\n')}: 1`;

/**
 * A global hook of all bindings that prints its name, the binding and the attempt. It waits while there is a file
 * `hold-<binding>`, and fails while there is a file `fail-<binding>`.
 */
function watcher(name: string, body = ''): string {
  return shHook(
    BINDINGS,
    `
binding=$(sed -E 's/.*"binding":"([A-Za-z]+)".*/\\1/' "$BINDING_CONTEXT_PATH")
echo "${name} $binding $(sed -nE 's/.*"attempt":([0-9]+).*/\\1/p' "$BINDING_CONTEXT_PATH")"
${body}
while [ -e "$WORLD/hold-$binding" ]; do sleep 0.05; done
[ ! -e "$WORLD/fail-$binding" ] || exit 1`,
  );
}

const MODULE_HOOK = announcer('web', {
  onStartup: 1,
  beforeHelm: 1,
  afterHelm: 1,
  beforeDeleteHelm: 1,
  afterDeleteHelm: 1,
});
const CHART = under('001-web', configMapChart('web', 'web'));
const WEB: FileTree = { ...CHART, '001-web/hooks/hook.sh': MODULE_HOOK, '001-web/values.yaml': 'web: {}\n' };
const ON = { webEnabled: 'true' };

/** Color of the ConfigMap in the cluster, and status of the revisions of the release. */
async function inCluster(world: World): Promise<string> {
  const map = (await world.get('configmaps', 'web')) as { data?: { values: string } } | undefined;
  const { color } = JSON.parse(map?.data?.values ?? '{}') as { color?: string };
  const list = await world.expect({ path: `${world.path('secrets')}?labelSelector=owner%3Dhelm` });
  const releases = (list as { items: { metadata: { labels: Record<string, string> } }[] }).items.map(
    ({ metadata: { labels } }) => `${labels['version']} ${labels['status']}`,
  );
  return [color ?? 'absent', ...releases.toSorted()].join(', ');
}

/** Lets a hook that waits at a binding go on. */
async function release(world: World, binding: string): Promise<void> {
  await world.expel(`hold-${binding}`);
}

async function operatorMetrics(world: World): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
}

describeLifecycle((backend) => {
  describe('deploy hooks', () => {
    test('run in their order, while the old release runs until helm replaces it', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: WEB,
        config: { ...ON, web: 'color: blue\n' },
      });
      await world.converge();
      expect(world.log.printed).toEqual([
        'web onStartup',
        'a beforeInstall 1',
        'web beforeHelm',
        'a afterInstall 1',
        'a beforeLaunch 1',
        'a afterLaunch 1',
        'web afterHelm',
      ]);
      const holds = ['beforeInstall', 'afterInstall', 'beforeLaunch', 'afterLaunch'];
      await world.write('modules', Object.fromEntries(holds.map((binding) => [`../hold-${binding}`, ''])));
      await world.putConfig({ ...ON, web: 'color: red\n' });
      for (const binding of holds.slice(0, 3)) {
        await world.log.untilPrinted(`a ${binding} 1`, 2);
        expect(await inCluster(world)).toBe('blue, 1 deployed');
        await release(world, binding);
      }
      await world.log.untilPrinted('a afterLaunch 1', 2);
      expect(await inCluster(world)).toBe('red, 1 superseded, 2 deployed');
      await release(world, 'afterLaunch');
      await world.log.untilMessage(READY, 2);
      expect(world.log.printed.slice(7)).toEqual([
        'a beforeInstall 1',
        'web beforeHelm',
        'a afterInstall 1',
        'a beforeLaunch 1',
        'a afterLaunch 1',
        'web afterHelm',
      ]);
    });

    test('run for a removal when the objects are deleted and the files still exist', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: { ...WEB, '../hold-beforeUninstall': '' },
        config: { ...ON, web: 'color: blue\n' },
      });
      await world.converge();
      const before = world.log.printed.length;
      await world.putConfig({ webEnabled: 'false' });
      await world.log.untilPrinted('a beforeUninstall 1');
      expect(await inCluster(world)).toBe('absent');
      await access(join(world.directory, 'modules/001-web/Chart.yaml'));
      await release(world, 'beforeUninstall');
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      expect(world.log.printed.slice(before)).toEqual([
        'web beforeDeleteHelm',
        'a beforeUninstall 1',
        'web afterDeleteHelm',
      ]);
    });

    test('run when a release without a module is removed', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': contextHook({ beforeUninstall: 1 }) },
        modules: WEB,
        config: { ...ON, web: 'color: blue\n' },
        flags: { 'allow-empty-modules-dir': 'true' },
      });
      await world.converge();
      await world.stop();
      await rm(join(world.directory, 'modules/001-web'), { recursive: true });
      await world.converge();
      await world.log.untilMessage('Release without a module is removed');
      expect(contextsOf(world.log, 'a.sh')).toEqual([
        [
          {
            binding: 'beforeUninstall',
            module: { name: 'web' },
            release: { previousRevision: 1 },
            attempt: 1,
            snapshots: {},
          },
        ],
      ]);
    });

    test('are shown in the Module object when they fail', async () => {
      const name = `m${Array.from({ length: 8 }, () => 'abcdefgh'.charAt(Math.random() * 8)).join('')}`;
      const path = `/apis/addon-operator.io/v1alpha1/modules/${name}`;
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('afterLaunch: 1', 'echo no chat >&2; exit 1') },
        modules: {
          'values.yaml': `${name}Enabled: true\n`,
          ...under(`001-${name}`, configMapChart(name, name)),
        },
        flags: { 'module-objects': 'true' },
      });
      await world.converge();
      const error = "global hook 'a.sh' failed: no chat";
      await vi.waitFor(async () => {
        expect(await world.expect({ path })).toMatchObject({
          status: { phase: 'Succeeded', hookRuns: [{ hook: 'a.sh', binding: 'afterLaunch', error }] },
        });
        const events = await world.expect({ path: '/api/v1/namespaces/default/events' });
        expect((events as { items: readonly object[] }).items).toContainEqual(
          expect.objectContaining({
            involvedObject: expect.objectContaining({ name }),
            reason: 'HookFailed',
            message: `afterLaunch: ${error}`,
          }),
        );
      }, WAIT);
      await world.stop();
      await world.backend.request({ method: 'DELETE', path });
    });

    test('do not block a release whose manifests only helm can parse', async () => {
      const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: first\n  a: second\n';
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: {
          'values.yaml': 'webEnabled: true\n',
          ...CHART,
          '001-web/templates/config-map.yaml': map,
        },
      });
      await world.converge();
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { a: 'second' } });
      expect(world.log.printed.at(-1)).toBe('a afterLaunch 1');
    });

    test('may change objects and metrics, and no values', async () => {
      const operation = `{operation: CreateOrUpdate, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: note, namespace: $NAMESPACE}}}`;
      const patch = '{"op": "add", "path": "/global/color", "value": "red"}';
      await using world = await World.create(backend(), {
        globalHooks: {
          'notes.sh': shHook(
            'afterLaunch: 1',
            `echo "${operation}" >"$KUBERNETES_PATCH_PATH"
echo '{"name": "deploys_seen", "action": "add", "value": 1}' >"$METRICS_PATH"`,
          ),
          'values.sh': shHook('afterLaunch: 2', `echo '${patch}' >"$VALUES_JSON_PATCH_PATH"`),
        },
        modules: WEB,
        config: ON,
      });
      await world.converge();
      expect(await world.get('configmaps', 'note')).toBeDefined();
      const page = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
      expect(await page.text()).toContain('deploys_seen{hook="notes.sh"} 1');
      expect(world.daemon.built.configuration.values.values('global')).not.toHaveProperty('color');
      expect(world.log.records.find(({ msg }) => msg === FAILED)?.['error']).toContain(
        "global hook 'values.sh': it changes values, which is not allowed for afterLaunch",
      );
    });
  });
});

describeApiIndependent((backend) => {
  describe('deploy hooks', () => {
    test('run before each run of a module, and the others only when helm has something to do', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: WEB,
        config: { ...ON, web: 'color: blue\n' },
      });
      await world.converge();
      const before = world.log.printed.length;
      world.daemon.operator.router.queueModuleRun('web' as ModuleName, 'test');
      await world.log.untilMessage(READY, 2);
      expect(world.log.printed.slice(before)).toEqual([
        'a beforeInstall 1',
        'web beforeHelm',
        'web afterHelm',
      ]);
      expect(await inCluster(world)).toBe('blue, 1 deployed');
    });

    test('begin again at beforeInstall when rendering or applying fails', async () => {
      const broken = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: {b: c}}\n';
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: {
          'values.yaml': 'webEnabled: true\n',
          ...CHART,
          '001-web/templates/config-map.yaml': '{{ fail "not yet" }}\n',
        },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.log.printed).toEqual(['a beforeInstall 1']);
      expect(await world.helmCalls()).toHaveLength(1);
      await world.write('modules', { '001-web/templates/config-map.yaml': broken });
      await world.passDelay();
      await world.log.until(
        (records) => records.filter(({ msg }) => msg === 'attempt failed, will retry').length === 2,
      );
      expect(world.log.printed.slice(1)).toEqual([
        'a beforeInstall 2',
        'a afterInstall 2',
        'a beforeLaunch 2',
      ]);
      await world.write('modules', CHART);
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(world.log.printed.slice(4)).toEqual([
        'a beforeInstall 3',
        'a afterInstall 3',
        'a beforeLaunch 3',
        'a afterLaunch 3',
      ]);
    });

    test('run for one deployment of a module at a time, however many are requested at once', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a') },
        modules: { ...WEB, '../hold-beforeLaunch': '' },
        config: { ...ON, web: 'color: blue\n' },
      });
      await world.start();
      await world.log.untilPrinted('a beforeLaunch 1');
      const { operator } = world.daemon;
      for (const queue of ['one', 'two'])
        operator.queues.get(queue).append(operator.router.moduleRun('web' as ModuleName, 'test'));
      const isRepeating = () =>
        ['one', 'two'].every((queue) => operator.queues.get(queue).status.type === 'repeating');
      await vi.waitFor(() => expect(isRepeating()).toBe(true), WAIT);
      expect(world.log.printed.filter((line) => line.startsWith('a '))).toHaveLength(3);
      await release(world, 'beforeLaunch');
      await world.log.untilMessage(READY, 3);
      const deploys = world.log.printed.filter((line) => line !== 'web onStartup');
      const run = ['a beforeInstall 1', 'web beforeHelm', 'web afterHelm'];
      expect(deploys).toEqual([
        'a beforeInstall 1',
        'web beforeHelm',
        'a afterInstall 1',
        'a beforeLaunch 1',
        'a afterLaunch 1',
        'web afterHelm',
        ...run,
        ...run,
      ]);
    });

    test('cannot cancel or delay a deploy by failing, and their failures are logged and counted', async () => {
      const failures = DEPLOY_BINDINGS.map((binding) => [`../fail-${binding}`, '']);
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': watcher('a'), 'b.sh': watcher('b') },
        modules: { ...WEB, ...Object.fromEntries(failures) },
        config: { ...ON, web: 'color: blue\n' },
      });
      await world.converge();
      expect(await inCluster(world)).toBe('blue, 1 deployed');
      expect(world.log.records.some(({ msg }) => msg === 'attempt failed, will retry')).toBe(false);
      await world.putConfig({ webEnabled: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      const reported = world.log.records.filter(({ msg }) => msg === FAILED);
      expect(reported.map(({ hook, binding }) => `${String(hook)} ${String(binding)}`)).toEqual(
        DEPLOY_BINDINGS.filter((binding) => binding !== 'afterAuthFail').flatMap((binding) => [
          `a.sh ${binding}`,
          `b.sh ${binding}`,
        ]),
      );
      expect(reported[0]).toMatchObject({ level: 'error', module: 'web', exitCode: 1 });
      expect(await operatorMetrics(world)).toMatch(
        /global_hook_allowed_errors_total\{[^}]*hook="a.sh"[^}]*binding="afterLaunch"[^}]*\} 1/,
      );
    });

    test('are ended after five minutes when they hang and no other limit is set', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'a.sh': shHook('afterInstall: 1', 'echo hangs; sleep 100000') },
        modules: WEB,
        config: ON,
      });
      await world.start();
      await world.log.untilPrinted('hangs');
      world.clock.jump(LIMIT_MS);
      await world.daemon.firstConverge;
      expect(world.log.records.find(({ msg }) => msg === FAILED)?.['error']).toContain(
        "global hook 'a.sh' was stopped: it ran longer than its limit of 300 s",
      );
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('are rejected in a module hook', async () => {
      await using world = await World.create(backend(), {
        modules: { ...WEB, '001-web/hooks/hook.sh': shHook('beforeInstall: 1', 'true') },
        config: ON,
      });
      await world.start();
      await world.untilDelayed();
      expect(
        world.log.records.find(({ msg }) => String(msg).startsWith('ModuleRun failed'))?.['error'],
      ).toContain('.beforeInstall is a forbidden property');
      expect(world.log.dump()).toContain('only global hooks have this binding');
    });

    test('get the same contexts on all transports: module, release, attempt and snapshots', async () => {
      await using server = await startHookServer(() => ({}));
      const config = { beforeInstall: 1, afterLaunch: 1 };
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': contextHook(config),
          'b.ts': `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ beforeInstall: 1, afterLaunch: 1 }, ({ contexts }) => {
  for (const context of contexts)
    if (context.binding === 'afterLaunch') console.log('b.ts', JSON.stringify([context]), context.release.revision);
});
`,
          'c.http.yaml': `address: ${server.url}/\nbeforeInstall: 1\nafterLaunch: 1\n`,
        },
        modules: { ...WEB, '001-web/module.yaml': 'version: 1.2.3\n' },
        config: ON,
      });
      await world.converge();
      const facts = {
        module: { name: 'web', path: join(world.directory, 'modules/001-web'), version: '1.2.3' },
        release: { previousRevision: 0 },
        attempt: 1,
        snapshots: {},
      };
      const launched = { ...facts, binding: 'afterLaunch', release: { previousRevision: 0, revision: 1 } };
      expect(contextsOf(world.log, 'a.sh')).toEqual([[{ ...facts, binding: 'beforeInstall' }], [launched]]);
      expect(server.bodies.map(({ contexts }) => contexts)).toEqual([
        [{ ...facts, binding: 'beforeInstall' }],
        [launched],
      ]);
      const line = world.log.printed.find((text) => text.startsWith('b.ts ')) ?? '';
      expect(line).toMatch(/ 1$/);
      expect(JSON.parse(line.slice(5, -2))).toEqual([launched]);
    });
  });
});
