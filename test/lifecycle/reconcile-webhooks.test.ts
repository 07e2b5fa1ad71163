import { describe, expect, test, vi } from 'vitest';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { extend, host } from '../support/extension-world.ts';
import { sendGigabyte } from '../support/hook-server.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import {
  hookSection,
  type ModuleHookBehaviour,
  refuse,
  responseText,
  startModuleHookServer,
} from '../support/module-hook-server.ts';
import { type Backend, World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const PRE_RECONCILE = ['pre-reconcile'];
/** Data of a ConfigMap that YAML would take for something else, or not at all. */
const ODD = { number: '12345678901234567890', text: 'a\u007F\u0085b\u009F \u2028\uFEFF\u0001\n😀' };
const NOTHING: ModuleHookBehaviour = () => ({});

/** A module `web` with one ConfigMap, and this `module.yaml`. */
function web(manifest: string, more: FileTree = {}): FileTree {
  return {
    'values.yaml': 'webEnabled: true\n',
    ...under('001-web', { ...configMapChart('web', 'web'), 'module.yaml': manifest, ...more }),
  };
}

function lastErrorOf(world: World): string {
  return world.daemon.operator.router.main.entries[0]?.lastError ?? '';
}

/** The error of a run in which the webhook behaves so, and the ConfigMap of the chart after a retry with a good response. */
async function errorAndRetry(backend: Backend, behaviour: ModuleHookBehaviour): Promise<[string, unknown]> {
  await using server = await startModuleHookServer(behaviour);
  await using world = await World.create(backend, {
    modules: web(hookSection(server.url, PRE_RECONCILE)),
  });
  await world.start();
  await world.untilDelayed();
  const error = lastErrorOf(world);
  server.responseWith(NOTHING);
  await world.passDelay();
  await world.daemon.firstConverge;
  return [error, await world.get('configmaps', 'web')];
}

/** Servers that modules name in `module.yaml`. */
describeLifecycle((backend) => {
  describe('the reconcile webhook of a module', () => {
    test('is called before anything is applied, with exactly the fields of the hooks API', async () => {
      const there: unknown[] = [];
      await using server = await startModuleHookServer(async () => {
        there.push(await world.get('configmaps', 'web'));
        return {};
      });
      await using world = await World.create(backend(), {
        modules: web(hookSection(`${server.url}/v1`, PRE_RECONCILE)),
      });
      await world.converge();
      expect(there).toEqual([undefined]);
      expect(server.requests[0]).toMatchObject({
        method: 'POST',
        path: '/v1',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
      });
      const key = `ConfigMap/${world.namespace}/web`;
      expect(server.bodies).toEqual([
        {
          formFactor: 'deployment',
          phase: 'pre-reconcile',
          object: {
            apiVersion: 'addon-operator.io/v1alpha1',
            kind: 'Module',
            metadata: { name: 'web' },
            status: expect.objectContaining({ phase: 'Progressing' }),
          },
          children: {
            [key]: expect.objectContaining({
              kind: 'ConfigMap',
              metadata: { name: 'web', namespace: world.namespace },
            }),
          },
        },
      ]);
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('changes, adds and removes objects, and its response is applied as it is', async () => {
      const map = (name: string, data: object) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data,
      });
      await using server = await startModuleHookServer(({ children }) => ({
        children: {
          ...Object.fromEntries(
            Object.entries(children)
              .filter(([key]) => !key.endsWith('/dropped'))
              .map(([key, child]) => [key, { ...child, data: { by: 'hook' } }]),
          ),
          added: map('added', ODD),
        },
      }));
      const dropped = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dropped}\n';
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE), { 'templates/dropped.yaml': dropped }),
      });
      await world.converge();
      expect(Object.keys(server.bodies[0]?.children ?? {})).toEqual(
        expect.arrayContaining(['ConfigMap/dropped', `ConfigMap/${world.namespace}/web`]),
      );
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { by: 'hook' } });
      expect(await world.get('configmaps', 'added')).toMatchObject({ data: ODD });
      expect(await world.get('configmaps', 'dropped')).toBeUndefined();
      server.responseWith(NOTHING);
      await world.putConfig({ web: 'a: 1\n' });
      await world.log.untilMessage('ModuleRun success, module is ready', 2);
      expect(await world.get('configmaps', 'dropped')).toBeDefined();
      expect(await world.get('configmaps', 'added')).toBeUndefined();
    });

    test('is called in every run, and helm applies only what then differs', async () => {
      let color = 'red';
      await using server = await startModuleHookServer(({ children }) => ({
        children: Object.fromEntries(
          Object.entries(children).map(([key, child]) => [key, { ...child, data: { color } }]),
        ),
      }));
      const tick = shHook('schedule: [{name: tick, crontab: "0 0 * * * *"}]', 'exit 0');
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE), { 'hooks/tick.sh': tick }),
      });
      await world.converge();
      const { operator } = world.daemon;
      const run = async (): Promise<number | undefined> => {
        const [module] = operator.registry.modules;
        if (module === undefined) throw new Error('there is no module');
        const before = server.bodies.length;
        operator.router.queueModuleRun(module.name, 'test');
        await operator.router.main.untilEmpty();
        expect(server.bodies).toHaveLength(before + 1);
        return operator.registry.tracked.get(module.name)?.release.deployed?.revision;
      };
      expect(await run()).toBe(1);
      color = 'blue';
      expect(await run()).toBe(2);
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { color: 'blue' } });
      expect(await run()).toBe(2);
    });

    test('of a module without a chart is called too, and cannot have anything applied', async () => {
      await using server = await startModuleHookServer(NOTHING);
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\n',
          '001-web/module.yaml': hookSection(server.url, PRE_RECONCILE),
        },
      });
      await world.converge();
      expect(server.bodies).toMatchObject([{ phase: 'pre-reconcile', children: {} }]);
      const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } };
      server.responseWith(() => ({ children: { child } }));
      await world.putConfig({ web: 'a: 1\n' });
      await world.untilDelayed();
      expect(lastErrorOf(world)).toContain('a module without a chart has no release');
      expect(await world.get('configmaps', 'made')).toBeUndefined();
    });

    test.each<[string, ModuleHookBehaviour, RegExp]>([
      [
        'gives a child of a kind that the cluster does not know',
        () => ({
          children: { a: { apiVersion: 'example.com/v1', kind: 'Nonsense', metadata: { name: 'a' } } },
        }),
        /no matches for kind "Nonsense"[^]*The objects come from the response of the reconcile webhook of module 'web', pre-reconcile\./,
      ],
      [
        'gives a child that the API server refuses',
        () => ({
          children: { a: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name' } } },
        }),
        /Not A Name/,
      ],
    ])(
      'that %s fails as a whole, is retried, and the daemon continues',
      async (_case, behaviour, expected) => {
        const [error, deployed] = await errorAndRetry(backend(), behaviour);
        expect(error).toMatch(expected);
        expect(deployed).toBeDefined();
      },
    );
  });
});

