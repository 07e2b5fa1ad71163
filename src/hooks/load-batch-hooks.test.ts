import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { bashBatch, PANIC } from '../../test/support/batch-hook.ts';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { startHttpHooks } from '../../test/support/http-hooks.ts';
import { startInProcessHooks } from '../../test/support/in-process-hooks.ts';
import { HookConfigParser } from '../hook-config/parse-hook-config.ts';
import type { ModuleName } from '../values/module-key.ts';
import { replacedFile } from './batch-file.ts';
import type { HookOwner } from './hook.ts';
import { HookLoader } from './load-hooks.ts';

const GLOBAL: HookOwner = { type: 'global' };
const MODULE: HookOwner = { type: 'module', module: 'web' as ModuleName };
const never = new AbortController().signal;
const log = new CapturedLog(new FakeClock());

const inProcess = startInProcessHooks();
let launcher: Launcher;
let root: string;

beforeAll(async () => {
  launcher = await startLauncher({ log: silentLogger, clock: systemClock });
});

afterAll(async () => {
  await inProcess.stop();
  await launcher.stop();
});

beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), 'load-batch-')), 'hooks');
  mkdirSync(root);
});

afterEach(() => {
  rmSync(join(root, '..'), { recursive: true });
});

function file(name: string, text: string): void {
  writeFileSync(join(root, name), text);
  chmodSync(join(root, name), 0o755);
}

function load(owner: HookOwner = MODULE, { batchHooks = ['batch'], timeoutMs = 20_000 } = {}) {
  const loader = new HookLoader({
    runner: launcher,
    inProcess,
    http: startHttpHooks(),
    parser: new HookConfigParser({ crontab: () => undefined, jqFilter: async () => undefined }),
    log: log.logger,
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'info' },
    cwd: root,
    timeoutMs,
  });
  return loader.load(root, owner, never, { batchHooks });
}

async function problemOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw new Error(`loaded, or failed with ${String(error)}`);
  return error.message;
}

const TWO = { hooks: { main: { beforeHelm: 5 }, other: { afterHelm: 1 } } };

test('a file named under batchHooks has one hook for each index, named by file, name and index', async () => {
  file('batch', bashBatch(TWO));
  file('a.sh', '#!/bin/sh\necho \'{"configVersion":"v1","onStartup":1}\'\n');
  expect(await load()).toMatchObject([
    { name: 'hooks/a.sh' },
    {
      name: 'hooks/batch:main:0',
      path: join(root, 'batch'),
      transport: 'executable',
      owner: MODULE,
      batch: { type: 'hook', index: 0 },
      config: { lifecycle: { beforeHelm: 5 } },
    },
    { name: 'hooks/batch:other:1', batch: { type: 'hook', index: 1 } },
  ]);
});

test('the bare list of older programs is read too', async () => {
  file('batch', bashBatch({ ...TWO, isList: true }));
  expect((await load()).map(({ name }) => name)).toEqual(['hooks/batch:main:0', 'hooks/batch:other:1']);
});

test('a readiness probe and a check of settings are parts of a module', async () => {
  file('batch', bashBatch({ hooks: {}, readiness: {}, check: 'exit 0' }));
  expect(await load()).toMatchObject([
    {
      name: 'hooks/batch-readiness',
      batch: { type: 'readiness' },
      config: { schedule: [{ crontab: '*/15 * * * * *', queue: 'web-readiness', allowFailure: true }] },
    },
    { name: 'hooks/batch-settings-check', batch: { type: 'settings-check' } },
  ]);
});

test('a second readiness probe of a module is refused', async () => {
  for (const name of ['batch', 'more']) file(name, bashBatch({ hooks: {}, readiness: {} }));
  expect(await problemOf(load(MODULE, { batchHooks: ['batch', 'more'] }))).toContain(
    `${join(root, 'more')}': it has a readiness probe, and ${join(root, 'batch')} has one too`,
  );
});

test('a global hook whose name ends in .batch may have several hooks, before and after all modules', async () => {
  file('cluster.batch', bashBatch(TWO));
  expect(await load(GLOBAL)).toMatchObject([
    { name: 'cluster.batch:main:0', config: { lifecycle: { beforeAll: 5 } } },
    { name: 'cluster.batch:other:1', config: { lifecycle: { afterAll: 1 } } },
  ]);
});

test('a script without extension is never run for anything but --config', async () => {
  const mark = join(root, '..', 'mark');
  file('script', `#!/bin/sh\n[ "$1" = --config ] || echo "$*" >> ${mark}\n[ "$1" != --config ]\n`);
  expect(await problemOf(load())).toMatch(/^cannot get config for hook '.*script': --config ended with/);
  expect(await problemOf(load(GLOBAL))).toContain('--config ended with exit status 1');
  expect(existsSync(mark)).toBe(false);
});

test('a file that prints its configuration for --config is one hook, although it is named under batchHooks', async () => {
  file('batch', '#!/bin/sh\n[ "$*" = --config ] && echo \'{"configVersion":"v1","onStartup":1}\'\n');
  const [hook, ...others] = await load();
  expect(hook).toMatchObject({ name: 'hooks/batch', config: { lifecycle: { onStartup: 1 } } });
  expect(hook).not.toHaveProperty('batch');
  expect(others).toEqual([]);
});

