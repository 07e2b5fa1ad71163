import { rm } from 'node:fs/promises';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, shHook } from '../support/world-files.ts';

const HOUR_MS = 3_600_000;
const SAYS = (module: string) => announcer(module, { onStartup: 1, beforeHelm: 1, afterDeleteHelm: 1 });

const MODULES = {
  'values.yaml': 'webEnabled: true\ndnsEnabled: true\n',
  '001-web/hooks/hook.sh': SAYS('web'),
  '002-dns/hooks/hook.sh': SAYS('dns'),
};

async function ask(world: World, path: string, form?: Readonly<Record<string, string>>) {
  const socketPath = `${world.directory}/debug.socket`;
  return requestDebug({ socketPath, path, ...(form === undefined ? {} : { form }) }, systemClock);
}

async function explain(world: World, module: string): Promise<Record<string, unknown>> {
  const { body } = await ask(world, `/module/${module}/explain.json`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** The list of all modules, in run order. */
async function list(world: World): Promise<unknown> {
  const { body } = await ask(world, '/module/list.json?all=true');
  return (JSON.parse(body) as { readonly modules: unknown }).modules;
}

describeLifecycle((backend) => {
  test('a paused module does not run, also after a restart, until it is resumed', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    const response = await ask(world, '/module/web/pause', { reason: 'moving disks' });
    expect(response).toEqual({ status: 200, body: 'module web is paused until it is resumed\n' });
    await world.putConfig({ global: 'a: 1\n' });
    await world.log.untilPrinted('dns beforeHelm', 2);
    expect(await explain(world, 'web')).toMatchObject({
      status: 'paused',
      isEnabled: true,
      waitsFor: ['the end of its pause'],
      pause: { reason: 'moving disks', until: null, isOfAll: false },
    });
    expect(await list(world)).toMatchObject([
      { module: 'web', waitsFor: ['the end of its pause'], paused: { reason: 'moving disks', until: null } },
      { module: 'dns', paused: null },
    ]);
    expect((await ask(world, '/module/list.text?all=true')).body).toMatch(
      /^web +paused .* +the end of its pause +until it is resumed: moving disks$/m,
    );
    const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
    expect(await metrics.text()).toContain('addon_operator_module_paused{module="web"} 1\n');
    await world.stop();
    await world.converge();
    const before = world.log.printed.filter((line) => line.startsWith('web '));
    expect(before).toEqual(['web onStartup', 'web beforeHelm']);
    expect(await ask(world, '/module/web/resume', {})).toMatchObject({ body: 'module web is resumed\n' });
    await world.log.untilPrinted('web beforeHelm', 2);
    expect(await ask(world, '/module/web/resume', {})).toMatchObject({ status: 404 });
  });

  test('a pause that is written into the ConfigMap by hand applies at once, and ends when it is removed', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    const data = { web: 'by hand' };
    const pauses = { metadata: { name: 'addon-operator-pauses' }, data };
    await world.create('configmaps', pauses);
    await world.log.untilMessage('paused');
    await world.putConfig({ web: 'a: 1' });
    await world.log.untilMessage('Module is paused, its run waits until it is resumed');
    await world.merge('configmaps', 'addon-operator-pauses', { data: { web: '{"reason":' } });
    await world.log.untilMessage(
      'cannot parse an entry of the ConfigMap of pauses: correct it, or remove it to resume',
    );
    expect(await explain(world, 'web')).toMatchObject({ pause: { reason: 'by hand', until: null } });
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'addon-operator-pauses') });
    await world.log.untilPrinted('web beforeHelm', 2);
    expect(await explain(world, 'web')).toMatchObject({ status: 'ready', pause: null });
  });
});

