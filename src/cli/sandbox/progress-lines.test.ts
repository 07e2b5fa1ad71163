import type { LogFields } from '@addon-operator/base/log';
import type { LogRecord } from '@addon-operator/logging/observe-log';
import { expect, test } from 'vitest';
import type { FailedTask } from '../../queues/failed-task.ts';
import { type ProgressLine, ProgressLines } from './progress-lines.ts';

const RUN = { module: 'web', hook: 'a.sh', binding: 'beforeHelm' };
const GLOBAL = { ...RUN, hook: 'bad.sh', 'hook.type': 'global' };
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

function record(message: string, fields: LogFields = {}, level: LogRecord['level'] = 'info'): LogRecord {
  return { level, message, fields };
}

test.each<[LogRecord, ProgressLine['kind'], string]>([
  [record('helm', { path: '/h', version: '3.17.3' }), 'plain', 'helm 3.17.3'],
  [record('fetching the pinned helm', { progress: 'fetching' }), 'plain', 'fetching'],
  [record('Enabled modules', { modules: ['a', 'b'] }), 'plain', 'enabled modules: a, b'],
  [record('Enabled modules', { modules: [] }), 'plain', 'enabled modules: none'],
  [record('Module is disabled', { module: 'web', reason: 'no' }), 'plain', 'module web is disabled: no'],
  [record('Module is disabled', { module: 'web' }), 'plain', 'module web is disabled'],
  [record('hook finished', { ...RUN, durationMs: 12.4 }), 'plain', 'hook web/a.sh ran (beforeHelm, 12 ms)'],
  [record('hook finished', { ...GLOBAL, durationMs: 7 }), 'plain', 'hook bad.sh ran (beforeHelm, 7 ms)'],
  [
    record('Running helm upgrade for release', { release: 'web', operation: 'install' }),
    'plain',
    'module web: helm install',
  ],
  [
    record('Helm upgrade successful', { release: 'web', revision: 2 }),
    'good',
    'module web is deployed, revision 2',
  ],
  [record('ModuleRun success, module is ready', { module: 'web' }), 'good', 'module web is ready'],
  [
    record('delivery of a module', { module: 'web', detail: '1.1.0 waits: Held: holidays' }),
    'plain',
    'module web: 1.1.0 waits: Held: holidays',
  ],
  [
    record('delivery of a module', { module: 'web', detail: 'Version 1.1.0 has failed: slow' }, 'warn'),
    'warning',
    'module web: Version 1.1.0 has failed: slow',
  ],
  [record('ModuleDelete success, module is deleted', { module: 'web' }), 'plain', 'module web is deleted'],
  [
    record('saved files are used', { files: ['a', 'b', 'c', 'd'], effect: 'module web runs' }),
    'plain',
    'saved a, b, c and 1 more: module web runs',
  ],
  [
    record('file is not executable', { path: '/a', fix: 'chmod +x /a', queue: 'main' }, 'warn'),
    'warning',
    'file is not executable (path: /a, fix: chmod +x /a)',
  ],
  [
    record('keys are ignored', { module: 'web', ignored: ['a: unknown key', 'tags: "x"'] }, 'warn'),
    'warning',
    'keys are ignored (module: web, ignored: a: unknown key; tags: "x")',
  ],
  [record('look\nhere \u001b[2J', {}, 'error'), 'failure', 'look | here \\u001b[2J'],
  [
    record('the daemon cannot start', { error: new Error('no port', { cause: 'busy' }) }, 'fatal'),
    'failure',
    'the daemon cannot start (error: no port: busy)',
  ],
])('%j is shown as a line', (shown, kind, text) => {
  expect(new ProgressLines().ofRecord(shown)).toEqual({ kind, text });
});

