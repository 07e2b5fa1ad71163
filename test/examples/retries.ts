import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import { watchedMap } from '../support/context-hook.ts';
import type { Backend } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { exampleWorld } from './example-world.ts';

/** These states follow the last record about them. */
const SOON = { timeout: 60_000, interval: 20 };

function order(name: string, data: Readonly<Record<string, string>>) {
  return { ...watchedMap(name, 'orders', data), metadata: { name, labels: { example: 'order' } } };
}

export function retriesTests(backend: () => Backend): void {
  test(
    'retries: an order waits for its price beside the queue, and one without an item is not retried',
    apiIndependent,
    async () => {
      await using world = await exampleWorld(backend(), 'retries');
      await world.converge();
      await world.create('configmaps', order('one', { item: 'tea' }));
      await expect.poll(() => world.daemon.operator.router.held.all, SOON).toHaveLength(1);
      const { stdout } = await runInWorld(world, 'queue', 'list');
      expect(stdout).toContain('Waiting outside of the queues (1):\n- hook orders.sh runs again at ');
      expect(stdout).toContain('waiting for ConfigMap prices');
      await world.create('configmaps', watchedMap('prices', 'prices', { tea: '2' }));
      const [prices] = world.daemon.operator.globalHooks.runtimes;
      await expect.poll(() => prices?.peek(1), SOON).toHaveLength(1);
      world.clock.jump(30_000);
      await world.log.untilPrinted('all orders have a price');

      await world.create('configmaps', order('bad', {}));
      await expect.poll(() => prices?.finalFailures, SOON).toHaveLength(1);
      expect((await runInWorld(world, 'queue', 'list')).stdout).toContain(
        "Failed, not retried (1):\n- global hook 'orders.sh', binding 'orders' failed permanently at ",
      );
      expect((await runInWorld(world, 'status')).stdout).toMatch(
        /an order has no item\n {2}to fix: correct the cause, /u,
      );
    },
  );
}
