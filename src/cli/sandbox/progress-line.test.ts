import { expect, test } from 'vitest';
import type { FailedTask } from '../../queues/failed-task.ts';
import type { ProgressEvent } from './progress-event.ts';
import { progressLineOf } from './progress-line.ts';
import { advance, NO_PROGRESS } from './progress-state.ts';

const HOOK = { module: 'web', hook: 'a.sh', binding: 'schedule' };
const FAILED: FailedTask = {
  queue: 'main',
  task: 'GlobalHookRun',
  module: '',
  hook: 'bad.sh',
  failures: 1,
  error: 'boom\nmore\n',
  facts: {},
  delayMs: 5_100,
  holdsUpFirstConverge: false,
};

test.each<[ProgressEvent, string | undefined]>([
  [
    { type: 'hook-finished', run: HOOK, durationMs: 12.4 },
    'hook web/a.sh ran (schedule, 12 ms): said \\u001b[2J',
  ],
  [{ type: 'helm-done', module: 'web', revision: 3 }, 'module web is deployed, revision 3'],
  [{ type: 'module-ready', module: 'web' }, 'module web is ready'],
  [{ type: 'modules-enabled', modules: [] }, 'enabled modules: none'],
  [{ type: 'module-disabled', module: 'web', reason: 'no' }, 'module web is disabled: no'],
  [{ type: 'task-failed', failed: FAILED }, 'hook bad.sh failed (attempt 1, next in 6 s): boom | more'],
  [
    { type: 'task-failed', failed: { ...FAILED, facts: { exitCode: 3 } } },
    'hook bad.sh failed (exit code 3, attempt 1, next in 6 s): boom | more',
  ],
  [
    { type: 'task-failed', failed: { ...FAILED, task: 'ModuleRun', module: 'web', hook: '' } },
    'module web failed (attempt 1, next in 6 s): boom | more',
  ],
  [
    { type: 'task-failed', failed: { ...FAILED, task: 'ConvergeModules', hook: '' } },
    'ConvergeModules failed (attempt 1, next in 6 s): boom | more',
  ],
  [{ type: 'notice', isError: true, text: 'look\nhere' }, 'look | here'],
  [{ type: 'hook-started', run: HOOK }, undefined],
])('lineOf() %j', (event, expected) => {
  const progress = { ...NO_PROGRESS, printed: new Map([['web/a.sh', ['said \u001b[2J']]]) };
  expect(progressLineOf(event, progress)?.text).toBe(expected);
});

test('a failed hook is shown with the last lines that it printed', () => {
  const failed = { ...FAILED, error: 'exit 1: boom' };
  const printed = new Map([['bad.sh', ['boom', 'disk is full (free: 3)']]]);
  expect(progressLineOf({ type: 'task-failed', failed }, { ...NO_PROGRESS, printed })?.text).toBe(
    'hook bad.sh failed (attempt 1, next in 6 s): exit 1: boom | it printed: disk is full (free: 3)',
  );
});

test('an error that is the same as in the attempt before is not repeated', () => {
  const first: ProgressEvent = { type: 'task-failed', failed: { ...FAILED, error: 'no disk' } };
  const again: ProgressEvent = { type: 'task-failed', failed: { ...FAILED, error: 'no disk', failures: 2 } };
  const other: ProgressEvent = { type: 'task-failed', failed: { ...FAILED, error: 'no room', failures: 3 } };
  const progress = advance(NO_PROGRESS, first);
  expect(progressLineOf(again, progress)?.text).toBe(
    'hook bad.sh failed again with the same error (attempt 2, next in 6 s)',
  );
  expect(progressLineOf(other, progress)?.text).toBe('hook bad.sh failed (attempt 3, next in 6 s): no room');
  expect(progressLineOf(first, progress)?.text).toBe('hook bad.sh failed (attempt 1, next in 6 s): no disk');
});

test('the error of a hook does not repeat its name', () => {
  const failed = { ...FAILED, error: "global hook 'bad.sh' failed: no disk" };
  expect(progressLineOf({ type: 'task-failed', failed }, NO_PROGRESS)?.text).toBe(
    'hook bad.sh failed (attempt 1, next in 6 s): no disk',
  );
});
