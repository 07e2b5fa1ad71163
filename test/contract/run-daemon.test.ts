import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runDaemon } from '../../src/daemon.ts';
import { READ_AGAIN_MS } from '../../src/operator/file-waits.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { CapturedLog } from '../support/captured-log.ts';
import { JumpClock } from '../support/jump-clock.ts';
import { runInWorld } from '../support/world-command.ts';
import { type FileTree, shHook, writeTree } from '../support/world-files.ts';

let backend: SandboxBackend;
let directory = '';
let stop = new AbortController();
const clock = new JumpClock();
let log = new CapturedLog(clock);

beforeAll(async () => {
  backend = await sandboxBackend();
});
afterAll(() => backend[Symbol.asyncDispose]());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'run-daemon-'));
  stop = new AbortController();
  log = new CapturedLog(clock);
});
afterEach(() => rm(directory, { recursive: true }));

interface Run {
  readonly hooks?: FileTree;
  readonly modules?: FileTree;
  readonly flags?: Readonly<Record<string, string>>;
  readonly onConverged?: () => Promise<void>;
  /** Whether the daemon is all of its process. */
  readonly ownsProcess?: true;
}

async function run({
  hooks = {},
  modules = {},
  flags = {},
  onConverged = () => Promise.resolve(),
  ownsProcess,
}: Run): Promise<number> {
  await writeTree(join(directory, 'global-hooks'), hooks);
  await writeTree(join(directory, 'modules'), modules);
  const settings = readSettings({
    env: {},
    flags: {
      namespace: 'default',
      'modules-dir': join(directory, 'modules'),
      'global-hooks-dir': join(directory, 'global-hooks'),
      'tmp-dir': join(directory, 'tmp'),
      'debug-unix-socket': join(directory, 's'),
      'kube-config': backend.kubeconfigPath,
      'helm-bin-path': backend.helmPath,
      'prometheus-listen-port': '0',
      'shutdown-grace': '2s',
      ...flags,
    },
  });
  const host = {
    env: { PATH: process.env['PATH'] },
    cwd: directory,
    clock,
    steadyClock: systemClock,
    random: () => 0,
    log: log.logger,
    version: '0',
    ...(ownsProcess && { process: { on: () => undefined, off: () => undefined, exit: () => undefined } }),
  };
  return await runDaemon(settings, host, stop.signal, { onStarted: () => undefined, onConverged });
}

const EXITING = { 'exit-after-converge': 'true' };
const GOOD = { 'good.sh': shHook('onStartup: 1', 'echo good') };
const BAD = { 'bad.sh': shHook('onStartup: 1', 'echo "no luck" >&2; exit 1') };

test('with --exit-after-converge the exit code is 0 after the first converge', async () => {
  let converged = 0;
  const onConverged = async (): Promise<void> => void (converged += 1);
  expect(await run({ hooks: GOOD, flags: EXITING, onConverged })).toBe(0);
  expect([converged, log.printed]).toEqual([1, ['good']]);
  expect(log.records.at(-1)?.['msg']).toBe('shutdown is done');
});

test('with --exit-after-converge it is 1 when a task failed three times in a row, and the reason is logged', async () => {
  const ended = run({ hooks: BAD, flags: EXITING });
  for (const failures of [1, 2]) {
    await log.untilMessage('attempt failed, will retry', failures);
    clock.jump(30_000);
  }
  expect(await ended).toBe(1);
  expect(log.records.find(({ level }) => level === 'fatal')).toMatchObject({
    msg: 'the first converge failed',
    hook: 'bad.sh',
    failures: 3,
    error: "global hook 'bad.sh' failed: no luck",
  });
});

test('with --exit-after-converge it is 1 when modules are isolated', async () => {
  const modules = {
    'values.yaml': 'webEnabled: true\n',
    '001-web/hooks/bad.sh': shHook('beforeHelm: 1', 'exit 1'),
  };
  expect(await run({ modules, flags: { ...EXITING, 'module-failure-policy': 'isolate' } })).toBe(1);
  expect(log.records.find(({ level }) => level === 'fatal')).toMatchObject({
    msg: 'the first converge went on without modules that failed or are not authorized',
    modules: ['web'],
  });
});

test('with --exit-after-converge it is 1 when modules are not authorized', async () => {
  const modules = {
    'values.yaml': 'webEnabled: true\n',
    '001-web/hooks/good.sh': shHook('beforeHelm: 1', 'exit 0'),
  };
  const flags = { ...EXITING, 'auth-policy': 'digest', 'auth-lock-file': 'missing' };
  expect(await run({ modules, flags })).toBe(1);
  expect(log.records.find(({ level }) => level === 'fatal')).toMatchObject({
    msg: 'the first converge went on without modules that failed or are not authorized',
    modules: ['web'],
  });
});

