import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Hook } from './hook.ts';
import { type HookExit, HookRunner, type HookRunnerOptions } from './run-hook.ts';

const never = new AbortController().signal;
const INPUTS = { bindingContext: '[{"binding":"onStartup"}]', values: '{"v":1}', configValues: '{"c":1}' };

let launcher: Launcher;
let root: string;
let tmp: string;

beforeAll(async () => {
  launcher = await startLauncher({ log: silentLogger, clock: systemClock });
});

afterAll(async () => {
  await launcher.stop();
});

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'run-hook-')));
  tmp = join(root, 'tmp');
  mkdirSync(tmp);
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function hook(script: string, timeoutMs?: number): Hook {
  const path = join(root, 'hook.sh');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return {
    name: 'hooks/hook.sh',
    path,
    transport: 'executable',
    owner: { type: 'module', module: 'web' as ModuleName },
    config: { ...NO_BINDINGS, settings: timeoutMs === undefined ? {} : { timeoutMs } },
  };
}

function runner(options: Partial<HookRunnerOptions> = {}): HookRunner {
  return new HookRunner({
    runner: launcher,
    tmpDir: tmp,
    env: { PATH: process.env['PATH'] ?? '', DAEMON: 'yes', METRICS_PATH: '/shadowed' },
    cwd: root,
    timeoutMs: undefined,
    graceMs: 100,
    maxOutputBytes: undefined,
    logLevel: () => 'info',
    keepFiles: false,
    onEscaped: () => undefined,
    ...options,
  });
}

const run = (script: string, options: Partial<HookRunnerOptions> = {}, log = silentLogger) =>
  runner(options).run(hook(script), INPUTS, log, never);

test('run() writes long contexts piece by piece, and removes what was written when that fails', async () => {
  async function* pieces(): AsyncGenerator<Buffer, void> {
    yield Buffer.from('[1,');
    yield Buffer.from('2]');
  }
  const copy = hook('cat "$BINDING_CONTEXT_PATH" > "$KUBERNETES_PATCH_PATH"');
  const inputs = { ...INPUTS, bindingContext: pieces() };
  const result = await runner().run(copy, inputs, silentLogger, never);
  expect(result.outputs.kubernetesPatch).toBe('[1,2]');

  async function* broken(): AsyncGenerator<Buffer, void> {
    yield Buffer.from('[1,');
    throw new Error('no space left');
  }
  const files = readdirSync(tmp);
  const failed = await failureOf(
    runner().run(copy, { ...INPUTS, bindingContext: broken() }, silentLogger, never),
  );
  expect(failed).toEqual({ code: 'HOOK_EXEC', message: expect.stringContaining('no space left') });
  expect(readdirSync(tmp)).toEqual(files);
});

async function failureOf(running: Promise<unknown>): Promise<{ code: unknown; message: string }> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error('the run did not fail');
  return { code: 'code' in error ? error.code : undefined, message: error.message };
}

test('run() hands over the inputs and returns what the hook wrote', async () => {
  const result = await run(`
    cat "$BINDING_CONTEXT_PATH" > "$KUBERNETES_PATCH_PATH"
    cat "$VALUES_PATH" > "$VALUES_JSON_PATCH_PATH"
    cat "$CONFIG_VALUES_PATH" > "$CONFIG_VALUES_JSON_PATCH_PATH"
    echo "$# $DAEMON $(pwd)" > "$METRICS_PATH"`);
  expect(result.outputs).toEqual({
    kubernetesPatch: INPUTS.bindingContext,
    valuesPatch: INPUTS.values,
    configValuesPatch: INPUTS.configValues,
    metrics: `0 yes ${root}\n`,
    admissionResponse: '',
    conversionResponse: '',
  });
  expect(readdirSync(tmp)).toEqual([]);
});

test('run() leaves only empty files behind, and none once the runner is disposed of', async () => {
  const runs = runner();
  for (let count = 0; count < 3; count += 1) await runs.run(hook(':'), INPUTS, silentLogger, never);
  const [spare = '', ...others] = readdirSync(tmp);
  expect(others).toEqual([]);
  for (const name of readdirSync(join(tmp, spare))) expect(statSync(join(tmp, spare, name)).size).toBe(0);
  runs[Symbol.dispose]();
  expect(readdirSync(tmp)).toEqual([]);
});

test('run() logs both streams line by line', async () => {
  const captured = new CapturedLog(systemClock);
  await run('echo one; echo two; echo bad >&2', {}, captured.logger);
  const lines = (stream: string) =>
    captured.records.filter(({ output }) => output === stream).map(({ msg }) => msg);
  expect(lines('stdout')).toEqual(['one', 'two']);
  expect(lines('stderr')).toEqual(['bad']);
});

test('a failed run says what the hook said on stderr, and nothing it wrote is read', async () => {
  const failure = await failureOf(
    run('rm "$METRICS_PATH"; echo "first line" >&2; echo "  second" >&2; exit 3'),
  );
  expect(failure).toEqual({
    code: 'HOOK_FAILED',
    message: "module hook 'hooks/hook.sh' failed: second\n\nfirst line\n  second",
  });
  expect(readdirSync(tmp)).toEqual([]);
});

test.each([
  ['an exit code', 'echo only stdout; exit 7', 'cmd run: exit status 7'],
  ['a signal', 'kill -KILL $$', 'killed by SIGKILL, perhaps out of memory'],
  [
    'a signal of a program it ran',
    'sh -c "kill -KILL \\$\\$"',
    'a program that it ran was killed by SIGKILL',
  ],
])('a run that failed without output reports %s', async (_what, script, reason) => {
  const failure = await failureOf(run(script));
  expect(failure.code).toBe('HOOK_FAILED');
  expect(failure.message).toContain(`module hook 'hooks/hook.sh' failed: ${reason}`);
});

