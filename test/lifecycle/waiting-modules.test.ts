import { expect, test, vi } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { type ModuleInCluster, moduleWorld, uniqueName } from '../support/module-world.ts';
import type { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 120_000, interval: 500 };
const MINUTES_MS = 10 * 60_000;
const WAITING = 60;

interface Listed extends ModuleInCluster {
  readonly metadata: ModuleInCluster['metadata'] & { readonly name: string };
}

/** All Modules of the world, by name. */
async function modulesOf(world: World, prefix: string): Promise<ReadonlyMap<string, Listed>> {
  const path = '/apis/addon-operator.io/v1alpha1/modules';
  const { items } = (await world.expect({ path })) as { readonly items: readonly Listed[] };
  const own = items.filter(({ metadata }) => metadata.name.startsWith(prefix));
  return new Map(own.map((module) => [module.metadata.name, module]));
}

function readyOf(module: Listed | undefined): string {
  const ready = module?.status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason} ${ready?.message}`;
}

describeLifecycle((backend) => {
  test('60 modules that wait for one that fails are not written again by its attempts', async () => {
    const prefix = uniqueName();
    const names = Array.from({ length: WAITING }, (_, index) => `${prefix}w${index}`);
    const failing = `${prefix}head`;
    const flags = [failing, ...names].map((name) => `${name}Enabled: true\n`);
    await using made = await moduleWorld(
      backend(),
      {
        modules: {
          'values.yaml': flags.join(''),
          [`001-${failing}/hooks/hook.sh`]: shHook(
            'beforeHelm: 1',
            'echo "no disk at $(date +%s%N)" >&2; exit 1',
          ),
          ...Object.fromEntries(names.map((name) => [`002-${name}/module.yaml`, '{}\n'])),
        },
      },
      [failing, ...names],
    );
    const { world } = made;
    await world.start();
    await world.log.untilMessage('ModuleRun failed. Requeue task to retry after delay.');
    const before = await vi.waitFor(async () => {
      const modules = await modulesOf(world, prefix);
      for (const name of names)
        expect(readyOf(modules.get(name))).toMatch(
          /^False QueueBlocked ModuleRun \S+head at the head .*no disk/u,
        );
      return modules;
    }, WAIT);

    const startMs = world.clock.steadyMs();
    let attempts = 0;
    for (; world.clock.steadyMs() - startMs < MINUTES_MS; attempts += 1) await world.passDelay();
    expect(attempts).toBeGreaterThan(15);

    const after = await vi.waitFor(async () => {
      const modules = await modulesOf(world, prefix);
      expect(modules.get(failing)?.status?.['failedAttempts']).toBeGreaterThanOrEqual(attempts);
      expect(modules.get(failing)?.status?.['nextRetry']).toEqual(expect.any(String));
      return modules;
    }, WAIT);
    const versions = (modules: typeof before) =>
      names.map((name) => [name, modules.get(name)?.metadata.resourceVersion]);
    expect(versions(after)).toEqual(versions(before));
  });
});
