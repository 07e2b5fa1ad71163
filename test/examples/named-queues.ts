import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

export function namedQueuesTests(backend: () => Backend): void {
  test(
    'named-queues: the hook in main does not wait for the one in its own queue',
    apiIndependent,
    async () => {
      await using world = await exampleWorld(backend(), 'named-queues');
      await world.converge();
      world.clock.jump(10_000);
      await world.log.untilPrinted('report begins');
      expect(world.daemon.operator.queues.get('reports').status.type).toBe('running');
      await world.log.untilPrinted('report ends');
      const { printed } = world.log;
      expect(printed.indexOf('check done')).toBeLessThan(printed.indexOf('report ends'));
    },
  );
}
