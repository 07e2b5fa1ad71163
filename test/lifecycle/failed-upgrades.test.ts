import { expect, test, vi } from 'vitest';
import { changingChart } from '../support/failing-upgrade.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { eventsOf, moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { Backend, World } from '../support/world.ts';
import { under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };

async function failedUpgrade(backend: Backend) {
  const name = uniqueName();
  const modules = {
    'values.yaml': `${name}Enabled: true\n`,
    ...under(`001-${name}`, changingChart(name, name)),
  };
  const made = await moduleWorld(backend, { modules, config: {} }, [name]);
  const { world } = made;
  await world.converge();
  await untilStatus(world, name, { phase: 'Succeeded' });
  await world.putConfig({ [name]: 'isBroken: true' });
  await vi.waitFor(async () => expect(await releaseStatuses(world, name)).toContain('failed'), WAIT);
  return { name, world, made };
}

/** The deletion follows the next attempt at the upgrade, which is due later. While helm runs no time passes, which would end it. */
async function untilGone(world: World, name: string): Promise<void> {
  await vi.waitFor(async () => {
    const { status } = world.daemon.operator.router.main;
    if (status.type === 'delayed') world.clock.jump(status.delayMs);
    expect(await releaseStatuses(world, name)).toEqual([]);
  }, WAIT);
}

describeLifecycle((backend) => {
  test('a module that is disabled after a failed upgrade leaves no object of the revision that was deployed', async () => {
    const { name, world, made } = await failedUpgrade(backend());
    await using _made = made;
    expect(await world.get('configmaps', `${name}-old`)).toBeDefined();
    await world.putConfig({ [name]: 'isBroken: true', [`${name}Enabled`]: 'false' });
    await untilGone(world, name);
    expect(await world.get('configmaps', name)).toBeUndefined();
    expect(await world.get('configmaps', `${name}-old`)).toBeUndefined();
  });

  test('an object that names no release any more stays, and a warning and an Event name it', async () => {
    const { name, world, made } = await failedUpgrade(backend());
    await using _made = made;
    await world.merge('configmaps', `${name}-old`, {
      metadata: { annotations: { 'meta.helm.sh/release-name': null } },
    });
    await world.putConfig({ [name]: 'isBroken: true', [`${name}Enabled`]: 'false' });
    await untilGone(world, name);
    expect(await world.get('configmaps', name)).toBeUndefined();
    expect(await world.get('configmaps', `${name}-old`)).toBeDefined();
    const left = `${world.namespace}/ConfigMap/${name}-old (it does not name its release any more)`;
    expect(world.log.records).toContainEqual(expect.objectContaining({ level: 'warn', objects: [left] }));
    await vi.waitFor(async () => {
      expect(await eventsOf(world, name)).toContainEqual(
        expect.objectContaining({ reason: 'LeftBehind', message: expect.stringContaining(left) }),
      );
    }, WAIT);
  });
});
