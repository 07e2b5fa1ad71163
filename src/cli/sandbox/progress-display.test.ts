import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { type CurrentStatus, ProgressDisplay } from './progress-display.ts';

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

test('an output that is no terminal gets plain lines from the first event on', async () => {
  const { shown, take } = display(false);
  shown.show({ type: 'phase', text: 'sandbox API at http://127.0.0.1:1' });
  shown.show({ type: 'jq-chosen', engine: 'jq 1.7' });
  shown.show({ type: 'module-ready', module: 'web' });
  expect(take()).toBe('TIME sandbox API at http://127.0.0.1:1\nTIME module web is ready\n');
});

test('a terminal gets a block that shows the time, notices above it, and lines once it has ended', async () => {
  const { clock, shown, take } = display(true);
  const running = shown.run();
  expect(take()).toContain('0 s  starting\u001b[K\n');
  await clock.advance(3_000);
  expect(take()).toContain('3 s  starting\u001b[K\n');
  shown.show({ type: 'notice', isError: false, text: 'a notice that is longer than the terminal is wide' });
  expect(take()).toContain('TIME a notice that is longer than the terminal is wide\u001b[K\n3 s  starting');
  shown.show({ type: 'modules-enabled', modules: ['web'] });
  expect(take()).toContain('  web  waiting\u001b[K\n');
  shown.write('the end\n');
  expect(take()).toBe('the end\n');
  shown.show({ type: 'module-ready', module: 'web' });
  expect(take()).toBe('TIME module web is ready\n');
  shown.stop();
  await running;
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('a hook that runs for long is in the block with its age, and gets one line after the end of the block', async () => {
  const { clock, shown, take } = display(true);
  const running = shown.run();
  let long: readonly { readonly key: string; readonly text: string }[] = [];
  shown.showLongHooks(() => long);
  long = [{ key: 'main hang.sh 4711', text: 'hook hang.sh runs for 10 s' }];
  await clock.advance(1_000);
  expect(take()).toContain('1 s  starting\u001b[K\n  hook hang.sh runs for 10 s');
  shown.endBlock();
  take();
  await clock.advance(1_000);
  expect(take()).toBe('TIME hook hang.sh runs for 10 s\n');
  long = [{ key: 'main hang.sh 4711', text: 'hook hang.sh runs for 11 s' }];
  await clock.advance(1_000);
  expect(take()).toBe('');
  // Another run of the same hook.
  long = [{ key: 'main hang.sh 4712', text: 'hook hang.sh runs for 10 s' }];
  await clock.advance(1_000);
  expect(take()).toBe('TIME hook hang.sh runs for 10 s\n');
  shown.stop();
  await running;
});

test('after the block a line says when the operator needs a person for longer, and when it no longer does', async () => {
  const { clock, shown, take } = display(false);
  let status: ReturnType<CurrentStatus> = { level: 'well', text: 'all is well' };
  shown.showStatus(() => status);
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
