import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import type { Backend } from '../support/world.ts';
import { exampleWorld } from './example-world.ts';

export function scheduleHookTests(backend: () => Backend): void {
  test(
    'schedule-hook: both schedules fire, and the hook knows which of them it is',
    apiIndependent,
    async () => {
      await using world = await exampleWorld(backend(), 'schedule-hook');
      await world.converge();
      expect(world.log.printed).toEqual([]);
      world.clock.jump(10_000);
      await world.log.untilPrinted('ten seconds have passed');
      world.clock.jump(3_600_000);
      await world.log.untilPrinted('a new hour has begun');
    },
  );
}