describeApiIndependent((backend) => {
  test('a plan shows that a paused module waits', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await ask(world, '/module/web/pause', { reason: 'moving disks' });
    await ask(world, '/module/dns/pause', { reason: 'night', for: '1h' });
    await world.stop();
    const { stdout, exitCode } = await runInWorld(world, 'plan');
    expect(stdout).toContain('  web: waits for the end of its pause  (paused: moving disks)\n');
    expect(stdout).toMatch(
      /^ {2}dns: waits for the end of its pause {2}\(paused until \d{4}-\S+Z: night\)$/m,
    );
    expect(exitCode).toBe(0);
  });

  test('a pause ends when its time is over, and a paused module can be disabled', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await ask(world, '/pause', { reason: 'night', for: '1h' });
    await world.putConfig({ global: 'a: 1\n', dnsEnabled: 'false' });
    await world.log.untilPrinted('dns afterDeleteHelm');
    await world.log.untilMessage('Module is paused, its run waits until it is resumed');
    expect(await explain(world, 'web')).toMatchObject({ pause: { reason: 'night', isOfAll: true } });
    expect(await explain(world, 'dns')).toMatchObject({ status: 'disabled', waitsFor: [] });
    expect(await list(world)).toMatchObject([
      { module: 'web', paused: { reason: 'night', until: expect.stringMatching(/^\d{4}-.*Z$/) } },
      {},
    ]);
    world.clock.jump(HOUR_MS);
    await world.log.untilPrinted('web beforeHelm', 2);
    expect(await explain(world, 'web')).toMatchObject({ pause: null });
  });

  test('a failing module that is paused blocks no other', async () => {
    await using world = await World.create(backend(), {
      modules: { ...MODULES, '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'exit 1') },
    });
    await world.start();
    await world.untilDelayed();
    await ask(world, '/module/web/pause', { reason: 'broken' });
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual(['dns onStartup', 'dns beforeHelm']);
    expect(await explain(world, 'web')).toMatchObject({ status: 'paused', failure: null });
  });

  test('the pause of a module whose directory is gone can be ended', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.converge();
    await ask(world, '/module/web/pause', { reason: 'moving disks' });
    await world.stop();
    await rm(`${world.directory}/modules/001-web`, { recursive: true });
    await world.converge();
    expect(await ask(world, '/module/web/resume', {})).toMatchObject({ body: 'module web is resumed\n' });
    expect(await world.get('configmaps', 'addon-operator-pauses')).not.toHaveProperty('data.web');
    expect(await ask(world, '/module/web/resume', {})).toEqual({
      status: 404,
      code: 'MODULE_UNKNOWN',
      body: 'there is no module web\n',
    });
  });

  test('a pause without a reason, of an unknown module or into the past is refused', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    await world.start();
    expect(await ask(world, '/module/web/pause', {})).toMatchObject({ status: 400 });
    expect(await ask(world, '/module/nothing/pause', { reason: 'x' })).toMatchObject({ status: 404 });
    const past = await ask(world, '/pause', { reason: 'x', until: '2001-01-01T00:00:00Z' });
    expect(past).toEqual({
      status: 400,
      code: 'REQUEST_INVALID',
      body: 'the time "2001-01-01T00:00:00Z" is in the past\n',
    });
  });

  test('event hooks of a paused module continue, and their changed values are used when it is resumed', async () => {
    await using world = await World.create(backend(), { modules: MODULES, config: {} });
    await world.write('modules', {
      '001-web/hooks/watch.sh': shHook(
        `
kubernetes:
- apiVersion: v1
  kind: ConfigMap
  nameSelector: {matchNames: [trigger]}
  namespace: {nameSelector: {matchNames: [${world.namespace}]}}
  executeHookOnSynchronization: false`,
        `echo "watch runs"
echo '{"op":"add","path":"/web/seen","value":true}' > "$VALUES_JSON_PATCH_PATH"`,
      ),
    });
    await world.converge();
    await ask(world, '/module/web/pause', { reason: 'look' });
    await world.create('configmaps', { metadata: { name: 'trigger' } });
    await world.log.untilMessage('Module is paused, its run waits until it is resumed');
    expect(world.log.printed.at(-1)).toBe('watch runs');
    await ask(world, '/module/web/resume', {});
    await world.log.untilPrinted('web beforeHelm', 2);
  });

  test('explain and the list of all modules show what decided, what is waited for, what failed and when it is retried', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\ndnsEnabled: true\n',
        '001-web/hooks/hook.sh': shHook('beforeHelm: 1', 'echo "no disk" >&2; exit 1'),
        '002-dns/hooks/hook.sh': SAYS('dns'),
        '003-off/hooks/hook.sh': SAYS('off'),
        '003-off/module.yaml': 'version: "1.2.3"\nrequires: [{name: dns}]\n',
      },
      config: { dnsEnabled: 'true' },
    });
    await world.start();
    await world.untilDelayed();
    const web = await explain(world, 'web');
    expect(web).toMatchObject({
      status: 'failing',
      source: 'common-values',
      reason: `webEnabled in ${world.directory}/modules/values.yaml is true`,
      position: { place: 1, of: 3, order: 1 },
      phase: 'Failed',
      step: 'helm',
      failure: { attempts: 1, error: expect.stringContaining('no disk') },
      lastRun: { result: 'failure' },
      release: null,
    });
    expect(web['failure']).toMatchObject({ nextAttemptAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(await explain(world, 'dns')).toMatchObject({
      status: 'starting',
      source: 'config-map',
      reason: 'dnsEnabled in the ConfigMap is true',
      waitsFor: [expect.stringMatching(/^ModuleRun web in front of it in queue main; it failed once: /)],
    });
    expect(await explain(world, 'off')).toMatchObject({
      status: 'disabled',
      source: 'default',
      version: '1.2.3',
      requires: [{ name: 'dns', status: 'starting' }],
    });
    const { body } = await ask(world, '/module/list.text?all=true');
    expect(body).toMatch(/^MODULE +STATUS +ENABLED +REASON +WAITS FOR +LAST ERROR +NEXT TRY\n/);
    expect(body).toMatch(/^web +failing +yes +webEnabled in .* no disk +\d{4}-\S+Z$/m);
    expect(body).toMatch(
      /^dns +starting +yes +dnsEnabled in the ConfigMap is true +ModuleRun web in front.*…$/m,
    );
    expect(body).toMatch(/^off +disabled +no /m);
    expect(await list(world)).toMatchObject([
      {
        module: 'web',
        lastError: expect.stringContaining('no disk'),
        nextTryAt: expect.stringMatching(/Z$/),
      },
      { module: 'dns', waitsFor: [expect.stringContaining('ModuleRun web in front')], lastError: null },
      { module: 'off', waitsFor: [], lastError: null, nextTryAt: null, paused: null },
    ]);
    expect((await ask(world, '/module/list.text')).body).toBe('{"enabledModules":["dns","web"]}\n');
    expect((await ask(world, '/module/web/explain.text')).body).toMatch(
      /^last error +.*no disk\nattempts +1 failed, next at /m,
    );
    expect(await ask(world, '/module/nothing/explain.text')).toMatchObject({ status: 404 });
  });

  test('explain and the list of all modules name what blocks discovery', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\nlateEnabled: true\n',
        '002-late/module.yaml': 'requires: [{name: web}]\n',
        '001-web/enabled':
          '#!/bin/sh\n[ -e "$WORLD/broken" ] && echo "no licence" >&2 && exit 1\necho true > "$MODULE_ENABLED_RESULT"\n',
        '001-web/hooks/hook.sh': SAYS('web'),
        '../broken': '',
      },
      config: {},
    });
    const obstacle = expect.stringMatching(
      /^ConvergeModules at the head of queue main \(next attempt at \d{4}-.*Z\), which failed once: .*no licence/s,
    );
    await world.start();
    await world.untilDelayed();
    expect(await explain(world, 'web')).toMatchObject({
      status: 'undecided',
      waitsFor: [obstacle, expect.any(String)],
    });
    expect((await ask(world, '/module/list.text?all=true')).body).toMatch(
      /^web +undecided +no .*ConvergeModules at the head/m,
    );
    await world.expel('broken');
    await world.passDelay();
    await world.daemon.firstConverge;
    await world.write('modules', { '../broken': '' });
    await world.putConfig({ global: 'a: 1\n' });
    await world.untilDelayed();
    expect(await explain(world, 'web')).toMatchObject({ status: 'held-up', waitsFor: [obstacle] });
    expect(await explain(world, 'late')).toMatchObject({ requires: [{ name: 'web', status: 'held-up' }] });
    await world.expel('broken');
    await world.passDelay();
    await world.log.untilPrinted('web beforeHelm', 2);
    expect(await explain(world, 'web')).toMatchObject({ status: 'ready', waitsFor: [] });
    await world.putConfig({ webEnabled: 'False' });
    await world.log.until((records) =>
      records.some(({ msg }) => String(msg).startsWith('KubeConfig become invalid')),
    );
    expect(await explain(world, 'web')).toMatchObject({
      waitsFor: [expect.stringMatching(/^a valid ConfigMap; .*: module enabled key 'webEnabled' /)],
    });
    await world.putConfig({ global: 'a: 1\n' });
    await world.log.untilMessage('KubeConfig become valid');
    expect(await explain(world, 'web')).toMatchObject({ waitsFor: [] });
  });
});
