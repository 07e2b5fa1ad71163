import { join } from 'node:path';
import { LONGEST_DELAY_MS } from '@addon-operator/concurrency/bounded-time';
import { describe, expect, test } from 'vitest';
import { host } from '../support/extension-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName, untilStatus } from '../support/module-world.ts';
import type { Backend, World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, under, writeTree } from '../support/world-files.ts';

/** More milliseconds than a date can hold. */
const ENDLESS_MS = Number.MAX_SAFE_INTEGER;

const REQUEUE_LATE = (module: string) => `import { defineFlowHooks } from 'addon-operator/sdk';
export default defineFlowHooks((hooks) => {
  hooks.registerHook(
    ({ module }) => (module?.name === '${module}' ? { requeueAfterMs: ${ENDLESS_MS} } : undefined),
    'End',
  );
});
`;

/** Two modules with a ConfigMap each: the first one gets the files of the test. */
async function twoModules(backend: Backend, more: FileTree) {
  const [slow, quick] = [uniqueName(), uniqueName()];
  const modules = {
    'values.yaml': `${slow}Enabled: true\n${quick}Enabled: true\n`,
    ...under(`001-${slow}`, { ...configMapChart(slow, slow), ...more }),
    ...under(`002-${quick}`, configMapChart(quick, quick)),
  };
  const flags = { 'module-failure-policy': 'isolate' };
  const made = await moduleWorld(backend, { modules, config: {}, flags }, [slow, quick]);
  return { slow, quick, made, world: made.world };
}

async function changeAndSee(world: World, module: string): Promise<void> {
  await untilStatus(world, module, { phase: 'Succeeded' });
  await world.putConfig({ [module]: 'size: 5' });
  await untilStatus(world, module, { phase: 'Succeeded', release: { revision: 2 } });
}

/** The time that `explain module` prints beside a title, in milliseconds from now. */
async function explainedDelayMs(world: World, module: string, title: string): Promise<number> {
  const { exitCode, stdout, stderr } = await runInWorld(world, 'explain', 'module', module);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const [, time = ''] = new RegExp(`${title}.*?(\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z)`, 'u').exec(stdout) ?? [];
  return Date.parse(time) - world.clock.wallMs();
}

/** Times from extensions that no date can hold. */
describeApiIndependent((backend) => {
  describe('a delay that no date can hold', () => {
    test('of a flow hook is limited, and the statuses of Module objects are still written', async () => {
      const { slow, quick, made, world } = await twoModules(backend(), {});
      await using _made = made;
      await writeTree(join(world.directory, 'flow-hooks'), { 'late.ts': REQUEUE_LATE(slow) });
      await world.converge();
      await changeAndSee(world, quick);
      await changeAndSee(world, slow);
      expect(Math.abs((await explainedDelayMs(world, slow, 'next run')) - LONGEST_DELAY_MS)).toBeLessThan(
        600_000,
      );
    });

    test('of a check that blocks a module is limited, and the statuses of Module objects are still written', async () => {
      const { slow, quick, made, world } = await twoModules(backend(), {
        'customizations/core/config-map.ts': host('preReconcileCheck', `return block('why', ${ENDLESS_MS});`),
      });
      await using _made = made;
      await world.converge();
      const { status } = await untilStatus(world, slow, {
        lastError: expect.stringContaining('why'),
        nextRetry: expect.any(String),
      });
      const delayMs = Date.parse(String(status?.['nextRetry'])) - world.clock.wallMs();
      expect(Math.abs(delayMs - LONGEST_DELAY_MS)).toBeLessThan(600_000);
      await changeAndSee(world, quick);
      expect(await explainedDelayMs(world, slow, 'attempts')).toBeGreaterThan(0);
    });
  });
});
