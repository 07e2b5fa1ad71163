import { World } from '../../support/world.ts';
import { shHook } from '../../support/world-files.ts';
import { formatSample } from '../format-sample.ts';
import type { Scenario } from '../scenario.ts';

const FAILURE = 'Global hook failed, requeue task to retry after delay.';

export const logScenario: Scenario = {
  title: 'what a hook prints is logged as the page shows',
  takes: ['log-line'],
  gives: ['log-record', 'log-failure'],
  async run(backend, taken) {
    await using world = await World.create(backend, {
      globalHooks: {
        'disk.sh': shHook('onStartup: 1', `cat <<'LINE'\n${taken('log-line')}LINE`),
        'mail.sh': shHook('onStartup: 2', 'echo "no route to host" >&2\nexit 3'),
      },
    });
    await world.start();
    await world.log.untilMessage(FAILURE);
    const record = world.log.records.find(({ msg }) => msg === 'disk nearly full');
    const failure = world.log.records.find(({ msg }) => msg === FAILURE);
    const text = (value: unknown): string => `${formatSample(withoutIds(value))}\n`;
    return { 'log-record': text(record), 'log-failure': text(failure) };
  },
};

/** Without what is different each time, or there only at level debug. */
function withoutIds(record: unknown): unknown {
  const entries = Object.entries(record ?? {});
  return Object.fromEntries(
    entries.filter(([key]) => !['task', 'task.id', 'time', 'source', 'path'].includes(key)),
  );
}
