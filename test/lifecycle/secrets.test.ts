import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World, type WorldOptions } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WEB: FileTree = {
  'values.yaml': 'webEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
};
const REFERENCE = '{valueFrom: {secretKeyRef: {name: web-secret, key: token}}}';
const TOKEN = 'correct-horse-battery';

/** A world in which references are resolved everywhere. */
function secretWorld(backend: Backend, options: WorldOptions): Promise<World> {
  return World.create(backend, { ...options, flags: { 'secret-references': '*' } });
}

async function putSecret(world: World, token: string): Promise<void> {
  const body = { kind: 'Secret', metadata: { name: 'web-secret' }, stringData: { token } };
  if ((await world.get('secrets', 'web-secret')) === undefined) await world.create('secrets', body);
  else await world.merge('secrets', 'web-secret', { stringData: { token } });
}

async function deployed(world: World, section: 'values' | 'global' = 'values'): Promise<unknown> {
  const object = (await world.get('configmaps', 'web')) as { data?: Record<string, string> } | undefined;
  return JSON.parse(object?.data?.[section] ?? 'null') as unknown;
}

async function ask(world: World, path: string): Promise<string> {
  const { body } = await requestDebug(
    { socketPath: join(world.directory, 'debug.socket'), path },
    systemClock,
  );
  return body;
}

const runs = (world: World): number =>
  world.log.records.filter(({ msg }) => msg === 'ModuleRun success, module is ready').length;
const lastError = (world: World): string => world.daemon.operator.router.main.entries[0]?.lastError ?? '';

