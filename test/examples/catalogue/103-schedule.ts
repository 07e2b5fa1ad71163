import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend, World } from '../../support/world.ts';
import { hookSetWorld, requireTools } from './catalogue-world.ts';

const SIX = "Message from 'schedule' hook with 6 fields crontab: ";
const FIVE = "Message from 'schedule' hook with 5 fields crontab: ";

export function scheduleTests(backend: () => Backend): void {
  test(
    '103-schedule: every schedule fires in its time, and the hook sees which',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash');
      await using world = await hookSetWorld(backend(), '103-schedule');
      await world.converge();
      // To a moment between two ticks, so that each jump passes exactly one.
      world.clock.jump(7_500 - (world.clock.steadyMs() % 5_000));
      await world.daemon.operator.router.main.untilEmpty();
      for (let ticks = 0; ticks < 12; ticks += 1) {
        const before = contexts(world, SIX, 'every 5 sec');
        world.clock.jump(5_000);
        await world.log.until(() => contexts(world, SIX, 'every 5 sec') > before);
      }
      await world.log.until(() => contexts(world, FIVE, 'every 1 min') >= 1);
      await world.log.until(() => contexts(world, SIX, 'every 10 sec') >= 6);
      expect(world.log.printed).toContain(`${SIX}[{"binding":"every 5 sec","type":"Schedule"}]`);
      world.clock.jump(300_000);
      await world.log.until(() => contexts(world, SIX, 'every 5 min') >= 1);
      await world.log.until(() => contexts(world, FIVE, 'every 5 min') >= 1);
    },
  );
}

/** How often a binding was named in the lines of one hook, alone or together with others. */
function contexts({ log }: World, prefix: string, binding: string): number {
  const lines = log.printed.filter((line) => line.startsWith(prefix));
  return lines.join().split(`{"binding":"${binding}","type":"Schedule"}`).length - 1;
}
