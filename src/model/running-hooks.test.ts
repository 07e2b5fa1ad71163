import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { hookFor } from '../../test/support/operator-lab.ts';
import { RunningHooks } from './running-hooks.ts';

const TEN_MINUTES_MS = 600_000;
const LABELS = { module: 'web', hook: 'hooks/a.sh', binding: 'schedule', queue: 'main', activation: '' };

const hook = await hookFor('web/hooks/a.sh', { onStartup: 1 });
const abort = (): void => undefined;

test('a hook is warned of once and explained, when it has been running for ten minutes', async () => {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const running = new RunningHooks(clock);
  const run = running.add({ labels: LABELS, hook, log: log.logger, startedAtMs: 5, abort });
  await clock.advance(TEN_MINUTES_MS - 1);
  running.warnOfLong();
  expect(log.records).toEqual([]);
  expect(running.longOf('web')).toEqual([]);
  await clock.advance(1);
  running.warnOfLong();
  running.warnOfLong();
  expect(log.records).toMatchObject([{ level: 'warn', runningMs: TEN_MINUTES_MS }]);
  await clock.advance(65_000);
  expect(running.longOf('web')).toEqual([
    'the end of its hook hooks/a.sh (schedule), which has been running for 11 minutes',
  ]);
  expect(running.longOf('db')).toEqual([]);
  run.end();
  expect(running.longOf('web')).toEqual([]);
});

test('all lists the runs of now, each until it ends, when two have the same labels', () => {
  const clock = new FakeClock();
  const running = new RunningHooks(clock);
  const { logger: log } = new CapturedLog(clock);
  const runs = [1, 2].map((startedAtMs) => running.add({ labels: LABELS, hook, log, startedAtMs, abort }));
  runs[0]?.end();
  expect(running.all.map(({ startedAtMs }) => startedAtMs)).toEqual([2]);
});
