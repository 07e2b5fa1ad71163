import { describe, expect, test } from 'vitest';
import { type HookResponse, sendGigabyte, sendText, startHookServer } from '../support/hook-server.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { responseJson } from '../support/loopback-server.ts';
import { untilTasks } from '../support/until-tasks.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

async function hookMetrics(world: World): Promise<string> {
  return (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`)).text();
}

const NOTHING: HookResponse = () => ({});
/** An address where nothing listens, and that no server is given in the meantime. */
const NOBODY = 'http://127.0.0.1:1';
const WEB = { 'values.yaml': 'webEnabled: true\n' };

/** Hooks that are servers: they do and get what executables do and get. */
describeLifecycle((backend) => {
  describe('an HTTP hook', () => {
    test('gets values and config values, and its response is applied like files', async () => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: '' } };
      await using server = await startHookServer(() => ({
        valuesPatch: [{ op: 'add', path: '/web/memory', value: [2] }],
        configValuesPatch: [{ op: 'add', path: '/web/saved', value: { by: 'hook' } }],
        metrics: [{ name: 'server_wrote', action: 'set', value: 2, labels: { a: 'b' } }],
        kubernetesPatch: [{ operation: 'CreateOrUpdate', object }],
      }));
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\nweb: { replicas: 1 }\n',
          '001-web/hooks/a.http.yaml': `address: ${server.url}/\nbeforeHelm: 1\n`,
          '001-web/hooks/b.sh': shHook('beforeHelm: 2', 'echo "sh: $(cat "$VALUES_PATH")"'),
          ...under('001-web', configMapChart('web', 'web')),
        },
        config: { web: 'replicas: 2\n' },
      });
      object.metadata.namespace = world.namespace;
      await world.converge();
      const values = { global: { enabledModules: ['web'] }, web: { replicas: 2 } };
      expect(server.bodies[0]).toMatchObject({
        values,
        configValues: { global: null, web: { replicas: 2 } },
      });
      expect(JSON.parse(world.log.printed[0]?.replace(/^sh: /, '') ?? '')).toEqual({
        ...values,
        web: { replicas: 2, memory: [2], saved: { by: 'hook' } },
      });
      expect(await hookMetrics(world)).toContain(
        'server_wrote{a="b",hook="hooks/a.http.yaml",module="web"} 2',
      );
      expect(await world.get('configmaps', 'made')).toBeDefined();
      expect(await world.get('configmaps', 'addon-operator')).toMatchObject({
        data: { web: 'replicas: 2\nsaved:\n    by: hook\n' },
      });
    });

    test('gets the contexts of events, snapshots and schedules that an executable gets', async () => {
      await using server = await startHookServer(NOTHING);
      await using world = await World.create(backend(), {});
      const yaml = `schedule: [{name: tick, crontab: '@every 1h', includeSnapshotsFrom: [maps]}]
kubernetes:
- name: maps
  apiVersion: v1
  kind: ConfigMap
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  nameSelector: {matchNames: [one]}
  jqFilter: .data
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [maps]`;
      await world.write('global-hooks', {
        'a.sh': shHook(yaml, 'echo "$(cat "$BINDING_CONTEXT_PATH")"'),
        'b.http.yaml': `address: ${server.url}/\n${yaml}\n`,
      });
      await world.converge();
      await world.create('configmaps', {
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: { a: '1' },
      } as never);
      // The jump is longer than the time limit of a request whose response is on its way.
      await world.log.untilMessage('hook finished', 4);
      world.clock.jump(3_600_000);
      await world.log.until(() => world.log.printed.length === 3 && server.bodies.length === 3);
      const printed = world.log.printed.map((line) => JSON.parse(line) as unknown);
      expect(server.bodies.map(({ contexts }) => contexts)).toEqual(printed);
      expect(printed[2]).toMatchObject([
        { binding: 'tick', type: 'Schedule', snapshots: { maps: [{ filterResult: { a: '1' } }] } },
      ]);
    });
  });
});

describeApiIndependent((backend) => {
  describe('an HTTP hook', () => {
    test.each<[string, HookResponse, RegExp]>([
      [
        'answers with 1 GB',
        sendGigabyte,
        /: the response is larger than 10485760 bytes; the rest was not read$/,
      ],
      [
        'answers with HTML',
        sendText(200, 'text/html', '<html>\n<title>Log in</title>'),
        /: it responded with text\/html in place of application\/json: <html> <title>Log in<\/title>$/,
      ],
      [
        'redirects',
        sendText(302, 'text/plain', '', { location: 'http://127.0.0.1:1/elsewhere' }),
        /: it responded with a redirect to http:\/\/127\.0\.0\.1:1\/elsewhere \(status 302\), which is not followed/,
      ],
      [
        'answers garbage',
        sendText(200, 'application/json', '{"valuesPatch": ['),
        /: its response is not valid JSON$/,
      ],
      ['says a wrong word', () => ({ values: {} }), /: its response has an unknown field "values"; known: /],
      [
        'patches what is not its own',
        () => ({ valuesPatch: [{ op: 'add', path: '/other/x', value: 1 }], metrics: GOOD }),
        /only 'web' accepted/,
      ],
      [
        'answers a bad metric',
        () => ({ metrics: [...GOOD, { name: 'not a name', set: 1 }] }),
        /is not a metric name/,
      ],
      [
        'wants an unknown object',
        () => ({ kubernetesPatch: [{ operation: 'Delete', kind: '', name: 'x' }], metrics: GOOD }),
        /kubernetes patch/,
      ],
      [
        'hangs up',
        (_body, _request, response) => {
          response.destroy();
          return 'answered';
        },
        /: socket hang up$/,
      ],
    ])('that %s fails as a whole, is retried, and the daemon continues', async (_case, reply, expected) => {
      await using server = await startHookServer(reply);
      await using world = await World.create(backend(), {
        modules: { ...WEB, '001-web/hooks/a.http.yaml': `address: ${server.url}/\nbeforeHelm: 1\n` },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(expected);
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toContain(
        "module hook 'hooks/a.http.yaml'",
      );
      expect(await hookMetrics(world)).not.toContain('good');
      server.responseWith(() => ({ metrics: GOOD }));
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await hookMetrics(world)).toContain('good');
    });

    test('runs for every lifecycle binding, in its order among executables', async () => {
      const seen: string[] = [];
      let printed = (): readonly string[] => [];
      await using server = await startHookServer(({ hook, contexts }) => {
        seen.push(...printed().slice(seen.filter((line) => line.includes('.sh')).length));
        seen.push(`${hook} ${String(contexts[0]?.['binding'])}`);
        return {};
      });
      const httpHook = (bindings: string): string => `address: ${server.url}/\n${bindings}`;
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.sh': announcer('a.sh', { onStartup: 1, afterAll: 2 }),
          'deep/b.http.yaml': httpHook('onStartup: 2\nbeforeAll: 1\nafterAll: 3\n'),
        },
        modules: {
          ...WEB,
          '001-web/hooks/c.http.yaml': httpHook(
            'configVersion: v1\nonStartup: 1\nbeforeHelm: 2\nafterHelm: 1\nbeforeDeleteHelm: 1\nafterDeleteHelm: 2\n',
          ),
          '001-web/hooks/d.sh': announcer('d.sh', { beforeHelm: 1, afterDeleteHelm: 1 }),
          ...under('001-web', configMapChart('web', 'web')),
        },
      });
      printed = () => world.log.printed;
      await world.converge();
      expect(seen).toEqual([
        'a.sh onStartup',
        'deep/b.http.yaml onStartup',
        'deep/b.http.yaml beforeAll',
        'hooks/c.http.yaml onStartup',
        'd.sh beforeHelm',
        'hooks/c.http.yaml beforeHelm',
        'hooks/c.http.yaml afterHelm',
        'a.sh afterAll',
        'deep/b.http.yaml afterAll',
      ]);
      await world.putConfig({ webEnabled: 'false' });
      await world.log.until(() => seen.includes('hooks/c.http.yaml afterDeleteHelm'));
      expect(seen.filter((line) => line.includes('Delete'))).toEqual([
        'hooks/c.http.yaml beforeDeleteHelm',
        'd.sh afterDeleteHelm',
        'hooks/c.http.yaml afterDeleteHelm',
      ]);
      expect(server.bodies.at(-1)).toMatchObject({ version: 'v1', module: 'web' });
    });

    test.each([
      ['a module hook', 'block'],
      ['a module hook that is isolated', 'isolate'],
    ])('%s that fails is retried with the same key, and later runs have another', async (_what, policy) => {
      const failTwice: HookResponse = (_body, _request, response) => {
        if (server.bodies.length > 2) return {};
        responseJson(response, 500, { message: 'not yet' });
        return 'answered';
      };
      await using server = await startHookServer(failTwice);
      await using world = await World.create(backend(), {
        flags: { 'module-failure-policy': policy },
        modules: {
          ...WEB,
          '001-web/hooks/a.http.yaml': `address: ${server.url}/\nbeforeHelm: 1\nafterHelm: 1\n`,
        },
      });
      await world.start();
      const queue = policy === 'isolate' ? 'isolated_web' : 'main';
      for (const count of [1, 2]) {
        await world.log.until(() => server.bodies.length === count);
        await world.passDelay(queue);
      }
      expect(
        world.log.records.filter(({ error }) =>
          String(error).endsWith('it responded with status 500: not yet'),
        ),
      ).not.toEqual([]);
      await world.log.until(() => server.bodies.length === 4);
      const keys = server.headers('idempotency-key');
      expect(new Set(keys.slice(0, 3)).size).toBe(1);
      expect(keys[3]).not.toBe(keys[0]);
      expect(new Set(server.bodies.map(({ runId }) => runId)).size).toBe(4);
      await world.putConfig({ web: 'a: 1\n' });
      await world.log.until(() => server.bodies.length === 6);
      expect(new Set(server.headers('idempotency-key')).size).toBe(4);
    });

    test('of a schedule keeps its key over retries, and each tick has another', async () => {
      await using server = await startHookServer((_body, _request, response) => {
        if (server.bodies.length !== 1) return {};
        responseJson(response, 503, {});
        return 'answered';
      });
      await using world = await World.create(backend(), {
        globalHooks: {
          'a.http.yaml': `address: ${server.url}/\nschedule: [{crontab: '@every 1h', queue: side}]\n`,
        },
      });
      await world.converge();
      world.clock.jump(3_600_000);
      await world.passDelay('side');
      await world.log.until(() => server.bodies.length === 2);
      await world.log.untilMessage('hook finished');
      world.clock.jump(3_600_000);
      await world.log.until(() => server.bodies.length === 3);
      const [first, second, third] = server.headers('idempotency-key');
      expect([second === first, third === first]).toEqual([true, false]);
    });

    test('has another key when new events become part of its run', async () => {
      await using server = await startHookServer((_body, _request, response) => {
        if (server.bodies.length !== 1) return {};
        responseJson(response, 503, {});
        return 'answered';
      });
      await using world = await World.create(backend(), {});
      await world.write('global-hooks', {
        'a.http.yaml': `address: ${server.url}/
kubernetes:
- {kind: Secret, namespace: {nameSelector: {matchNames: [${world.namespace}]}}, queue: side, executeHookOnSynchronization: false}
`,
      });
      await world.converge();
      await world.create('secrets', { metadata: { name: 'one' } });
      await world.untilDelayed('side');
      await world.create('secrets', { metadata: { name: 'two' } });
      await untilTasks(world, 'side', 2);
      await world.passDelay('side');
      await world.log.untilMessage('hook finished');
      expect(server.bodies.map(({ contexts }) => contexts.length)).toEqual([1, 2]);
      expect(new Set(server.headers('idempotency-key')).size).toBe(2);
    });

    test('whose server is unavailable is retried until it is back', async () => {
      await using server = await startHookServer(NOTHING);
      await using world = await World.create(backend(), {
        flags: { 'watch-files': 'true' },
        globalHooks: { 'a.http.yaml': `address: ${NOBODY}/\nbeforeAll: 1\n` },
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(
        /global hook 'a\.http\.yaml' failed: POST http:\/\/127\.0\.0\.1:1\/: connect ECONNREFUSED/,
      );
      await world.log.untilMessage('watching files for changes');
      await world.write('global-hooks', { 'a.http.yaml': `address: ${server.url}/\nbeforeAll: 1\n` });
      await world.daemon.firstConverge;
      expect(server.bodies).toHaveLength(1);
    });

    test('that responds slowly is ended at its limit while others run, and an allowed failure is dropped', async () => {
      await using server = await startHookServer(() => 'answered');
      await using world = await World.create(backend(), {
        globalHooks: {
          'slow.http.yaml': `address: ${server.url}/\ntimeout: 7s\nschedule: [{crontab: '*/5 * * * * *', queue: side, allowFailure: true}]\n`,
          'other.sh': shHook("schedule: [{crontab: '*/5 * * * * *'}]", 'echo other'),
        },
      });
      await world.converge();
      world.clock.jump(5_000);
      await world.log.until(() => server.bodies.length === 1);
      await world.log.untilPrinted('other');
      await world.clock.passSleep(7_000);
      await world.log.untilMessage('hook failed, but the failure is allowed');
      const failed = world.log.records.find(({ msg }) => msg === 'hook failed, but the failure is allowed');
      expect(failed).toMatchObject({
        hook: 'slow.http.yaml',
        error: `global hook 'slow.http.yaml' gave no response within 7 s: POST ${server.url}/`,
      });
    });

    test('that is misconfigured fails the start, and the message names the file and the reason', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'bad.http.yaml': 'addres: http://127.0.0.1:1/\nonStartup: 1\n' },
      });
      await expect(world.start()).rejects.toThrow(
        /cannot load hook '.*bad\.http\.yaml'.*address is required/s,
      );
    });
  });
});

const GOOD = [{ name: 'good', action: 'set', value: 1 }];
