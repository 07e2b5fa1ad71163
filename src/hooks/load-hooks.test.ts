import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { type Launcher, startLauncher } from '@addon-operator/process/launcher';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHttpHooks } from '../../test/support/http-hooks.ts';
import { startInProcessHooks } from '../../test/support/in-process-hooks.ts';
import { HookConfigParser } from '../hook-config/parse-hook-config.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { HookOwner } from './hook.ts';
import { HookLoader } from './load-hooks.ts';

const GLOBAL: HookOwner = { type: 'global' };
const MODULE: HookOwner = { type: 'module', module: 'web' as ModuleName };
const never = new AbortController().signal;

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
  root = join(mkdtempSync(join(tmpdir(), 'load-hooks-')), 'hooks');
  mkdirSync(root);
});

afterEach(() => {
  rmSync(join(root, '..'), { recursive: true });
});

function script(name: string, text: string, mode = 0o755): void {
  writeFileSync(join(root, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(root, name), mode);
}

function inProcessScript(name: string, config: string): void {
  const text = `import { defineHook } from 'addon-operator/sdk';\nexport default defineHook(${config}, () => {});\n`;
  writeFileSync(join(root, name), text);
}

function load(owner: HookOwner, timeoutMs = 20_000) {
  const loader = new HookLoader({
    runner: launcher,
    inProcess,
    http: startHttpHooks(),
    parser: new HookConfigParser({ crontab: () => undefined, jqFilter: async () => undefined }),
    log: silentLogger,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: root,
    timeoutMs,
  });
  return loader.load(root, owner, never);
}

async function problemOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw new Error(`loaded, or failed with ${String(error)}`);
  return error.message;
}

test('load() requests the configuration of every hook, in path order', async () => {
  script('b.sh', '[ "$1" = --config ] && [ $# = 1 ] && echo "configVersion: v1" && echo "onStartup: 2"');
  script('a.sh', 'echo noise >&2; echo \'{"configVersion":"v1","onStartup":1}\'');
  const hooks = await load(GLOBAL);
  expect(hooks).toMatchObject([
    { name: 'a.sh', path: join(root, 'a.sh'), owner: GLOBAL, config: { lifecycle: { onStartup: 1 } } },
    { name: 'b.sh', config: { lifecycle: { onStartup: 2 } } },
  ]);
});

test('load() calls an executable without extension with nothing but --config', async () => {
  script('plain', 'echo "$*" >> "$0.calls"; echo "configVersion: v1"; echo "onStartup: 1"');
  await load(MODULE);
  expect(readFileSync(join(root, 'plain.calls'), 'utf8')).toBe('--config\n');
});

test('load() has no hooks where there is no directory', async () => {
  rmSync(root, { recursive: true });
  expect(await load(MODULE)).toEqual([]);
  mkdirSync(root);
});

test.each([
  [
    'fails',
    'echo sorry >&2; exit 3',
    /cannot get config for hook '.*a\.sh': --config ended with exit status 3: sorry/,
  ],
  ['is killed', 'kill -KILL $$', /--config was killed by /],
  [
    'prints rubbish',
    'echo "hello: ["',
    /hook 'a\.sh' --config invalid: config unmarshal: [^]*\n\nhook --config output: hello: \[/,
  ],
  ['prints nothing', 'true', /hook 'a\.sh' --config invalid: .*[^]*config should have at least 1 properties/],
  [
    'has an unknown key',
    'echo \'{"configVersion":"v1","onStart":1}\'',
    /--config invalid: [^]*\.onStart is a forbidden property \(did you mean "onStartup"\?\); allowed: /,
  ],
  ['prints too much', 'head -c 1100000 /dev/zero', /--config printed more than 1048576 bytes/],
])('load() names the hook whose --config %s', async (_what, text, expected) => {
  script('a.sh', text);
  expect(await problemOf(load(GLOBAL))).toMatch(expected);
});

test('load() fails for a hook that does not respond', async () => {
  script('a.sh', 'sleep 60');
  expect(await problemOf(load(GLOBAL, 50))).toContain(
    '--config gave no response within 0.05 s and was stopped',
  );
});

test('load() names the module of a broken hook', async () => {
  script('a.sh', 'echo 1');
  expect(await problemOf(load(MODULE))).toContain("module 'web' hook 'hooks/a.sh' --config invalid: ");
});

test('load() fails on a linked hook that may not be executed', async () => {
  script('../data', 'true', 0o644);
  symlinkSync('../data', join(root, 'a.sh'));
  expect(await problemOf(load(GLOBAL))).toContain(`cannot get config for hook '${join(root, 'a.sh')}': `);
});

test('load() mixes executables and in-process hooks, and knows their configurations', async () => {
  script('a.sh', 'echo \'{"configVersion":"v1","beforeHelm":1}\'');
  inProcessScript('b.ts', '{ beforeHelm: 2, settings: { timeout: "3s" } }');
  const hooks = await load(MODULE);
  expect(hooks.map(({ name, transport, config }) => [name, transport, config.lifecycle])).toEqual([
    ['hooks/a.sh', 'executable', { beforeHelm: 1 }],
    ['hooks/b.ts', 'in-process', { beforeHelm: 2 }],
  ]);
  expect(hooks[1]?.config.settings).toEqual({ timeoutMs: 3_000 });
});

test('load() checks the configuration of an in-process hook by the same rules', async () => {
  inProcessScript('b.ts', '{ beforeAll: 1, schedule: [{ name: "a" }] } as never');
  const problem = await problemOf(load(MODULE));
  expect(problem).toContain("module 'web' hook 'hooks/b.ts' configuration invalid: ");
  expect(problem).toContain('beforeAll is a forbidden property');
  expect(problem).toContain('crontab');
});

test('load() reads what an HTTP hook is configured for from its file, and sends nothing', async () => {
  writeFileSync(join(root, 'a.http.yaml'), 'address: http://127.0.0.1:1/\nonStartup: 3\n');
  expect(await load(GLOBAL)).toMatchObject([
    { name: 'a.http.yaml', transport: 'http', config: { version: 'v1', lifecycle: { onStartup: 3 } } },
  ]);
});

test('load() says what is wrong with the configuration in an HTTP hook, as it does for others', async () => {
  writeFileSync(join(root, 'a.http.yaml'), 'address: http://127.0.0.1:1/\nonStartUp: 3\n');
  const problem = await problemOf(load(GLOBAL));
  expect(problem).toContain("global hook 'a.http.yaml' configuration invalid: ");
  expect(problem).toContain('.onStartUp is a forbidden property (did you mean "onStartup"?)');
  expect(problem).not.toContain('output');
});
