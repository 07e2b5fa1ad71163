import { expect, test } from 'vitest';
import { contextHook, contextsOf, untilRuns } from '../support/context-hook.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';

/** When crontabs run hooks; corner case 72 of the hook contract. */
describeApiIndependent((backend) => {
  test('equal crontabs make a context for each binding, differently spelled ones too', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'ticks.sh': contextHook({
          schedule: [
            { name: 'a', crontab: '* * * * *', queue: 'q' },
            { name: 'b', crontab: '0 * * * * *', queue: 'q' },
            { name: 'c', crontab: '* * * * *', queue: 'q' },
          ],
        }),
      },
    });
    await world.converge();
    world.clock.jump(60_000);
    await untilRuns(world.log, 'ticks.sh', 1);
    const bindings = contextsOf(world.log, 'ticks.sh').flatMap((run) => run.map(({ binding }) => binding));
    expect(bindings).toEqual(['a', 'c', 'b']);
  });

  test('missed ticks are counted, and the hook runs once for all of them', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'ticks.sh': contextHook({ schedule: [{ crontab: '*/10 * * * *' }] }) },
    });
    await world.converge();
    world.clock.jump(60 * 60_000);
    await untilRuns(world.log, 'ticks.sh', 1);
    const page = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
    expect(page).toContain('addon_operator_schedule_missed_ticks_total{crontab="*/10 * * * *"} 5');
    expect(contextsOf(world.log, 'ticks.sh')).toEqual([[{ binding: 'schedule', type: 'Schedule' }]]);
  });
});
