import { expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { LauncherWatch } from './launcher-watch.ts';

const STOPPED = 'launcher was stopped by a signal; it is continued';
const SILENT = 'launcher does not respond: no process starts, and none ends at its time limit';
const KILLED = 'launcher does not respond and is killed; what it ran fails and is tried again';

/** A launcher that responds, or not, with work that a test takes away. */
function watched({ state = 'S' }: { readonly state?: string } = {}) {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const stopping = new AbortController();
  const lab = { responses: false, isBusy: true, pings: 0, signals: [] as string[], clock, log, stopping };
  const watch = new LauncherWatch({
    launcher: {
      pid: 42,
      ping: () => {
        lab.pings += 1;
        if (lab.responses) watch.responded();
      },
      kill: (signal) => lab.signals.push(signal),
    },
    clock,
    log: log.logger,
    signal: stopping.signal,
    isBusy: () => lab.isBusy,
    stateOf: () => state,
  });
  /** Lets ten seconds pass, so many times. */
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round += 1) {
      await clock.untilAsleep();
      await clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { ...lab, lab, watch, rounds, messages: () => log.records.map(({ msg }) => msg) };
}

test('a launcher that responds gets a ping every ten seconds, and is not replaced', async () => {
  const { lab, watch, rounds, messages } = watched();
  lab.responses = true;
  watch.begin();
  watch.begin();
  await rounds(5);
  expect(lab.pings).toBe(6);
  expect(lab.signals).toEqual([]);
  expect(messages()).toEqual([]);
});

test('a stopped launcher is continued, each time', async () => {
  const { lab, watch, rounds, messages } = watched({ state: 'T' });
  watch.begin();
  await rounds(2);
  expect(lab.signals).toEqual(['SIGCONT', 'SIGCONT']);
  expect(messages()).toEqual([STOPPED, STOPPED]);
});

test('a silent launcher is reported once, and killed after a minute', async () => {
  const { lab, watch, rounds, messages } = watched();
  watch.begin();
  await rounds(5);
  expect(messages()).toEqual([SILENT]);
  expect(lab.signals).toEqual([]);
  await rounds(1);
  expect(messages()).toEqual([SILENT, KILLED]);
  expect(lab.signals).toEqual(['SIGKILL']);
});

test('a response before the minute is over starts the count again', async () => {
  const { lab, watch, rounds, messages } = watched();
  watch.begin();
  await rounds(5);
  watch.responded();
  lab.responses = true;
  await rounds(1);
  lab.responses = false;
  await rounds(5);
  expect(lab.signals).toEqual([]);
  expect(messages()).toEqual([SILENT, SILENT]);
});

test('a launcher without runs gets no ping, until the next run begins', async () => {
  const { lab, watch, rounds, clock } = watched();
  watch.begin();
  lab.isBusy = false;
  await rounds(1);
  expect(clock.pendingDelaysMs).toEqual([]);
  lab.isBusy = true;
  watch.begin();
  expect(lab.pings).toBe(2);
  await clock.untilAsleep();
});

test('the watch ends with its signal and leaves no timer', async () => {
  const { watch, clock, stopping } = watched();
  watch.begin();
  await clock.untilAsleep();
  stopping.abort();
  expect(clock.pendingDelaysMs).toEqual([]);
});