test('a hook that runs longer than its limit is stopped with its children', async () => {
  const failure = await failureOf(
    runner().run(hook('echo waiting >&2; sleep 60 & wait', 50), INPUTS, silentLogger, never),
  );
  expect(failure.code).toBe('HOOK_TIMEOUT');
  expect(failure.message).toMatch(/ran longer than its limit of 0\.05 s(: waiting)?$/);
  expect(readdirSync(tmp)).toEqual([]);
});

test('the limit of the daemon counts for a hook without one of its own', async () => {
  expect((await failureOf(run('sleep 60', { timeoutMs: 50 }))).code).toBe('HOOK_TIMEOUT');
  await runner({ timeoutMs: 50 }).run(hook('sleep 0.2', 60_000), INPUTS, silentLogger, never);
});

test('run() ends with the reason of the signal once the hook is gone', async () => {
  const abort = new AbortController();
  const captured = new CapturedLog(systemClock);
  const running = runner().run(hook('echo up; exec sleep 60'), INPUTS, captured.logger, abort.signal);
  await captured.untilPrinted('up');
  abort.abort(new Error('the daemon is stopping'));
  await expect(running).rejects.toThrow('the daemon is stopping');
  expect(readdirSync(tmp)).toEqual([]);
});

test('a hook that cannot be started fails with the path', async () => {
  const missing = { ...hook('true'), path: join(root, 'gone.sh') };
  const failure = await failureOf(runner().run(missing, INPUTS, silentLogger, never));
  expect(failure.message).toContain('gone.sh');
  expect(readdirSync(tmp)).toEqual([]);
});

test('an output in a broken state fails the run', async () => {
  const error = await run('rm "$METRICS_PATH"; ln -s /etc/passwd "$METRICS_PATH"').catch(
    (thrown: unknown) => thrown,
  );
  expect(hasCode(error, 'HOOK_OUTPUT_INVALID')).toBe(true);
});

test('files are kept on demand', async () => {
  await run('true', { keepFiles: true });
  expect(readdirSync(tmp)).toEqual([expect.stringContaining('web-hooks-hook-sh')]);
});

const EXIT_CODES = { temporary: [75], permanent: [78] };

async function runWithCodes(script: string, log = silentLogger) {
  const own = hook(script);
  return await runner().run(
    { ...own, config: { ...NO_BINDINGS, settings: { exitCodes: EXIT_CODES } } },
    INPUTS,
    log,
    never,
  );
}

test.each([
  ['exit 75', 10_000, 'cmd run: exit status 75'],
  ['echo "no DNS" >&2; exit 75', 10_000, 'no DNS'],
  [
    `echo '{"after":"30s","reason":"waiting for DNS"}' > "$RETRY_PATH"; echo "no DNS" >&2; exit 75`,
    30_000,
    'waiting for DNS',
  ],
])('a temporary exit code requests a retry: %s', async (script, retryAfterMs, reason) => {
  const error = await runWithCodes(script).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'HOOK_TEMPORARY',
    message: `module hook 'hooks/hook.sh' is not done yet: ${reason}`,
    retryAfterMs,
    facts: { exitCode: 75 },
  });
  expect(readdirSync(tmp).filter((name) => name.startsWith('run-'))).toEqual([]);
});

test('a broken file with the time of the retry is reported, and the default applies', async () => {
  const captured = new CapturedLog(systemClock);
  const script = 'echo soon > "$RETRY_PATH"; exit 75';
  const error = await runWithCodes(script, captured.logger).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'HOOK_TEMPORARY', retryAfterMs: 10_000 });
  expect(captured.records).toContainEqual(
    expect.objectContaining({ level: 'warn', error: 'it is not JSON' }),
  );
});

test('a permanent exit code says that a retry is useless, and others mean a failure as before', async () => {
  const ended = (code: number) => failureOf(runWithCodes(`echo why >&2; exit ${code}`));
  expect(await ended(78)).toEqual({
    code: 'HOOK_PERMANENT',
    message: "module hook 'hooks/hook.sh' failed permanently: why",
  });
  expect(await ended(1)).toEqual({ code: 'HOOK_FAILED', message: "module hook 'hooks/hook.sh' failed: why" });
});

test('only a hook with temporary exit codes is given the file for the time of its retry', async () => {
  const captured = new CapturedLog(systemClock);
  await run('echo "retry:$RETRY_PATH"', {}, captured.logger);
  await runWithCodes('echo "retry:${RETRY_PATH##*/}"; echo kept > "$RETRY_PATH"', captured.logger);
  expect(captured.printed).toEqual(['retry:', 'retry:retry.json']);
});

test.each([
  ['true', { exitCode: 0 }],
  ['exit 3', { exitCode: 3 }],
  ['kill -SEGV $$', { signal: 'SIGSEGV' }],
  ['exec sleep 60', {}],
])('how a run ended and what it used is reported: %s', async (script, how) => {
  const exits: HookExit[] = [];
  const inputs = { ...INPUTS, onExit: (exit: HookExit) => void exits.push(exit) };
  await runner()
    .run(hook(script, 1_000), inputs, silentLogger, never)
    .catch(() => undefined);
  expect(exits).toEqual([{ ...how, usage: expect.objectContaining({ maxRssBytes: expect.any(Number) }) }]);
});
