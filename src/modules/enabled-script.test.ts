import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { type Logger, silentLogger } from '@addon-operator/base/log';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { load } from 'js-yaml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import { parseConfigMapData } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ValuesStore } from '../values/values-store.ts';
import { visibleToModule } from '../values/visible-values.ts';
import { type EnabledScriptOptions, startScriptPass } from './enabled-script.ts';
import { EXTENDERS } from './enablement.ts';
import { findModules } from './find-modules.ts';
import type { Module } from './module.ts';
import { discoverModules, type ModuleDiscovery, type ScriptVerdict } from './module-discovery.ts';

const NEVER = new AbortController().signal;
const FIXTURES = join(import.meta.dirname, '../../test/fixtures/enablement');

/** Runs processes without groups and limits. */
const processes: ProcessRunner = {
  run: (spec) =>
    new Promise((resolve, reject) => {
      const child = spawn(spec.file, spec.args, {
        cwd: spec.cwd,
        env: spec.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => spec.onLine?.('stdout', String(chunk).trim()));
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += String(chunk);
      });
      child.on('error', reject);
      child.on('close', (exitCode, signal) => {
        const outcome =
          exitCode === null
            ? { type: 'signalled' as const, signal: String(signal) }
            : { type: 'exited' as const, exitCode };
        const usage = { userCpuMs: 1, systemCpuMs: 1, maxRssBytes: 1 };
        resolve({ outcome, stdout: '', isStdoutTruncated: false, stderr, usage, durationMs: 1 });
      });
    }),
};

let root = '';
let tmpDir = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'enabled-script-'));
  tmpDir = await mkdtemp(join(root, 'tmp-'));
});

afterEach(() => rm(root, { recursive: true }));

function optionsWith(options: Partial<EnabledScriptOptions> = {}): EnabledScriptOptions {
  return {
    processes,
    visible: (_name, enabledBefore) => ({
      values: { global: { enabledModules: [...enabledBefore] }, web: { b: 1, a: 2 } },
      configValues: { global: null, web: null },
    }),
    tmpDir,
    env: { PATH: process.env['PATH'] ?? '', FROM_DAEMON: 'yes' },
    cwd: root,
    timeoutMs: undefined,
    graceMs: 1_000,
    maxOutputBytes: undefined,
    isKeepingFiles: false,
    log: silentLogger,
    onUsage: () => undefined,
    onEscaped: () => undefined,
    ...options,
  };
}

async function scriptModule(body: string): Promise<Module> {
  const enabledScript = join(root, 'enabled');
  await writeFile(enabledScript, `#!/bin/sh\n${body}\n`);
  await chmod(enabledScript, 0o755);
  return moduleNamed('web', { path: root, enabledScript, ownFlag: true });
}

async function ask(body: string, options: Partial<EnabledScriptOptions> = {}): Promise<ScriptVerdict> {
  const pass = startScriptPass(optionsWith(options));
  try {
    return await pass.run(await scriptModule(body), ['first' as ModuleName], NEVER);
  } finally {
    await pass.end();
  }
}

test.each([
  ['echo true > "$MODULE_ENABLED_RESULT"', { isEnabled: true, reason: '' }],
  ['printf "\\n false \\n" > "$MODULE_ENABLED_RESULT"', { isEnabled: false, reason: '' }],
  [
    'echo false > "$MODULE_ENABLED_RESULT"; echo " too small " > "$MODULE_ENABLED_REASON"',
    { isEnabled: false, reason: 'too small' },
  ],
  [
    'echo true > "$MODULE_ENABLED_RESULT"; echo ignored > "$MODULE_ENABLED_REASON"',
    { isEnabled: true, reason: '' },
  ],
  ['printf "\\357\\273\\277true\\r\\n" > "$MODULE_ENABLED_RESULT"', { isEnabled: true, reason: '' }],
  ['echo false > "$MODULE_ENABLED_RESULT"; rm "$MODULE_ENABLED_REASON"', { isEnabled: false, reason: '' }],
])('startScriptPass() reads what %s wrote', async (body, verdict) => {
  expect(await ask(body)).toStrictEqual(verdict);
});