test('a named file that prints something and fails for --config is not called again', async () => {
  const mark = join(root, '..', 'mark');
  file('batch', `#!/bin/sh\necho "$*" >> ${mark}; echo half; exit 3\n`);
  expect(await problemOf(load())).toContain('--config ended with exit status 3\nhook --config output: half');
  expect(execFileSync('cat', [mark], { encoding: 'utf8' })).toBe('--config\n');
});

test('a compiled program is called for its hooks without being named, and what it reports is in the error', async () => {
  copyFileSync(execFileSync('which', ['false'], { encoding: 'utf8' }).trim(), join(root, 'program'));
  chmodSync(join(root, 'program'), 0o755);
  const command = `run \`${join(root, 'program')} hook config\` and correct what it reports`;
  expect(await problemOf(load())).toBe(
    `cannot get config for hook '${join(root, 'program')}': --config ended with exit status 1 and printed nothing, so that it is called as a batch hook: ${command}: hook config ended with exit status 1`,
  );
});

test('a program whose log level would show its error for --config is kept from logging it', async () => {
  const [first, ...rest] = bashBatch(TWO).split('\n');
  const logs =
    '[ "$1" = --config ] && [ "$LOG_LEVEL" != FATAL ] && echo \'{"level":"error","msg":"unknown"}\'';
  file('batch', [first, logs, ...rest].join('\n'));
  expect(await load()).toHaveLength(2);
});

test('log records beside the configuration are no part of it, and a panic in it is the error', async () => {
  const [first, ...rest] = bashBatch(TWO).split('\n');
  file('batch', [first, '[ "$1" = hook ] && echo \'{"level":"error","msg":"slow"}\'', ...rest].join('\n'));
  expect(await load()).toHaveLength(2);
  file('batch', `#!/bin/bash\n[ "$1" = --config ] && exit 1\ncat <<'END'\n${PANIC}\nEND\n`);
  expect(await problemOf(load())).toMatch(
    /correct what it reports: it panicked: boom\ngoroutine 1 \[running\]/,
  );
});

test('the configuration is read with the name of the module and a log level that shows errors', async () => {
  const [first, ...rest] = bashBatch(TWO).split('\n');
  const mark = join(root, '..', 'mark');
  file('batch', [first, `[ "$2" = config ] && echo "$MODULE_NAME $LOG_LEVEL" > ${mark}`, ...rest].join('\n'));
  await load();
  expect(execFileSync('cat', [mark], { encoding: 'utf8' })).toBe('web ERROR\n');
});

const AFTER_CONFIG = '#!/bin/bash\n[ "$1" = --config ] && exit 1\n';

test.each([
  [
    'rubbish',
    'echo hello',
    /hook config invalid: 1 error\(s\) occurred:\n \* not JSON: .*\nhook config output: hello/s,
  ],
  ['a panic of Go', 'echo "panic: boom" >&2; exit 2', /hook config ended with exit status 2: panic: boom/],
  ['nothing in it', 'echo \'{"version":"v1","hooks":[]}\'', /hook config invalid: it lists no hooks/],
  ['an unknown version', 'echo \'{"version":"v7"}\'', /version "v7": known is 'v1'/],
  [
    'a bad hook',
    `echo '[{"metadata":{"name":"a"},"onStartup":"x"}]'`,
    /hooks\[0\] 'a': onStartup must be of type integer/,
  ],
  ['10 MB', 'head -c 10000000 /dev/zero | tr "\\0" x', /hook config printed more than 1048576 bytes/],
])('a program that prints %s is reported with its file and what to do', async (_what, body, problem) => {
  file('batch', `${AFTER_CONFIG}${body}\n`);
  const text = await problemOf(load());
  expect(text).toMatch(problem);
  expect(text).toMatch(/hooks\/batch/);
});

test('a program that hangs in hook config is stopped after the time limit', async () => {
  file('batch', `${AFTER_CONFIG}sleep 100\n`);
  expect(await problemOf(load(MODULE, { timeoutMs: 300 }))).toContain(
    'hook config gave no response within 0.3 s and was stopped',
  );
});

test('each load has the indexes that the program has now', async () => {
  file('batch', bashBatch(TWO));
  await load();
  file('batch', bashBatch({ hooks: { other: { afterHelm: 1 }, main: { beforeHelm: 5 } } }));
  expect((await load()).map(({ name }) => name)).toEqual(['hooks/batch:other:0', 'hooks/batch:main:1']);
});

test('what a file is at each load goes with its hooks, so that another one is noticed', async () => {
  file('batch', bashBatch(TWO));
  const [main] = await load();
  if (main === undefined) throw new Error('nothing was loaded');
  expect(replacedFile(main)).toBeUndefined();
  file('batch', `${bashBatch({ hooks: { other: {} } })}# longer\n`);
  expect(replacedFile(main)).toBe(
    `${join(root, 'batch')} was replaced after its hooks were read, so that index and hook may not belong together: restart the operator, or start it with --watch-files`,
  );
  const [again] = await load();
  expect(again && replacedFile(again)).toBeUndefined();
});

test('batchHooks that name no executable are reported', async () => {
  await load(MODULE, { batchHooks: ['nothing'] });
  expect(log.records.at(-1)).toMatchObject({
    level: 'warn',
    path: join(root, 'nothing'),
    msg: 'batchHooks in module.yaml names a file that is no executable hook',
  });
});
