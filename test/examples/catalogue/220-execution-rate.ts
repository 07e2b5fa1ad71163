import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import { untilTasks } from '../../support/until-tasks.ts';
import type { Backend, World } from '../../support/world.ts';
import { createCronTab, manifest } from './105-crd-simple.ts';
import {
  cataloguePath,
  DirectoryCopy,
  failures,
  hookSetWorld,
  requireTools,
  withDefinition,
} from './catalogue-world.ts';

const LINE = /^RateLimitedHook binding contexts: (\d+)$/;

export function executionRateTests(backend: () => Backend): void {
  test(
    '220-execution-rate: after two runs at once the hook runs once in its interval, with all events since its last run',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash', 'jq');
      await using hooks = await DirectoryCopy.of(cataloguePath('220-execution-rate', 'hooks'));
      // Five seconds of the real clock may be over before all events are there.
      await hooks.replace('settings-rate-limit.sh', 'executionMinInterval: 5s', 'executionMinInterval: 10m');
      await using world = await hookSetWorld(backend(), '220-execution-rate', {
        directories: { globalHooks: hooks.path },
      });
      await withDefinition(world, await manifest('220-execution-rate', 'crd.yaml'), async () => {
        await world.converge();
        expect(runs(world)).toEqual([1]);
        await createNumbered(world, 1);
        await world.log.until(() => runs(world).length === 2);
        await Promise.all([2, 3, 4, 5].map((number) => createNumbered(world, number)));
        await untilTasks(world, 'main', 4);
        expect(runs(world)).toEqual([1, 1]);
        world.clock.jump(600_000);
        await world.log.until(() => runs(world).length === 3);
        expect(runs(world)).toEqual([1, 1, 4]);
      });
    },
  );

  test('220-execution-rate: for a version that the CRD does not serve the binding is retried', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using hooks = await DirectoryCopy.of(cataloguePath('220-execution-rate', 'hooks'));
    await hooks.replace('settings-rate-limit.sh', 'stable.example.com/v1', 'stable.example.com/v1alpha1');
    await using world = await hookSetWorld(backend(), '220-execution-rate', {
      directories: { globalHooks: hooks.path },
    });
    await withDefinition(world, await manifest('220-execution-rate', 'crd.yaml'), async () => {
      await world.start();
      expect(
        await failures(world, 2, "apiVersion 'stable.example.com/v1alpha1', kind 'ct' is not supported"),
      ).toHaveLength(2);
    });
  });
}

/** Number of binding contexts of each run so far. */
function runs({ log }: World): number[] {
  return log.printed.flatMap((line) => LINE.exec(line)?.[1] ?? []).map(Number);
}

async function createNumbered(world: World, number: number): Promise<void> {
  const metadata = { name: `crontab-${number}` };
  await createCronTab(world, { apiVersion: 'stable.example.com/v1', kind: 'CronTab', metadata });
}
