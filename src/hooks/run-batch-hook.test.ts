import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bashBatch, nodeBatch, PANIC } from '../../test/support/batch-hook.ts';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { ModuleName } from '../values/module-key.ts';
import { checkSettings } from './check-settings.ts';
import type { BatchPart, Hook } from './hook.ts';
import type { OutputLevel } from './hook-output-log.ts';
import { HookRunner } from './run-hook.ts';

const never = new AbortController().signal;
const INPUTS = { bindingContext: '[{"snapshots":{"a":[]}}]', values: '{"v":1}', configValues: '{"c":1}' };

let launcher: Launcher;
let root: string;

beforeAll(async () => {
  launcher = await startLauncher({ log: silentLogger, clock: systemClock });
});

afterAll(async () => {
  await launcher.stop();
});

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'run-batch-')));
  mkdirSync(join(root, 'tmp'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

interface RunOptions {
  readonly batch?: BatchPart;
  readonly owner?: Hook['owner'];
  readonly level?: OutputLevel;
}

/** @param text of the file */
async function runFile(text: string, { batch, owner, level = 'info' }: RunOptions = {}) {
  const path = join(root, 'batch.ts');
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  const hook: Hook = {
    name: 'hooks/batch:one:0',
    path,
    transport: 'executable',
    owner: owner ?? { type: 'module', module: 'web' as ModuleName },
    config: NO_BINDINGS,
    batch: batch ?? { type: 'hook', index: 0 },
  };
  using runner = new HookRunner({
    runner: launcher,
    tmpDir: join(root, 'tmp'),
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'debug' },
    cwd: root,
    timeoutMs: undefined,
    graceMs: 100,
    maxOutputBytes: 16 * 1024 * 1024,
    keepFiles: false,
    onEscaped: () => undefined,
    logLevel: () => level,
  });
  const log = new CapturedLog(new FakeClock());
  const result = await runner.run(hook, INPUTS, log.logger, never);
  return { outputs: result.outputs, records: log.records };
}

/** Runs a body as the hook `one` in bash. */
const run = (body: string, options: RunOptions = {}) =>
  runFile(bashBatch({ hooks: { one: {} }, runs: { one: body } }), options);

async function problemOf(running: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (hasCode(error, 'HOOK_FAILED') || hasCode(error, 'HOOK_OUTPUT_INVALID')) return error;
  throw new Error(`succeeded, or failed with ${String(error)}`);
}

test('a hook of a batch file is run by its index, a probe with its own command', async () => {
  const fake = {
    hooks: { one: {}, two: {} },
    runs: { two: 'echo "{\\"n\\":$#}" > "$METRICS_PATH"' },
    ready: 'echo ready > "$METRICS_PATH"',
  };
  expect((await runFile(bashBatch(fake), { batch: { type: 'hook', index: 1 } })).outputs.metrics).toBe(
    '{"n":3}\n',
  );
  expect((await runFile(bashBatch(fake), { batch: { type: 'readiness' } })).outputs.metrics).toBe('ready\n');
});

test('a batch file in TypeScript reads its contexts, and writes its outputs', async () => {
  const one = `write('VALUES_JSON_PATCH_PATH', [{ op: 'add', path: '/web/n', value: contexts().length }]);`;
  const { outputs } = await runFile(nodeBatch({ hooks: { one: {} }, runs: { one } }));
  expect(outputs.valuesPatch).toBe('[{"op":"add","path":"/web/n","value":1}]\n');
});

test.each<[OutputLevel, string]>([
  ['trace', 'TRACE'],
  ['info', 'INFO'],
  ['error', 'ERROR'],
  ['fatal', 'ERROR'],
])('at level %s a program logs from %s on', async (level, expected) => {
  const { outputs } = await run('echo "$MODULE_NAME $LOG_LEVEL" > "$METRICS_PATH"', { level });
  expect(outputs.metrics).toBe(`web ${expected}\n`);
});

test('a global hook has the module name global', async () => {
  const { outputs } = await run('echo "$MODULE_NAME" > "$METRICS_PATH"', { owner: { type: 'global' } });
  expect(outputs.metrics).toBe('global\n');
});

test('a hook of a file that was replaced since it was loaded is not run', async () => {
  const batch: BatchPart = { type: 'hook', index: 0, mark: '1 1' };
  expect((await problemOf(run('echo ran > "$METRICS_PATH"', { batch }))).message).toMatch(
    /failed: .*batch\.ts was replaced after its hooks were read/,
  );
});

test('records on stdout are logged with their level', async () => {
  const { records } = await run(`echo '{"level":"warn","msg":"slow","time":"now","node":"a"}'`);
  expect(records).toMatchObject([{ level: 'warn', msg: 'slow', output: 'stdout', hook_node: 'a' }]);
});

test('a panic fails the run with its stack, although the program ends with exit code 0', async () => {
  const problem = await problemOf(run(`echo '${PANIC}'`));
  expect(problem.code).toBe('HOOK_FAILED');
  expect(problem.message).toBe(
    "module hook 'hooks/batch:one:0' failed: it panicked: boom\ngoroutine 1 [running]:\nmain.handle()\n\t/src/hooks/one.go:12",
  );
});

test('a panic is found in records of any form, and after 10 MB of output', async () => {
  const grouped = '{"level":"error","msg":"panic recover","panic":{"error":"index out of range"}}';
  const body = `head -c 10000000 /dev/zero | tr "\\0" x; echo; printf '%s' '${grouped}'`;
  expect((await problemOf(run(body))).message).toMatch(/failed: it panicked: index out of range$/);
});

test('an exit code other than 0 fails with the message on stderr', async () => {
  const text = nodeBatch({ hooks: { one: {} }, runs: { one: `console.error('noise'); fail('no nodes');` } });
  const { message } = await problemOf(runFile(text));
  expect(message).toBe("module hook 'hooks/batch:one:0' failed: execute: no nodes");
  expect((await problemOf(run('echo plain >&2; exit 4'))).message).toMatch(/failed: plain$/);
});

test('an output that the program could not write fails the run', async () => {
  const record = '{"level":"error","msg":"sending output","path":"/x/metrics.json","error":"no space left"}';
  expect((await problemOf(run(`echo '${record}'`))).message).toMatch(
    /failed: it could not write its output \/x\/metrics\.json: no space left$/,
  );
});

test.each([
  ['a missing context file', 'rm "$BINDING_CONTEXT_PATH"', '$BINDING_CONTEXT_PATH'],
  ['a replaced output', 'echo 1 > x && mv x "$METRICS_PATH"', '$METRICS_PATH'],
  ['an output that cannot be written', 'chmod 400 "$VALUES_JSON_PATCH_PATH"', '$VALUES_JSON_PATCH_PATH'],
  ['a link as output', 'ln -sf /dev/null "$KUBERNETES_PATCH_PATH"', '$KUBERNETES_PATCH_PATH'],
])('%s fails the run', async (_what, body, variable) => {
  const { code, message } = await problemOf(run(body));
  expect(code).toBe('HOOK_OUTPUT_INVALID');
  expect(message).toContain(`${variable}: removed, replaced or made unusable during the run`);
});

describe('checkSettings()', () => {
  async function check(body: string) {
    const path = join(root, 'batch');
    writeFileSync(path, bashBatch({ hooks: {}, check: body }));
    chmodSync(path, 0o755);
    const hook: Hook = {
      name: 'hooks/batch-settings-check',
      path,
      transport: 'executable',
      owner: { type: 'module', module: 'web' as ModuleName },
      config: NO_BINDINGS,
      batch: { type: 'settings-check' },
    };
    const options = {
      runner: launcher,
      tmpDir: join(root, 'tmp'),
      env: { PATH: process.env['PATH'] ?? '' },
      cwd: root,
      graceMs: 100,
      maxOutputBytes: undefined,
      logLevel: (): OutputLevel => 'info',
    };
    const verdict = await checkSettings(options, hook, '{"size":3}', silentLogger, never);
    expect(readdirSync(join(root, 'tmp'))).toEqual([]);
    return verdict;
  }

  test('gives the program the settings, and accepts them with exit code 0', async () => {
    expect(await check('[ "$(cat "$SETTINGS_PATH")" = \'{"size":3}\' ]')).toEqual({
      isValid: true,
      message: '',
      warnings: [],
    });
  });

  test('reads the verdict of exit code 1, which may be a warning only', async () => {
    expect(await check(`echo '{"valid":true,"message":"","warnings":["odd"]}' >&2; exit 1`)).toEqual({
      isValid: true,
      message: '',
      warnings: ['odd'],
    });
    expect(await check(`echo '{"valid":false,"message":"too small","warnings":null}' >&2; exit 1`)).toEqual({
      isValid: false,
      message: 'too small',
      warnings: [],
    });
  });

  test.each([
    ['a program that fails without a verdict', 'echo boom >&2; exit 2', /failed: boom$/],
    ['a panic', `echo '${PANIC}'`, /failed: it panicked: boom/],
    ['an error of the SDK', `echo '{"message":"no env"}' >&2; exit 1`, /failed: no env$/],
  ])('%s is an error', async (_what, body, message) => {
    expect((await problemOf(check(body))).message).toMatch(message);
  });
});