describeApiIndependent((backend) => {
  describe('the reconcile webhook of a module', () => {
    test.each<[string, ModuleHookBehaviour]>([
      ['no body', responseText(200, 'text/plain', '')],
      ['neither object nor children', () => ({})],
      ['both empty', () => ({ object: {}, children: {} })],
      ['both null', () => ({ object: null, children: null })],
    ])('that responds with %s changes nothing', async (_case, behaviour) => {
      await using server = await startModuleHookServer(behaviour);
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE)),
      });
      await world.converge();
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { values: '{}' } });
    });

    test.each<[string, ModuleHookBehaviour, RegExp]>([
      [
        'answers with 1 GB',
        (_body, response) => {
          sendGigabyte({} as never, {} as never, response);
          return undefined;
        },
        /: the response is larger than 10485760 bytes; the rest was not read$/,
      ],
      [
        'answers with HTML',
        responseText(200, 'text/html', '<html>\n<title>Log in</title>'),
        /: its response is not JSON \(text\/html\): <html> <title>Log in<\/title>$/,
      ],
      [
        'fails with HTML',
        responseText(502, 'text/html', '<h1>Bad gateway</h1>'),
        /: it responded with status 502: <h1>Bad gateway<\/h1>$/,
      ],
      [
        'redirects',
        responseText(307, 'text/plain', '', { location: 'http://127.0.0.1:1/elsewhere' }),
        /: it responded with a redirect to http:\/\/127\.0\.0\.1:1\/elsewhere \(status 307\), which is not followed/,
      ],
      [
        'gives the object of another name',
        ({ object }) => ({ object: { ...object, metadata: { name: 'other' } }, children: {} }),
        /: object in its response has a different name than the request: "other"$/,
      ],
      [
        'gives children that are no objects',
        () => ({ children: { a: { kind: 'ConfigMap' } } }),
        /: children in its response cannot be applied: "a" has no apiVersion, "a" has no metadata\.name$/,
      ],
      [
        'hangs up',
        (_body, response) => {
          response.destroy();
          return undefined;
        },
        /: socket hang up$/,
      ],
    ])(
      'that %s fails as a whole, is retried, and the daemon continues',
      async (_case, behaviour, expected) => {
        const [error, deployed] = await errorAndRetry(backend(), behaviour);
        expect(error).toMatch(expected);
        expect(deployed).toBeDefined();
      },
    );

    test('gets the form factor ksvc when the chart has a Knative Service', async () => {
      const ksvc = 'apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web}\n';
      await using server = await startModuleHookServer(({ children }) => ({
        children: Object.fromEntries(Object.entries(children).filter(([key]) => !key.includes('knative'))),
      }));
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE), { 'templates/ksvc.yaml': ksvc }),
      });
      await world.converge();
      expect(server.bodies).toMatchObject([
        {
          formFactor: 'ksvc',
          children: { 'Service.serving.knative.dev/web': { kind: 'Service' } },
        },
      ]);
    });

    test('that returns an error is called again after a while, and nothing is applied until it succeeds', async () => {
      await using server = await startModuleHookServer(refuse({ message: 'no disk' }));
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE)),
      });
      await world.start();
      await world.untilDelayed();
      expect(lastErrorOf(world)).toBe(
        `reconcile webhook of module 'web', pre-reconcile failed: POST ${server.url}/: it responded with status 500: no disk`,
      );
      expect(server.bodies).toHaveLength(1);
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      server.responseWith(NOTHING);
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('that returns a permanent error is not called again until something changes, and other modules continue', async () => {
      await using server = await startModuleHookServer(
        refuse({ message: 'wrong plan', permanent: true }, 422),
      );
      await using world = await World.create(backend(), {
        modules: {
          ...web(hookSection(server.url, PRE_RECONCILE)),
          'values.yaml': 'webEnabled: true\nlastEnabled: true\n',
          ...under('002-last', configMapChart('last', 'last')),
        },
      });
      await world.converge();
      await world.daemon.operator.router.main.untilEmpty();
      expect(server.bodies).toHaveLength(1);
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      expect(await world.get('configmaps', 'last')).toBeDefined();
      server.responseWith(NOTHING);
      await world.putConfig({ web: 'plan: right\n' });
      await vi.waitFor(async () => expect(await world.get('configmaps', 'web')).toBeDefined(), 60_000);
    });

    test('that returns an error with continue is skipped for this run', async () => {
      await using server = await startModuleHookServer(refuse({ message: 'later', continue: true }));
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE)),
      });
      await world.converge();
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { values: '{}' } });
      expect(world.log.records).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          module: 'web',
          error: 'it responded with status 500: later',
          msg: 'reconcile webhook failed; the module continues without it',
        }),
      );
    });

    test('that is slow is aborted at its timeout, and called again', async () => {
      await using server = await startModuleHookServer(() => undefined);
      await using world = await World.create(backend(), {
        modules: web(hookSection(server.url, PRE_RECONCILE, '  timeout: PT7.5S\n')),
      });
      await world.start();
      await vi.waitFor(() => expect(server.bodies).toHaveLength(1), 60_000);
      await world.clock.passSleep(7_500);
      await world.untilDelayed();
      expect(lastErrorOf(world)).toBe(
        `reconcile webhook of module 'web', pre-reconcile got no response within 7.5 s: POST ${server.url}/`,
      );
      server.responseWith(NOTHING);
      await world.passDelay();
      await world.daemon.firstConverge;
    });

    test('whose server is unavailable is called again until it is back, and no content of a Secret is logged', async () => {
      const gone = await startModuleHookServer(NOTHING, (await freePorts(1))[0]);
      await using server = await startModuleHookServer(() => ({ children: [] }));
      await gone.stop();
      const secret =
        'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {token: correct-horse}\n';
      await using world = await World.create(backend(), {
        flags: { 'watch-files': 'true' },
        modules: web(hookSection(gone.url, PRE_RECONCILE), { 'templates/secret.yaml': secret }),
      });
      await world.start();
      await world.untilDelayed();
      expect(lastErrorOf(world)).toMatch(
        /^reconcile webhook of module 'web', pre-reconcile failed: POST .*ECONNREFUSED/,
      );
      await world.log.untilMessage('watching files for changes');
      await world.write('modules', { '001-web/module.yaml': hookSection(server.url, PRE_RECONCILE) });
      await vi.waitFor(() => expect(JSON.stringify(server.bodies[0])).toContain('correct-horse'), 60_000);
      await vi.waitFor(
        () => expect(lastErrorOf(world)).toMatch(/children in its response is not an object/),
        20_000,
      );
      expect(world.log.dump()).not.toContain('correct-horse');
    });

    test('is not called for a plan, which says that it would be called', async () => {
      await using server = await startModuleHookServer(NOTHING);
      await using world = await World.create(backend(), {
        modules: web(hookSection(`${server.url}/v1?token=x`, ['pre-reconcile', 'finalize'])),
        config: {},
      });
      const byExtension =
        'const object = await next(input); return { ...object, data: { by: "extension" } };';
      await extend(world, { 'core/config-map.ts': host('modifyManifest', byExtension) });
      const first = await runInWorld(world, 'plan');
      expect(first.stdout).toContain(`hooks: HTTP hook ${server.url}/v1 (pre-reconcile)\n`);
      expect(first.stdout).toContain(
        'the reconcile webhook of the module decides the following; a plan does not call it',
      );
      expect(first.stdout).toContain('+ web: install');
      expect(first.stdout).toContain('by: extension');
      expect(server.bodies).toEqual([]);
      await world.converge();
      const { stdout: rendered } = await runInWorld(world, 'module', 'render', 'web');
      expect(rendered).toMatch(
        /^# The reconcile webhook of the module would be called .*\n---\n.*"by": "extension"/,
      );
      expect(server.phases()).toEqual(['pre-reconcile']);
      await world.stop();
      await world.putConfig({ webEnabled: 'false' });
      const last = await runInWorld(world, 'plan');
      expect(last.stdout).toContain('- web: delete');
      expect(last.stdout).toContain(`hooks: HTTP hook ${server.url}/v1 (finalize)\n`);
      expect(server.phases()).toEqual(['pre-reconcile']);
    });

    test('that is misconfigured holds its module, and the message names all mistakes', async () => {
      const manifest =
        'hook: {version: 1, address: {uri: web}, timeout: 5s, capabilities: [pre-reconcile]}\n';
      await using world = await World.create(backend(), { modules: web(manifest) });
      await world.converge();
      const { stdout } = await runInWorld(world, 'explain', 'module', 'web');
      expect(stdout).toMatch(
        /001-web\/module\.yaml: hook\.version: expected v1.*hook\.address\.uri: .*hook\.timeout: expected an ISO 8601/s,
      );
    });
  });
});
