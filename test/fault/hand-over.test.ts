import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { ACTING_HOOK, actorsOf, startDev } from '../support/dev-process.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const MODULES = {
  'values.yaml': 'web: {}\nwebEnabled: true\n',
  ...under('001-web', { ...configMapChart('web', 'web'), 'hooks/act.sh': ACTING_HOOK }),
};

describeCluster('a module that is handed over', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('is taken back when its holder was killed (SIGKILL), also by an operator that was started in the meantime', async () => {
    await using world = await World.create(backend, { modules: MODULES, config: {} });
    await world.converge();
    await using dev = await startDev(world, 'laptop', { modules: MODULES });
    await dev.untilConverged();
    await world.stop();
    await world.converge();
    expect(await actorsOf(world)).toEqual(['operator', 'laptop']);
    await dev.kill();
    await world.log.untilMessage('module is taken back');
    await vi.waitFor(async () => expect((await actorsOf(world)).at(-1)).toBe('operator'), WAIT);
    expect(await actorsOf(world)).toEqual(['operator', 'laptop', 'operator']);
    expect((await world.get('configmaps', 'addon-operator-pauses'))?.['data'] ?? {}).toEqual({});
  });

  test('is left by a holder that is stopped (SIGSTOP) until the operator has taken it back', async () => {
    await using world = await World.create(backend, { modules: MODULES, config: {} });
    await world.converge();
    await using dev = await startDev(world, 'laptop', { modules: MODULES });
    await dev.untilConverged();
    dev.signal('SIGSTOP');
    await world.log.untilMessage('module is taken back');
    await vi.waitFor(async () => expect((await actorsOf(world)).at(-1)).toBe('operator'), WAIT);
    dev.signal('SIGCONT');
    expect(await dev.exited).toEqual({ code: 1, signal: null });
    expect(dev.said.join('\n')).toContain('module web is not handed over any more');
    expect(await actorsOf(world)).toEqual(['operator', 'laptop', 'operator']);
  });
});
