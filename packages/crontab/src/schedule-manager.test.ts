import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { ScheduleManager } from './schedule-manager.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

function setUp(onFire?: (crontab: string) => void) {
  const clock = new JumpingClock(START_MS);
  const fired: string[] = [];
  const missed: (readonly [string, number])[] = [];
  const schedules = new ScheduleManager({
    clock,
    log: silentLogger,
    timeZone: 'UTC',
    onMissed: (crontab, count) => missed.push([crontab, count]),
  });
  const stop = new AbortController();
  const stopped = schedules.run((crontab, ids) => {
    fired.push(`${new Date(clock.wallMs()).toISOString().slice(11, 19)} ${crontab} ${ids.join(',')}`);
    onFire?.(crontab);
  }, stop.signal);
  return { clock, fired, missed, schedules, stop, stopped };
}

/** Timers run on, but the wall clock can be set. */
class JumpingClock extends FakeClock {
  /** Earlier additions and aborts take effect before the jump. */
  override async advance(ms: number): Promise<void> {
    await settle();
    await super.advance(ms);
  }
}

test('ScheduleManager fires a crontab for everyone who added it', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('* * * * *', 'a');
  schedules.add('* * * * *', 'b');
  await clock.advance(120_000);
  expect(fired).toEqual(['00:01:00 * * * * * a,b', '00:02:00 * * * * * a,b']);
});

test('ScheduleManager keeps differently spelled crontabs apart and fires them in a stable order', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('0 * * * * *', 'six');
  schedules.add('* * * * *', 'five');
  await clock.advance(60_000);
  expect(fired).toEqual(['00:01:00 * * * * * five', '00:01:00 0 * * * * * six']);
});

test('ScheduleManager has one timer, however many crontabs there are', async () => {
  const { clock, fired, schedules } = setUp();
  for (let minute = 0; minute < 60; minute += 1) schedules.add(`${minute} 1 * * *`, 'a');
  await clock.advance(0);
  expect(clock.pendingDelaysMs).toHaveLength(1);
  await clock.advance(2 * HOUR_MS);
  expect(fired).toHaveLength(60);
});

test('ScheduleManager counts how often an id was added', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('* * * * *', 'a');
  schedules.add('* * * * *', 'a');
  schedules.remove('* * * * *', 'a');
  await clock.advance(60_000);
  schedules.remove('* * * * *', 'a');
  schedules.remove('* * * * *', 'a');
  await clock.advance(60_000);
  expect(fired).toEqual(['00:01:00 * * * * * a']);
});

test('ScheduleManager starts @every when it is added, and does not drift', async () => {
  const { clock, fired, schedules } = setUp();
  await clock.advance(10_400);
  schedules.add('@every 7s', 'a');
  await clock.advance(21_000);
  expect(fired.map((line) => line.slice(0, 8))).toEqual(['00:00:17', '00:00:24', '00:00:31']);
});

test('ScheduleManager may be changed by what it fires', async () => {
  const { clock, fired, schedules } = setUp((crontab) => {
    if (crontab === '* * * * *') schedules.remove('0 * * * * *', 'six');
  });
  schedules.add('0 * * * * *', 'six');
  schedules.add('* * * * *', 'five');
  await clock.advance(60_000);
  expect(fired).toEqual(['00:01:00 * * * * * five']);
});

test('ScheduleManager lives on when a handler throws', async () => {
  const { clock, fired, schedules } = setUp(() => {
    throw new Error('no');
  });
  schedules.add('* * * * *', 'a');
  await clock.advance(120_000);
  expect(fired).toHaveLength(2);
});

test('FAULT-I1: ScheduleManager refuses an invalid crontab', () => {
  const { schedules } = setUp();
  expect(() => schedules.add('61 * * * *', 'a')).toThrow('minute "61" is not within 0-59');
});

test('FAULT-I5: a clock that jumps ahead makes every crontab fire once, and counts the rest', async () => {
  const { clock, fired, missed, schedules } = setUp();
  schedules.add('* * * * *', 'a');
  schedules.add('30 0 * * *', 'b');
  await clock.advance(90_000);
  clock.setWall(HOUR_MS);
  await clock.advance(30_000);
  expect(fired).toEqual(['00:01:00 * * * * * a', '01:02:00 * * * * * a', '01:02:00 30 0 * * * b']);
  expect(missed).toEqual([['* * * * *', 60]]);
  await clock.advance(60_000);
  expect(fired.slice(3)).toEqual(['01:03:00 * * * * * a']);
});

test('FAULT-I5: a clock that jumps over the next tick of a crontab is noticed within a minute', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('0 12 * * *', 'a');
  await settle();
  clock.setWall(12 * HOUR_MS);
  await clock.advance(60_000);
  expect(fired).toEqual(['12:01:00 0 12 * * * a']);
});

test('FAULT-I5: a clock that is set back an hour causes no silence', async () => {
  const { clock, fired, schedules } = setUp();
  await clock.advance(2 * HOUR_MS);
  schedules.add('* * * * *', 'a');
  await clock.advance(90_000);
  clock.setWall(-HOUR_MS);
  await clock.advance(120_000);
  expect(fired).toEqual(['02:01:00 * * * * * a', '01:03:00 * * * * * a']);
});

test('a clock that is set back a little repeats no tick', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('* * * * *', 'a');
  await clock.advance(60_000);
  clock.setWall(-5_000);
  await clock.advance(65_000);
  expect(fired).toEqual(['00:01:00 * * * * * a', '00:02:00 * * * * * a']);
});

test('FAULT-I5: a clock that is set back by less than a minute repeats no tick, when another crontab is due in between', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('* * * * *', 'a');
  schedules.add('30 * * * * *', 'b');
  await clock.advance(110_000);
  clock.setWall(-55_000);
  await clock.advance(80_000);
  expect(fired).toEqual([
    '00:00:30 30 * * * * * b',
    '00:01:00 * * * * * a',
    '00:01:30 30 * * * * * b',
    '00:02:00 * * * * * a',
  ]);
});

test('FAULT-I6: a long sleep of the process fires a crontab once', async () => {
  const { clock, fired, missed, schedules } = setUp();
  schedules.add('*/10 * * * * *', 'a');
  await settle();
  clock.setWall(24 * HOUR_MS);
  await clock.advance(10_000);
  expect(fired).toEqual(['00:00:10 */10 * * * * * a']);
  expect(missed).toEqual([['*/10 * * * * *', 1_000]]);
});

test('FAULT-I8: a crontab due in many weeks is not fired before', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('0 0 1 3 *', 'a');
  await clock.advance(58 * 24 * HOUR_MS);
  expect(fired).toEqual([]);
  await clock.advance(24 * HOUR_MS);
  expect(fired).toEqual(['00:00:00 0 0 1 3 * a']);
});

test('a crontab that never fires does no harm', async () => {
  const { clock, fired, schedules } = setUp();
  schedules.add('0 0 30 2 *', 'never');
  schedules.add('* * * * *', 'a');
  await clock.advance(60_000);
  expect(fired).toEqual(['00:01:00 * * * * * a']);
});

test('run() ends when its signal aborts', async () => {
  const { clock, schedules, stop, stopped } = setUp();
  schedules.add('* * * * *', 'a');
  await settle();
  stop.abort();
  await stopped;
  expect(clock.pendingDelaysMs).toEqual([]);
});
