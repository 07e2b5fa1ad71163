import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { plan, planWithText } from '../support/plan-in-world.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const ROOT = new URL('../../', import.meta.url);

/** A hook that runs one patch of values. */
function patching(config: string, patch: object): string {
  return shHook(config, `echo '${JSON.stringify(patch)}' > "$VALUES_JSON_PATCH_PATH"`);
}

const FACTS = patching('beforeAll: 1', [
  { op: 'add', path: '/global/facts', value: { nodes: 3 } },
  { op: 'add', path: '/dbEnabled', value: true },
]);
const OWN = patching('beforeHelm: 1', { op: 'add', path: '/web/token', value: 'hunter2' });
const MODULES = {
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/values.yaml': 'webEnabled: true\n',
  '001-web/hooks/own.sh': OWN,
  ...under('002-db', configMapChart('db', 'db')),
};

async function deployed(backend: Backend, config: Readonly<Record<string, string>> = {}): Promise<World> {
  const globalHooks = { 'facts.sh': FACTS };
  const world = await World.create(backend, { modules: MODULES, globalHooks, config });
  await restart(world);
  return world;
}

async function restart(world: World): Promise<void> {
  await world.converge();
  await world.stop();
}

const actions = ({ data }: Awaited<ReturnType<typeof plan>>): readonly string[] =>
  data.modules.map(({ module, action }) => `${module} ${action}`);

describeLifecycle((backend) => {
  test('a plan of the starter modules shows no change, after they were deployed', async () => {
    await using world = await World.create(backend(), {
      directories: {
        modules: fileURLToPath(new URL('modules', ROOT)),
        globalHooks: fileURLToPath(new URL('global-hooks', ROOT)),
      },
      config: {},
    });
    await restart(world);
    const { exitCode, text } = await planWithText(world);
    expect(text).toContain('= web: no change');
    expect(text).not.toContain('facts.json');
    expect(exitCode).toBe(0);
  });
});

describeApiIndependent((backend) => {
  test('a plan assumes that hooks set again what they set before the last deployment', async () => {
    await using world = await deployed(backend());
    expect(await plan(world)).toMatchObject({ exitCode: 0, data: { outcome: 'nothing' } });
    await world.putConfig({ global: 'size: 1\n', web: 'color: blue\n' });
    const changed = await planWithText(world);
    expect(actions(changed)).toEqual(['web upgrade', 'db upgrade']);
    expect(changed.text).toContain('"size":1');
    expect(changed.text).toMatch(/-.*"facts":\{"nodes":3\}.*\n.*\+.*"facts":\{"nodes":3\}.*"size":1/);
    await restart(world);
    await world.putConfig({});
    expect(actions(await plan(world))).toEqual(['web upgrade', 'db upgrade']);
    await restart(world);
    expect(await plan(world)).toMatchObject({ exitCode: 0 });
  });

  test('a plan assumes nothing of hooks that are gone, or that run after helm', async () => {
    await using world = await deployed(backend());
    await world.write('global-hooks', { 'facts.sh': FACTS.replace('beforeAll', 'afterAll') });
    await world.write('modules', { '001-web/hooks/own.sh': OWN.replace('beforeHelm', 'afterHelm') });
    expect(actions(await plan(world))).toEqual(['db delete', 'web upgrade']);
    await world.expel('global-hooks/facts.sh');
    await world.expel('modules/001-web/hooks/own.sh');
    const { text } = await planWithText(world);
    expect(text).toMatch(/- +values: .*"token":"hunter2"/);
    expect(text).toMatch(/- +global: .*"facts"/);
    await restart(world);
    expect(await world.get('configmaps', 'db')).toBeUndefined();
    expect(actions(await plan(world))).toEqual(['db stay-off', 'web none']);
  });
});
