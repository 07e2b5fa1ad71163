import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ProgressDisplay, type WatchedOperator } from './progress-display.ts';

function display(isTTY: boolean) {
  let text = '';
  const clock = new FakeClock();
  const stdout = { write: (more: string) => (text += more), isTTY, columns: 40, rows: 10 };
  const shown = new ProgressDisplay({ stdout, clock, env: { NO_COLOR: '1' } });
  const take = (): string => {
    const taken = text.replaceAll(/\d\d:\d\d:\d\d/g, 'TIME');
    text = '';
    return taken;
  };
  return { clock, shown, take };
}

test('each event is a line with the time, on a terminal and elsewhere, regardless of its width', () => {
  for (const isTTY of [true, false]) {
    const { shown, take } = display(isTTY);
    shown.say('sandbox API at http://127.0.0.1:1');
    shown.showRecord({ level: 'info', message: 'jq engine', fields: { engine: 'jq 1.7' } });
    shown.showRecord({
      level: 'info',
      message: 'ModuleRun success, module is ready',
      fields: { module: 'web' },
    });
    shown.say('a notice that is longer than the terminal is wide', 'warning');
    shown.write('the end\n');
    expect(take()).toBe(
      'TIME sandbox API at http://127.0.0.1:1\nTIME module web is ready\nTIME a notice that is longer than the terminal is wide\nthe end\n',
    );
  }
});

const WELL: ReturnType<WatchedOperator['status']> = { level: 'well', text: 'all is well' };

test('a hook that runs for long gets one line for each of its runs', async () => {
  const { clock, shown, take } = display(true);
  const running = shown.run();
  let long: ReturnType<WatchedOperator['longHooks']> = [];
  shown.watch({ longHooks: () => long, status: () => WELL });
  long = [{ key: 'main hang.sh 4711', text: 'hook hang\u001b[2J.sh runs for 10 s' }];
  await clock.advance(1_000);
  expect(take()).toBe('TIME hook hang\\u001b[2J.sh runs for 10 s\n');
  long = [{ key: 'main hang.sh 4711', text: 'hook hang.sh runs for 11 s' }];
  await clock.advance(1_000);
  expect(take()).toBe('');
  // Another run of the same hook.
  long = [{ key: 'main hang.sh 4712', text: 'hook hang.sh runs for 10 s' }];
  await clock.advance(1_000);
  expect(take()).toBe('TIME hook hang.sh runs for 10 s\n');
  shown.stop();
  await running;
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a line says when the operator needs a person for longer, and when it no longer does', async () => {
  const { clock, shown, take } = display(false);
  let status = WELL;
  shown.watch({ longHooks: () => [], status: () => status });
  const running = shown.run();
  await clock.advance(5_000);
  expect(take()).toBe('');
  status = { level: 'broken', text: 'queue main waits 5 s' };
  await clock.advance(1_000);
  expect(take()).toBe('');
  status = { level: 'broken', text: 'queue main waits 4 s' };
  await clock.advance(1_000);
  expect(take()).toBe('TIME status: queue main waits 4 s\n');
  status = { level: 'broken', text: 'queue main waits 3 s' };
  await clock.advance(5_000);
  expect(take()).toBe('');
  status = { level: 'waiting', text: 'module web is starting' };
  await clock.advance(2_000);
  expect(take()).toBe('TIME status: module web is starting\n');
  shown.stop();
  await running;
});