test.each<[LogRecord]>([
  [record('HTTP server listens', { port: 1 })],
  [record('constructor', {})],
  [record('hook started', RUN)],
  [record('helm', { ...RUN, output: 'stdout' })],
  [record('ModuleRun failed. Requeue task to retry after delay.', { module: 'web' }, 'error')],
  [record('Task failed, requeue it to retry after delay.', {}, 'error')],
])('%j is not shown', (hidden) => {
  expect(new ProgressLines().ofRecord(hidden)).toBeUndefined();
});

test('the versions of helm and of the jq engine are kept', () => {
  const lines = new ProgressLines();
  lines.ofRecord(record('helm', { version: '3.17.3' }));
  lines.ofRecord(record('jq engine', { engine: 'jq 1.7' }));
  expect([lines.helmVersion, lines.jqEngine]).toEqual(['3.17.3', 'jq 1.7']);
});

test.each<[Partial<FailedTask>, string]>([
  [{}, 'hook bad.sh failed (attempt 1, next in 6 s): boom | more'],
  [{ facts: { exitCode: 3 } }, 'hook bad.sh failed (exit code 3, attempt 1, next in 6 s): boom | more'],
  [{ task: 'ModuleRun', module: 'web', hook: '' }, 'module web failed (attempt 1, next in 6 s): boom | more'],
  [
    { task: 'ModuleRun', module: 'web', hook: '', error: 'run hooks by binding beforeHelm: a.sh failed: x' },
    'module web failed (attempt 1, next in 6 s): a.sh failed: x',
  ],
  [{ task: 'ConvergeModules', hook: '' }, 'ConvergeModules failed (attempt 1, next in 6 s): boom | more'],
  [{ error: "global hook 'bad.sh' failed: no disk" }, 'hook bad.sh failed (attempt 1, next in 6 s): no disk'],
])('the failure %j is shown as %j', (failed, text) => {
  expect(new ProgressLines().ofFailure({ ...FAILED, ...failed })).toEqual({ kind: 'failure', text });
});

test('the last lines that a hook printed are part of the line about its run', () => {
  const lines = new ProgressLines();
  const printed = (message: string, fields: LogFields = {}): void => {
    expect(lines.ofRecord(record(message, { ...RUN, output: 'stdout', ...fields }))).toBeUndefined();
  };
  for (const line of ['one', 'two', 'three']) printed(line);
  printed('disk', { hook_free: 3, hook_path: '/a' });
  const finished = record('hook finished', { ...RUN, durationMs: 7 });
  expect(lines.ofRecord(finished)?.text).toBe(
    'hook web/a.sh ran (beforeHelm, 7 ms): two | three | disk (free: 3, path: /a)',
  );
  expect(lines.ofRecord(finished)?.text).toBe('hook web/a.sh ran (beforeHelm, 7 ms)');
  printed('of a run that failed');
  lines.ofRecord(record('hook started', RUN));
  expect(lines.ofRecord(finished)?.text).toBe('hook web/a.sh ran (beforeHelm, 7 ms)');
});

test('a failed hook is shown with the last lines that it printed', () => {
  const lines = new ProgressLines();
  for (const line of ['boom', 'disk is full (free: 3)'])
    lines.ofRecord(record(line, { ...GLOBAL, output: 'stderr' }));
  expect(lines.ofFailure({ ...FAILED, error: 'exit 1: boom' }).text).toBe(
    'hook bad.sh failed (attempt 1, next in 6 s): exit 1: boom | it printed: disk is full (free: 3)',
  );
});

test('an error that is the same as in the attempt before is not repeated', () => {
  const lines = new ProgressLines();
  const textOf = (error: string, failures: number): string =>
    lines.ofFailure({ ...FAILED, error, failures }).text;
  expect(textOf('no disk', 1)).toBe('hook bad.sh failed (attempt 1, next in 6 s): no disk');
  expect(textOf('no disk', 2)).toBe('hook bad.sh failed again with the same error (attempt 2, next in 6 s)');
  expect(textOf('no room', 3)).toBe('hook bad.sh failed (attempt 3, next in 6 s): no room');
  expect(textOf('no room', 1)).toBe('hook bad.sh failed (attempt 1, next in 6 s): no room');
});