/** Values that refer to Secrets. */
describeLifecycle((backend) => {
  test('a reference is a string for hooks and helm, and stays a reference in the ConfigMap and in config values', async () => {
    await using world = await secretWorld(backend(), {
      modules: {
        ...WEB,
        '001-web/values.yaml': `web: {file: ${REFERENCE}}\n`,
        '001-web/hooks/see.sh': shHook(
          'beforeHelm: 1',
          `
grep -c ${TOKEN} "$VALUES_PATH" | sed 's/^/values /'
echo "config $(cat "$CONFIG_VALUES_PATH")"
echo '{"op":"add","path":"/web/saved","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"`,
        ),
      },
      config: { web: `token: ${REFERENCE}\nlist: [${REFERENCE}]\n` },
    });
    await putSecret(world, TOKEN);
    await world.converge();
    expect(await deployed(world)).toEqual({ file: TOKEN, token: TOKEN, list: [TOKEN], saved: 1 });
    const reference = '{"valueFrom":{"secretKeyRef":{"key":"token","name":"web-secret"}}}';
    expect(world.log.printed).toEqual([
      'values 1',
      `config {"global":null,"web":{"list":[${reference}],"token":${reference}}}`,
    ]);
    const saved = (await world.get('configmaps', 'addon-operator')) as { data: { web: string } };
    expect(saved.data.web).toContain('saved: 1');
    expect(saved.data.web).not.toContain(TOKEN);
  });

  test('a changed Secret runs the module that refers to it, and another change of it runs nothing', async () => {
    await using world = await secretWorld(backend(), {
      modules: WEB,
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    await world.converge();
    const checksum = world.daemon.built.configuration.values.checksum('web' as never);
    await world.merge('secrets', 'web-secret', {
      metadata: { labels: { a: 'b' } },
      stringData: { other: 'x' },
    });
    await putSecret(world, 'another-token');
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployed(world)).toEqual({ token: 'another-token' });
    expect(runs(world)).toBe(2);
    expect(world.daemon.built.configuration.values.checksum('web' as never)).not.toBe(checksum);
  });

  test('a missing Secret is named, and the module waits for it and continues when it exists', async () => {
    await using world = await secretWorld(backend(), {
      modules: WEB,
      config: { web: `db: {password: ${REFERENCE}}\n` },
    });
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toContain("values of module 'web' refer to Secrets that cannot be used");
    expect(lastError(world)).toContain(
      `at web.db.password: key "token" of Secret ${world.namespace}/web-secret: the Secret does not exist`,
    );
    expect((await world.helmCalls()).filter((call) => call.startsWith('upgrade'))).toEqual([]);
    await putSecret(world, TOKEN);
    await world.daemon.firstConverge;
    expect(await deployed(world)).toEqual({ db: { password: TOKEN } });
  });

  test('a reference that is added to the ConfigMap later is followed too, also in global values', async () => {
    await using world = await secretWorld(backend(), { modules: WEB, config: { web: 'a: 1\n' } });
    await putSecret(world, TOKEN);
    await world.converge();
    await world.putConfig({ web: 'a: 1\n', global: `token: ${REFERENCE}\n` });
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(await deployed(world, 'global')).toEqual({ token: TOKEN });
    await putSecret(world, 'another-token');
    await world.log.untilMessage('ConvergeModules task done', 3);
    expect(await deployed(world, 'global')).toEqual({ token: 'another-token' });
  });
});

describeApiIndependent((backend) => {
  test('the content of a Secret is in no log, dump, render or error', async () => {
    await using world = await secretWorld(backend(), {
      modules: {
        ...WEB,
        '001-web/hooks/leak.sh': shHook(
          'beforeHelm: 1',
          `
cat "$VALUES_PATH"
echo '{"name":"logins","action":"set","value":1,"labels":{"token":"${TOKEN}"}}' > "$METRICS_PATH"
echo '{"op":"add","path":"/web/url","value":"https://${TOKEN}@host"}' > "$VALUES_JSON_PATCH_PATH"
[ ! -e "$WORLD/fail" ] || { echo "cannot log in with ${TOKEN}" >&2; exit 1; }`,
        ),
      },
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    await world.converge();
    expect(await deployed(world)).toEqual({ token: TOKEN, url: `https://${TOKEN}@host` });
    await world.write('modules', { '../fail': '' });
    world.daemon.operator.router.queueModuleRun('web' as never, 'test');
    await world.untilDelayed();
    expect(lastError(world)).toContain('cannot log in with ***');
    for (const path of [
      '/module/web/values.yaml',
      '/module/web/values.json?global=true',
      '/module/web/config.yaml',
      '/module/web/patches.json',
      '/module/web/render',
      '/queue/main.text',
    ]) {
      const response = await ask(world, path);
      expect(response).not.toBe('');
      expect(response).not.toContain(TOKEN);
    }
    expect(await ask(world, '/module/web/values.yaml')).toContain('secretKeyRef');
    expect(await ask(world, '/module/web/render')).toContain('***');
    const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
    expect(await metrics.text()).toContain('logins{hook="hooks/leak.sh",module="web",token="***"} 1\n');
    expect(world.log.dump()).not.toContain(TOKEN);
    expect(world.log.dump()).toContain('***');
  });

  test('the content of a Secret is in no log, queue, run or error in the spellings of helm and hooks', async () => {
    const token = 'p&ss"wörd<1> horse';
    await using world = await secretWorld(backend(), {
      modules: {
        ...WEB,
        '001-web/templates/fail.yaml': '{{ fail (printf "json %s" (.Values.web.token | toJson)) }}',
        '001-web/hooks/leak.sh': shHook(
          'beforeHelm: 1',
          String.raw`
echo '{"msg":"p&ss\"w\u00f6rd<1> horse","field":"p\u0026ss\"wörd\u003c1\u003e horse"}'
echo 'Authorization: Basic ${Buffer.from(`me:${token}`).toString('base64')}'
echo 'GET /?token=p%26ss%22w%c3%b6rd%3C1%3E+horse&a=b'
echo 'x {"log":"{\"token\":\"p\\u0026ss\\\"w\\u00f6rd<1> horse\"}"}'`,
        ),
      },
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, token);
    await world.start();
    await world.untilDelayed();
    expect(lastError(world)).toMatch(/json \\?"\*\*\*\\?"/);
    const printed = world.log.dump();
    for (const text of [
      printed,
      lastError(world),
      await ask(world, '/queue/main.text'),
      await ask(world, '/api/v1/runs'),
    ])
      expect(text).not.toMatch(/horse|rd<1>|aG9yc2/);
    expect(printed).toContain('Authorization: Basic bWU6***');
    expect(printed).toContain('GET /?token=***&a=b');
  });

  test('an optional reference to a missing Secret is left out, and a malformed one is explained', async () => {
    await using world = await secretWorld(backend(), {
      modules: WEB,
      config: { web: 'a: {valueFrom: {secretKeyRef: {name: none, key: k, optional: true}}}\nb: 1\n' },
    });
    await world.converge();
    expect(await deployed(world)).toEqual({ b: 1 });
    await world.putConfig({ web: 'a: {valueFrom: {secretKeyRef: {nam: none, key: k}}}\n' });
    await world.untilDelayed();
    expect(lastError(world)).toContain('at web.a: secretKeyRef has an unknown field "nam"');
  });

  test('a schema checks the content behind a reference, but not while it is missing', async () => {
    await using world = await secretWorld(backend(), {
      modules: {
        ...WEB,
        '001-web/openapi/config-values.yaml':
          'type: object\nproperties: {token: {type: string, maxLength: 10}, later: {type: string}}',
      },
      config: { web: `later: {valueFrom: {secretKeyRef: {name: none, key: k}}}\ntoken: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    const message = await world.start().then(
      () => 'started',
      (error: unknown) => String(error),
    );
    expect(message).toContain('web.token in body should be at most 10 chars long');
    expect(message).not.toContain('web.later');
    expect(message).not.toContain(TOKEN);
  });

  test('a plan shows that the content of a Secret changed, but not the content', async () => {
    await using world = await secretWorld(backend(), {
      modules: WEB,
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    const { stdout, stderr } = await runInWorld(world, 'plan');
    expect(stderr).toBe('');
    expect(stdout).toContain('"token":"***"');
    expect(stdout).not.toContain(TOKEN);
  });

  test('a plan does not show the content of a Secret that values no longer refer to', async () => {
    await using world = await secretWorld(backend(), {
      modules: WEB,
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    await world.converge();
    await world.stop();
    await world.putConfig({ web: 'color: blue\n' });
    const { exitCode, stdout } = await runInWorld(world, 'plan');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('*** (before)');
    expect(stdout).not.toContain(TOKEN);
  });

  test('a plan or role that cannot be computed names the reason without the content of a Secret', async () => {
    await using world = await secretWorld(backend(), {
      modules: { ...WEB, '001-web/templates/bad.yaml': '{{ fail .Values.web.motd }}\n' },
      config: { web: `motd: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    await world.write('modules', { '../debug.socket': 'left behind by a daemon that is gone' });
    const rbac = await runInWorld(world, 'rbac');
    expect(rbac).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('kind: ClusterRole') });
    expect(rbac.stderr).toMatch(/rules may be missing[^]*bad\.yaml[^]*\*\*\*/);
    expect(rbac.stderr).toContain('the rules do not include objects that hooks patch');
    await world.write('modules', { '001-web/enabled': '#!/bin/sh\ncat "$VALUES_PATH" >&2\nexit 1\n' });
    await chmod(join(world.directory, 'modules/001-web/enabled'), 0o755);
    const plan = await runInWorld(world, 'plan');
    expect(plan).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('***') });
    for (const text of [rbac.stdout, rbac.stderr, plan.stderr]) expect(text).not.toContain(TOKEN);
  });

  test('a module whose Secret is missing can be disabled', async () => {
    await using world = await secretWorld(backend(), {
      modules: { ...WEB, '001-web/hooks/end.sh': shHook('afterDeleteHelm: 1', 'echo "the end"') },
      config: { web: `token: ${REFERENCE}\n` },
    });
    await putSecret(world, TOKEN);
    await world.converge();
    await world.expect({ method: 'DELETE', path: world.path('secrets', 'web-secret') });
    await world.untilDelayed();
    expect(lastError(world)).toContain('the Secret does not exist');
    await world.merge('configmaps', 'addon-operator', { data: { webEnabled: 'false' } });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(world.log.printed).toEqual(['the end']);
  });

  test('without the setting, or for a module it does not name, a reference is plain data', async () => {
    const options = { modules: WEB, config: { web: `token: ${REFERENCE}\n` } };
    for (const flags of [{}, { 'secret-references': 'global,other' }]) {
      await using world = await World.create(backend(), { ...options, flags });
      await world.converge();
      expect(await deployed(world)).toEqual({
        token: { valueFrom: { secretKeyRef: { name: 'web-secret', key: 'token' } } },
      });
    }
  });
});
