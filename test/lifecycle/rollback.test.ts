import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { type CommandResult, runInWorld } from '../support/world-command.ts';
import { type FileTree, shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };

/** A version of the module `web`: chart and hook print it. */
function version(number: string, more: FileTree = {}): FileTree {
  return {
    '001-web/Chart.yaml': `apiVersion: v2\nname: web\nversion: ${number}\n`,
    '001-web/templates/web.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {version: "${number}", values: {{ .Values.web | toJson | quote }}}
`,
    '001-web/hooks/hook.sh': shHook('beforeHelm: 1', `echo "web ${number}"`),
    ...more,
  };
}

const schema = (properties: string): FileTree => ({
  '001-web/openapi/config-values.yaml': `type: object\nproperties: {${properties}}\n`,
});
const BROKEN = {
  '001-web/templates/bad.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: 1}\n',
};

async function data(world: World, name = 'web'): Promise<unknown> {
  return (await world.get('configmaps', name))?.['data'];
}

async function command(world: World, ...args: readonly string[]): Promise<CommandResult> {
  return await runInWorld(world, 'module', ...args);
}

interface Revision {
  readonly revision: number;
  readonly version: string;
  readonly outcome: string;
  readonly files: string;
}

async function history(world: World): Promise<readonly Revision[]> {
  const { stdout } = await command(world, 'history', 'web', '-o', 'json');
  return (JSON.parse(stdout) as { readonly revisions: readonly Revision[] }).revisions;
}

/** Revision, version and outcome, the newest first. */
async function outcomes(world: World): Promise<readonly string[]> {
  return (await history(world)).map((one) => `${one.revision} ${one.version} ${one.outcome}`);
}

async function explanation(world: World): Promise<Record<string, unknown>> {
  const { stdout } = await runInWorld(world, 'explain', 'module', 'web', '-o', 'json');
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Stops the daemon, replaces the files of the module, and starts it again. */
async function restartWith(world: World, files: FileTree): Promise<void> {
  await world.stop();
  await world.write('modules', files);
  await world.start();
}

function countOf(world: World, line: string): number {
  return world.log.printed.filter((printed) => printed === line).length;
}

const modules = { 'values.yaml': 'webEnabled: true\n', ...version('1.0.0') };

describeLifecycle((backend) => {
  test('a module goes back to an earlier revision, stays there over a restart, and goes on with new files', async () => {
    await using world = await World.create(backend(), { modules, config: { web: 'size: 1\n' } });
    await world.converge();
    await restartWith(world, version('1.1.0'));
    await world.daemon.firstConverge;
    expect(await data(world)).toEqual({ version: '1.1.0', values: '{"size":1}' });
    const before = await history(world);
    expect(before.map(({ revision, version: of }) => `${revision} ${of}`)).toEqual(['2 1.1.0', '1 1.0.0']);
    expect(before[0]?.files).not.toBe(before[1]?.files);

    expect(await command(world, 'rollback', 'web', '--dry-run')).toMatchObject({
      stdout: 'module web would be rolled back to revision 1 (version 1.0.0)\n',
    });
    expect(await outcomes(world)).toEqual(['2 1.1.0 running', '1 1.0.0 replaced']);
    const { stdout, stderr, exitCode } = await command(world, 'rollback', 'web');
    expect([stdout, stderr, exitCode]).toEqual([
      'module web is rolled back to revision 1 (version 1.0.0), which is revision 3 now: it is paused until its files change or it is resumed\n',
      '',
      0,
    ]);
    expect(await data(world)).toEqual({ version: '1.0.0', values: '{"size":1}' });
    expect(await outcomes(world)).toEqual(['3 1.0.0 running', '2 1.1.0 rolled-back', '1 1.0.0 replaced']);
    expect((await history(world))[0]?.files).toBe(before[1]?.files);
    expect(await explanation(world)).toMatchObject({
      status: 'paused',
      pause: { reason: 'rolled back to revision 1', until: null },
    });

    await world.putConfig({ web: 'size: 2\n' });
    await world.log.untilMessage('Module is paused, its run waits until it is resumed');
    await restartWith(world, {});
    await world.daemon.firstConverge;
    expect(await data(world)).toEqual({ version: '1.0.0', values: '{"size":1}' });
    expect(await outcomes(world)).toHaveLength(3);

    await restartWith(world, version('1.2.0'));
    await world.daemon.firstConverge;
    expect(await data(world)).toEqual({ version: '1.2.0', values: '{"size":2}' });
    expect((await outcomes(world))[0]).toBe('4 1.2.0 running');
    expect(await explanation(world)).toMatchObject({ pause: null });
    expect(world.log.printed.slice(-1)).toEqual(['web 1.2.0']);
  });

  test('a module whose new version fails goes back, and resuming it tries the files again', async () => {
    await using world = await World.create(backend(), { modules, config: {} });
    await world.converge();
    await restartWith(world, version('1.1.0', BROKEN));
    await world.untilDelayed();
    expect(await command(world, 'rollback', 'web', '--to', 'v1.0.0')).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
    await world.daemon.firstConverge;
    expect(await data(world)).toMatchObject({ version: '1.0.0' });
    const [newest, failed] = await history(world);
    expect([newest?.outcome, failed?.outcome, failed?.version]).toEqual(['running', 'failed', '1.1.0']);
    expect(await command(world, 'rollback', 'web')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no earlier revision was deployed well from other files'),
    });
    const runs = countOf(world, 'web 1.1.0');
    expect(await command(world, 'resume', 'web')).toMatchObject({ exitCode: 0 });
    await world.log.untilPrinted('web 1.1.0', runs + 1);
    await world.untilDelayed();
    expect((await history(world))[0]?.outcome).toBe('failed');
  });

  test('values that do not fit the old version are refused with their paths, and restored on request', async () => {
    await using world = await World.create(backend(), {
      modules: { ...modules, ...schema('size: {type: integer}') },
      config: { web: 'size: 1\n', other: 'kept: true\n' },
    });
    await world.converge();
    await world.stop();
    await world.putConfig({ web: 'size: 2\ncanary: true\n', other: 'kept: true\n' });
    await restartWith(world, version('1.1.0', schema('size: {type: integer}, canary: {type: boolean}')));
    await world.daemon.firstConverge;
    expect(await data(world)).toEqual({ version: '1.1.0', values: '{"canary":true,"size":2}' });

    const { stderr, exitCode } = await command(world, 'rollback', 'web');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('web.canary in body is a forbidden property');
    expect(stderr).toContain('--with-values');
    expect(await outcomes(world)).toHaveLength(2);
    expect(await explanation(world)).toMatchObject({ pause: null });

    expect(await command(world, 'rollback', 'web', '--with-values')).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
    expect(await data(world)).toEqual({ version: '1.0.0', values: '{"size":1}' });
    expect(await data(world, 'addon-operator')).toEqual({ web: 'size: 1\n', other: 'kept: true\n' });
    await expect.poll(async () => (await command(world, 'config', 'web')).stdout, WAIT).toBe('size: 1\n');
    expect(await outcomes(world)).toEqual(['3 1.0.0 running', '2 1.1.0 rolled-back', '1 1.0.0 replaced']);
  });

  test('a section that the files in place refuse is not restored', async () => {
    await using world = await World.create(backend(), {
      modules: { ...modules, ...schema('old: {type: boolean}') },
      config: { web: 'old: true\n' },
    });
    await world.converge();
    await world.stop();
    await world.putConfig({ web: 'size: 2\n' });
    await restartWith(world, version('1.1.0', schema('size: {type: integer}')));
    await world.daemon.firstConverge;
    expect(await command(world, 'rollback', 'web', '--with-values')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('does not fit the files of the module'),
    });
    expect(await data(world, 'addon-operator')).toEqual({ web: 'size: 2\n' });
    expect(await outcomes(world)).toHaveLength(2);
  });

  test('a pause of a user outlives the rollback, also when files change', async () => {
    await using world = await World.create(backend(), { modules, config: {} });
    await world.converge();
    await restartWith(world, version('1.1.0'));
    await world.daemon.firstConverge;
    await command(world, 'pause', 'web', '--reason', 'INC-7');
    expect(await command(world, 'rollback', 'web')).toMatchObject({ exitCode: 0 });
    await restartWith(world, version('1.2.0'));
    await world.daemon.firstConverge;
    expect(await data(world)).toMatchObject({ version: '1.0.0' });
    expect(await explanation(world)).toMatchObject({
      pause: { reason: 'rolled back to revision 1; paused before: INC-7' },
    });
  });

  test('with --watch-files changed files end the hold without a restart', async () => {
    await using world = await World.create(backend(), {
      modules,
      config: {},
      flags: { 'watch-files': 'true' },
    });
    await world.converge();
    await world.write('modules', version('1.1.0'));
    await expect.poll(async () => await data(world), WAIT).toMatchObject({ version: '1.1.0' });
    await expect.poll(async () => await outcomes(world), WAIT).toHaveLength(2);
    expect(await command(world, 'rollback', 'web')).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await data(world)).toMatchObject({ version: '1.0.0' });
    await world.write('modules', version('1.2.0'));
    await expect.poll(async () => await data(world), WAIT).toMatchObject({ version: '1.2.0' });
  });
});
