import type { LogFields } from '@addon-operator/base/log';
import type { LogRecord } from '@addon-operator/logging/observe-log';
import { expect, test } from 'vitest';
import { type ProgressEvent, progressOf } from './progress-event.ts';

const RUN = { module: 'web', hook: 'hooks/a.sh', binding: 'beforeHelm' };

test.each<[LogRecord['level'], string, LogFields, ProgressEvent | undefined]>([
  ['info', 'helm', { path: '/h', version: '3.17.3' }, { type: 'helm-found', version: '3.17.3' }],
  ['info', 'jq engine', { engine: 'jq 1.7' }, { type: 'jq-chosen', engine: 'jq 1.7' }],
  ['info', 'fetching the pinned helm', { progress: 'fetching' }, { type: 'phase', text: 'fetching' }],
  ['info', 'Enabled modules', { modules: ['a', 'b'] }, { type: 'modules-enabled', modules: ['a', 'b'] }],
  ['debug', 'hook started', RUN, { type: 'hook-started', run: RUN }],
  ['info', 'hook finished', { ...RUN, durationMs: 7 }, { type: 'hook-finished', run: RUN, durationMs: 7 }],
  [
    'debug',
    'hook started',
    { ...RUN, 'hook.type': 'global' },
    { type: 'hook-started', run: { ...RUN, module: '' } },
  ],
  ['info', 'hi', { ...RUN, output: 'stdout' }, { type: 'hook-printed', run: RUN, line: 'hi' }],
  [
    'warn',
    'disk',
    { ...RUN, output: 'stdout', hook_free: 3, hook_path: '/a' },
    { type: 'hook-printed', run: RUN, line: 'disk (free: 3, path: /a)' },
  ],
  ['info', 'helm', { ...RUN, output: 'stdout' }, { type: 'hook-printed', run: RUN, line: 'helm' }],
  [
    'info',
    'Running helm upgrade for release',
    { release: 'web', operation: 'install' },
    { type: 'helm-running', module: 'web', operation: 'install' },
  ],
  [
    'info',
    'Helm upgrade successful',
    { release: 'web', revision: 2 },
    { type: 'helm-done', module: 'web', revision: 2 },
  ],
  ['info', 'ModuleRun success, module is ready', { module: 'web' }, { type: 'module-ready', module: 'web' }],
  ['info', 'first converge is finished. Operator is ready now.', {}, { type: 'converged' }],
  ['info', 'HTTP server listens', { port: 1 }, undefined],
  ['error', 'ModuleRun failed. Requeue task to retry after delay.', { module: 'web' }, undefined],
  ['error', 'Task failed, requeue it to retry after delay.', {}, undefined],
  [
    'warn',
    'file is not executable',
    { path: '/a', fix: 'chmod +x /a', queue: 'main' },
    { type: 'notice', isError: false, text: 'file is not executable (path: /a, fix: chmod +x /a)' },
  ],
  [
    'warn',
    'keys are ignored',
    { module: 'web', ignored: ['a: unknown key', 'tags: expected a list of strings, got "x"'] },
    {
      type: 'notice',
      isError: false,
      text: 'keys are ignored (module: web, ignored: a: unknown key; tags: expected a list of strings, got "x")',
    },
  ],
  [
    'warn',
    'there are no modules',
    { modulesDirs: ['/a', '/b'], globalHooksDir: '/hooks' },
    {
      type: 'notice',
      isError: false,
      text: 'there are no modules (modulesDirs: /a; /b, globalHooksDir: /hooks)',
    },
  ],
  [
    'fatal',
    'the daemon cannot start',
    { error: new Error('no port', { cause: 'busy' }) },
    { type: 'notice', isError: true, text: 'the daemon cannot start (error: no port: busy)' },
  ],
])('progressOf() a record of level %s, "%s" %j', (level, message, fields, expected) => {
  expect(progressOf({ level, message, fields })).toEqual(expected);
});
