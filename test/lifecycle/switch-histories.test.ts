import { array, assert, asyncProperty, constantFrom } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { addVersion, lookAtFiles, storeWorld, untilLive } from '../support/store/store-world.ts';
import { digestsIn, STEPS, SwitchHistory } from '../support/store/switch-history.ts';
import { runInWorld } from '../support/world-command.ts';

const WAIT = { timeout: 15_000, interval: 50 };
const signal = new AbortController().signal;

describeLifecycle((backend) => {
  test('a requested switch ends when the version runs, takes the section with it, or is refused', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name], { config: { [name]: 'size: 1\n' } });
    const { world } = made;
    const schema = (type: string) => ({
      'openapi/config-values.yaml': `type: object\nproperties: {size: {type: ${type}}}\n`,
    });
    await addVersion(world, name, '1.0.0', schema('integer'));
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await addVersion(world, name, '1.1.0');
    await untilLive(world, name, '1.1.0');
    await world.putConfig({ [name]: 'size: large\n' });
    await vi.waitFor(() => {
      const values = world.daemon.built.configuration.values.configValues(name as never);
      expect(values).toEqual({ size: 'large' });
    }, WAIT);
    const digest = (await digestsIn(world)).get('1.0.0') ?? '';
    const request = { module: name, entry: `030-${name}`, digest, version: '1.0.0' };
    const { switching } = world.daemon.built.modules;
    expect(await switching?.switch(request, signal)).toMatchObject({
      type: 'refused',
      reason: 'SettingsInvalid',
      message: expect.stringContaining('size'),
    });
    await untilLive(world, name, '1.1.0');
    expect(await switching?.switch({ ...request, section: 'size: 2\n' }, signal)).toMatchObject({
      type: 'switched',
    });
    await untilLive(world, name, '1.0.0');
    const map = await world.get('configmaps', 'addon-operator');
    expect(JSON.stringify(map?.['data'])).toContain('size: 2');
    const missing = { ...request, digest: `sha256:${'0'.repeat(64)}` };
    expect(await switching?.switch(missing, signal)).toMatchObject({
      type: 'refused',
      reason: 'NotLoadable',
    });
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(switching?.switch(request, stopped)).rejects.toThrow('stopped');
    await switching?.remove(`030-${name}`, signal);
    await vi.waitFor(async () => expect(await world.get('configmaps', name)).toBeUndefined(), WAIT);
  });
});

describeApiIndependent((backend) => {
  test('chart and hooks are of one version, and nothing is uninstalled, in any history of a store', async () => {
    await assert(
      asyncProperty(array(constantFrom(...STEPS), { minLength: 4, maxLength: 9 }), async (steps) => {
        const name = uniqueName();
        await using made = await storeWorld(backend(), [name]);
        const { world } = made;
        await addVersion(world, name, '1.0.0');
        await world.converge();
        await untilLive(world, name, '1.0.0');
        const history = new SwitchHistory(world, name);
        for (const step of steps) await history.step(step);
        // A good version ends every trouble.
        await history.step('good');
        await lookAtFiles(world, async () => {
          expect((await runInWorld(world, 'status')).exitCode).toBe(0);
        });
        await history.check();
      }),
      {
        seed: Number(process.env['PROPERTY_SEED'] ?? 35),
        numRuns: Number(process.env['PROPERTY_RUNS'] ?? 6),
        endOnFailure: true,
      },
    );
  });
});