test('with --exit-after-converge it is 1 when modules were put off, each named with the reason', async () => {
  const modules = {
    'values.yaml': 'lateEnabled: true\nneedsEnabled: true\n',
    '001-late/hooks/good.sh': shHook('beforeHelm: 1', 'echo late'),
    '002-needs/hooks/good.sh': shHook('beforeHelm: 1', 'echo needs'),
    '002-needs/module.yaml': 'requires: [{name: late}]\n',
  };
  const flow = `import { defineFlowHooks } from 'addon-operator/sdk';
export default defineFlowHooks((hooks) => {
  hooks.registerHook(({ module }) => (module?.name === 'late' ? { abortReconcile: true } : undefined), 'BeforeReconcile');
});
`;
  await writeTree(join(directory, 'flow-hooks'), { 'late.ts': flow });
  expect(await run({ modules, flags: EXITING })).toBe(1);
  expect(log.printed).toEqual([]);
  const msg = 'the first converge went on without a module that was put off';
  expect(log.records.filter(({ level }) => level === 'fatal')).toMatchObject([
    { msg, module: 'late', waitsFor: expect.stringContaining('a flow hook ended the last one') },
    { msg, module: 'needs', waitsFor: 'module late, which a flow hook put off' },
  ]);
});

test('without --exit-after-converge a failing start is retried, and an orderly stop exits with 0', async () => {
  const ended = run({ hooks: BAD });
  for (const failures of [1, 2, 3, 4]) {
    await log.untilMessage('attempt failed, will retry', failures);
    clock.jump(30_000);
  }
  stop.abort(new Error('SIGTERM received'));
  expect(await ended).toBe(0);
  expect(log.records.some(({ level }) => level === 'fatal')).toBe(false);
});

test('a global onStartup hook that failed permanently ends the start with 1, without a retry', async () => {
  const config = 'onStartup: 1\nsettings: {exitCodes: {permanent: [78]}}';
  const hooks = { 'bad.sh': shHook(config, 'echo "no such zone" >&2; exit 78') };
  expect(await run({ hooks })).toBe(1);
  expect(log.records.find(({ level }) => level === 'fatal')).toMatchObject({
    msg: 'the start failed for good: the operator ends',
    hook: 'bad.sh',
    code: 'HOOK_PERMANENT',
    error: "global hook 'bad.sh' failed permanently: no such zone",
  });
});

test('a stop before the first converge exits with 1 with --exit-after-converge', async () => {
  const ended = run({ hooks: BAD, flags: EXITING });
  await log.untilMessage('attempt failed, will retry');
  stop.abort(new Error('SIGTERM received'));
  expect(await ended).toBe(1);
});

test('a stop in the middle of the start ends it', async () => {
  stop.abort(new Error('SIGTERM received'));
  expect(await run({ hooks: GOOD })).toBe(0);
  expect(log.printed).toEqual([]);
});

test('a namespace that does not exist ends the start at once, and the message says what to do', async () => {
  expect(await run({ hooks: GOOD, flags: { namespace: 'nowhere' } })).toBe(1);
  expect(log.records.at(-1)).toEqual({
    level: 'fatal',
    msg: 'the daemon cannot start',
    source: expect.any(String),
    code: 'CONFIG_INVALID',
    error: expect.stringMatching(
      /^flag --namespace \(variable ADDON_OPERATOR_NAMESPACE\): namespace "nowhere" does not exist; create it with "kubectl create namespace nowhere"/,
    ),
  });
  expect(log.printed).toEqual([]);
});

test('a failed start logs one record with the reason, and exits with 1', async () => {
  expect(await run({ flags: { 'kube-config': join(directory, 'none') } })).toBe(1);
  const fatal = log.records.filter(({ level }) => level === 'fatal');
  expect(fatal).toEqual([
    {
      level: 'fatal',
      msg: 'the daemon cannot start',
      source: expect.any(String),
      code: 'KUBE_CONFIG_INVALID',
      error: expect.stringContaining(`--kube-config: ${directory}/none does not exist`),
    },
  ]);
});

test('a process whose values cannot be parsed answers with file and line, and starts when they are corrected', async () => {
  const modules = { 'values.yaml': 'webEnabled: true\n', 'web/values.yaml': 'web:\n a: 1\n  b: 2\n' };
  const ended = run({ hooks: GOOD, modules, ownsProcess: true });
  await log.untilMessage('files cannot be loaded, the start waits until they are corrected');
  const { port } = log.records.find(({ msg }) => msg === 'HTTP server listens') ?? {};
  const probe = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${String(port)}${path}`)).status;
  expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 500]);
  const world = {
    flags: { 'debug-unix-socket': join(directory, 's') },
    settingsEnv: {},
    hostEnv: {},
    directory,
  };
  const status = await runInWorld(world, 'status');
  expect(status).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(
      /^the operator does not start, .*web\/values\.yaml:3: .*\n {2}to fix: correct the file/,
    ),
  });
  expect(await runInWorld(world, 'module', 'list')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/the operator does not start, .*web\/values\.yaml:3: /),
  });
  await writeTree(join(directory, 'modules'), { 'web/values.yaml': 'web: {a: 1}\n' });
  clock.wakeSleeps(READ_AGAIN_MS);
  await log.untilMessage('good');
  await vi.waitFor(async () => {
    expect((await runInWorld(world, 'status')).stdout).toMatch(/^all is well: 1 module ready/);
  }, 30_000);
  stop.abort(new Error('SIGTERM received'));
  expect(await ended).toBe(0);
});