test.each([
  ['true', "bad enabled result: expected 'true' or 'false', got ''"],
  ['echo yes > "$MODULE_ENABLED_RESULT"', "bad enabled result: expected 'true' or 'false', got 'yes'"],
  ['rm "$MODULE_ENABLED_RESULT"', "got ''"],
  ['rm "$MODULE_ENABLED_RESULT"; mkfifo "$MODULE_ENABLED_RESULT"', 'no longer a regular file'],
  ['rm "$MODULE_ENABLED_RESULT"; mkdir "$MODULE_ENABLED_RESULT"', 'no longer a regular file'],
  ['echo true > "$MODULE_ENABLED_RESULT"; exit 3', 'cmd run: exit status 3'],
  ['echo true > "$MODULE_ENABLED_RESULT"; echo broken >&2; exit 1', 'broken'],
  ['kill -9 $$', 'killed by SIGKILL, perhaps out of memory'],
])('startScriptPass() fails after %s', async (body, message) => {
  const failure = await ask(body).catch((error: unknown) => error);
  expect(hasCode(failure, 'ENABLED_SCRIPT_FAILED')).toBe(true);
  expect(messageOf(failure)).toContain(message);
  expect(await readdir(tmpDir)).toStrictEqual([]);
});

test('startScriptPass() survives a script in whose wake its files cannot be looked at', async () => {
  const body = [
    'echo true > "$MODULE_ENABLED_RESULT"',
    'tmp=$(dirname "$(dirname "$MODULE_ENABLED_RESULT")")',
    'rm -r "$tmp"; ln -s "$tmp" "$tmp"',
  ];
  const failure = await ask(body.join('\n')).catch((error: unknown) => error);
  expect(messageOf(failure)).toContain('ELOOP');
});

test('startScriptPass() hands over values and configuration in private files, and removes them', async () => {
  const seen = join(root, 'seen');
  const body = [
    `cat "$VALUES_PATH" > ${seen}; echo >> ${seen}`,
    `cat "$CONFIG_VALUES_PATH" >> ${seen}; echo >> ${seen}`,
    `ls -l "$VALUES_PATH" "$CONFIG_VALUES_PATH" "$MODULE_ENABLED_RESULT" "$MODULE_ENABLED_REASON" | cut -c1-10 >> ${seen}`,
    `echo "$# $FROM_DAEMON $(pwd)" >> ${seen}`,
    'echo true > "$MODULE_ENABLED_RESULT"',
  ];
  await ask(body.join('\n'));
  expect((await readFile(seen, 'utf8')).split('\n')).toStrictEqual([
    '{"global":{"enabledModules":["first"]},"web":{"a":2,"b":1}}',
    '{"global":null,"web":null}',
    ...Array(4).fill('-rw-------'),
    `0 yes ${root}`,
    '',
  ]);
  expect(await readdir(tmpDir)).toStrictEqual([]);
});

test('startScriptPass() keeps the files on request', async () => {
  await ask('echo true > "$MODULE_ENABLED_RESULT"', { isKeepingFiles: true });
  const [directory = ''] = await readdir(tmpDir);
  expect(directory).toMatch(new RegExp(`^run-${process.pid}-enabled-`));
  const files = await readdir(join(tmpDir, directory));
  expect(files.toSorted()).toStrictEqual([
    'web.module-config-values.json',
    'web.module-enabled-reason',
    'web.module-enabled-result',
    'web.module-values.json',
  ]);
  expect((await stat(join(tmpDir, directory, 'web.module-values.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(tmpDir, directory))).mode & 0o777).toBe(0o700);
});

test('startScriptPass() logs the output, reports usage and hands on limit and signal', async () => {
  const lines: string[] = [];
  const used: string[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (_fields, message) => {
      lines.push(message);
    },
    child: () => log,
  };
  const limits: unknown[] = [];
  const limiting: ProcessRunner = {
    run: (spec, signal) => {
      limits.push(spec.timeoutMs, spec.graceMs, signal);
      return processes.run(spec, signal);
    },
  };
  await ask('echo hello; echo true > "$MODULE_ENABLED_RESULT"', {
    log,
    onUsage: (name) => used.push(name),
    processes: limiting,
    timeoutMs: 7,
  });
  expect(lines).toStrictEqual(['hello', 'Enabled script run successful']);
  expect(used).toStrictEqual(['web']);
  expect(limits).toStrictEqual([7, 1_000, NEVER]);
});

test('startScriptPass() says that a script took too long', async () => {
  const slow: ProcessRunner = {
    run: async () => ({
      outcome: { type: 'timed-out', timeoutMs: 60_000 },
      stdout: '',
      isStdoutTruncated: false,
      stderr: '',
      durationMs: 60_000,
    }),
  };
  await expect(ask('sleep 1000', { processes: slow })).rejects.toThrow(
    'it ran longer than its limit of 60 s',
  );
});

async function discoverSeed(
  example: string,
  data: Readonly<Record<string, string>>,
): Promise<ModuleDiscovery> {
  const dirs = [join(FIXTURES, example, 'modules')];
  const found = await findModules({ dirs, defaultOrder: 1, isStrict: false, log: silentLogger });
  const content = parseConfigMapData(data);
  const store = new ValuesStore(found.staticValues);
  store.setConfig(content);
  const visible: EnabledScriptOptions['visible'] = (name, before) => visibleToModule(store, name, before);
  const flags = { common: found.commonFlags, dynamic: new Map(), configMap: content.flags };
  const pass = startScriptPass(optionsWith({ visible }));
  return await discoverModules({ modules: found.modules, flags, extenders: EXTENDERS }, pass.run, NEVER);
}

test('seed example: a flag in the values.yaml of the module beats the common one', async () => {
  const { enabled, decisions } = await discoverSeed('flag-in-two-files', {});
  expect(enabled).toStrictEqual([]);
  expect([...decisions.values()]).toMatchObject([{ source: 'module-values' }]);
});

test('seed example: the ConfigMap enables a module and its script disables it again', async () => {
  const text = await readFile(join(FIXTURES, 'config-map-and-script/config-map.yaml'), 'utf8');
  const { data } = load(text) as { data: Record<string, string> };
  const { enabled, decisions } = await discoverSeed('config-map-and-script', data);
  expect(enabled).toStrictEqual([]);
  expect([...decisions.values()]).toMatchObject([{ isEnabled: false, source: 'enabled-script' }]);
});

test('seed example: without its flag in the ConfigMap the script is not run', async () => {
  const { decisions } = await discoverSeed('config-map-and-script', {});
  expect([...decisions.values()]).toMatchObject([{ isEnabled: false, source: 'common-values' }]);
});

test('seed example: a script decides by the merged values and gives its reason', async () => {
  expect((await discoverSeed('enabled-script', {})).enabled).toStrictEqual(['simple-module']);
  const { enabled, decisions } = await discoverSeed('enabled-script', {
    simpleModule: 'param2: stopMePlease',
  });
  expect(enabled).toStrictEqual([]);
  expect([...decisions.values()]).toMatchObject([{ reason: 'Module disabled: param2 == stopMePlease' }]);
});

test('startScriptPass() warns when files cannot be removed', async () => {
  const warnings: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    child: () => log,
    warn: (_fields, message) => {
      warnings.push(message);
    },
  };
  const pass = startScriptPass(optionsWith({ log }));
  await pass.run(await scriptModule('echo true > "$MODULE_ENABLED_RESULT"'), [], NEVER);
  const [directory = ''] = await readdir(tmpDir);
  await rename(join(tmpDir, directory), join(root, directory));
  // A path below a file cannot be removed.
  await rm(tmpDir, { recursive: true });
  await writeFile(tmpDir, '');
  await pass.end();
  expect(warnings).toStrictEqual(['cannot remove files of enabled scripts']);
});
