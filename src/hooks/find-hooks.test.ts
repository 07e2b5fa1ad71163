import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { stringsOf } from '@addon-operator/json';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { ModuleName } from '../values/module-key.ts';
import { findHooks } from './find-hooks.ts';
import type { HookOwner } from './hook.ts';

const GLOBAL: HookOwner = { type: 'global' };
const MODULE: HookOwner = { type: 'module', module: 'web' as ModuleName };

let root: string;
let captured: CapturedLog;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'find-hooks-'));
  captured = new CapturedLog(new FakeClock());
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function file(path: string, mode = 0o755): Promise<void> {
  const full = join(root, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, '#!/bin/sh\n');
  await chmod(full, mode);
}

async function namesIn(directory: string, owner: HookOwner = GLOBAL): Promise<readonly string[]> {
  const hooks = await findHooks(join(root, directory), owner, captured.logger);
  return hooks.map((hook) => hook.name);
}

const warnings = () => captured.records.filter((record) => record['level'] === 'warn');

test('findHooks() takes executables of any extension but those of data files', async () => {
  for (const name of ['x.yml', 'x.yaml', 'x.json', 'x.md', 'x.txt', 'x', 'x.sh', 'x.YAML']) await file(name);
  expect(await namesIn('.')).toEqual(['x', 'x.YAML', 'x.sh', 'x.yml']);
  expect(warnings()).toEqual([]);
});

test('findHooks() passes over hidden files and directories, lib, and venv of modules', async () => {
  for (const name of ['lib/a.sh', 'sub/lib/b.sh', '.hid/c.sh', '.d.sh', 'venv/bin/e', 'library/f.sh'])
    await file(name);
  expect(await namesIn('.')).toEqual(['library/f.sh', 'venv/bin/e']);
  expect(await namesIn('.', MODULE)).toEqual(['library/f.sh']);
});

test.each(['lib', '.hidden', 'missing'])('findHooks() finds nothing in a root named %s', async (name) => {
  if (name !== 'missing') await file(`${name}/a.sh`);
  expect(await namesIn(name)).toEqual([]);
});

test('findHooks() warns of a file without exec permission and says how to mend it', async () => {
  await file('a.sh', 0o644);
  await file('b.sh', 0o100);
  expect(await namesIn('.')).toEqual(['b.sh']);
  const unused: string[] = [];
  await findHooks(root, GLOBAL, silentLogger, { onUnused: (path) => unused.push(path) });
  expect(unused).toEqual([join(root, 'a.sh')]);
  expect(warnings()).toMatchObject([{ path: join(root, 'a.sh'), fix: `chmod +x ${join(root, 'a.sh')}` }]);
});

test('findHooks() warns of a script that is neither an in-process hook nor executable, and says what makes it one', async () => {
  await file('a.ts', 0o644);
  expect(await namesIn('.')).toEqual([]);
  expect(warnings()).toMatchObject([
    { path: join(root, 'a.ts'), msg: expect.stringContaining('defineHook') },
  ]);
});

test('findHooks() sorts by path as byte strings', async () => {
  for (const name of ['001-a.sh', '001-a/x.sh', '001-a-b/x.sh', 'Z', 'a', 'é']) await file(name);
  expect(await namesIn('.')).toEqual(['001-a-b/x.sh', '001-a.sh', '001-a/x.sh', 'Z', 'a', 'é']);
});

test('findHooks() takes a symlink to a file of any mode, and no symlink to a directory', async () => {
  await file('data/a.sh', 0o644);
  await file('hooks/own.sh');
  await symlink('../data/a.sh', join(root, 'hooks/a.sh'));
  await symlink('../data', join(root, 'hooks/linked'));
  expect(await namesIn('hooks')).toEqual(['a.sh', 'own.sh']);
  expect(warnings()).toEqual([]);
});

test('findHooks() does not wait for a FIFO, nor for one behind a symlink', async () => {
  await file('own.sh');
  execFileSync('mkfifo', [join(root, 'a.ts')]);
  await symlink('a.ts', join(root, 'b.ts'));
  expect(await namesIn('.')).toEqual(['b.ts', 'own.sh']);
});

test('findHooks() names module hooks from the first hooks directory in their path', async () => {
  await file('010-web/hooks/a/b.sh');
  const hooks = await findHooks(join(root, '010-web/hooks'), MODULE, captured.logger);
  expect(hooks).toEqual([
    { name: 'hooks/a/b.sh', path: join(root, '010-web/hooks/a/b.sh'), transport: 'executable' },
  ]);
});

test('findHooks() names global hooks from the directory above, when they are in its hooks directory', async () => {
  await file('hooks/sub/g.sh');
  const hooks = await findHooks(join(root, 'hooks'), GLOBAL, captured.logger, { namedFrom: root });
  expect(hooks.map(({ name }) => name)).toEqual(['hooks/sub/g.sh']);
});

test('findHooks() takes a script of any mode for an in-process hook by its text, and never twice', async () => {
  const hook = "import { defineHook } from 'addon-operator/sdk';\nexport default defineHook({}, () => {});\n";
  for (const [name, text, mode] of [
    ['a.ts', hook, 0o644],
    ['b.mjs', hook, 0o755],
    ['c.js', '#!/usr/bin/env node\n', 0o755],
    ['d.mts', 'export default 1;\n', 0o644],
    ['e.sh', hook, 0o755],
    ['lib/f.ts', hook, 0o644],
  ] as const) {
    await file(name, mode);
    await writeFile(join(root, name), text);
  }
  const hooks = await findHooks(root, GLOBAL, captured.logger);
  expect(hooks.map(({ name, transport }) => [name, transport])).toEqual([
    ['a.ts', 'in-process'],
    ['b.mjs', 'in-process'],
    ['c.js', 'executable'],
    ['e.sh', 'executable'],
  ]);
  expect(warnings()).toMatchObject([{ path: join(root, 'd.mts') }]);
});

test('findHooks() takes files of any mode that end in .http.yaml for HTTP hooks, and links to such', async () => {
  for (const [name, mode] of [
    ['a.http.yaml', 0o644],
    ['deep/b.http.yaml', 0o755],
    ['lib/c.http.yaml', 0o644],
    ['.d.http.yaml', 0o644],
    ['e.yaml', 0o755],
    ['f.http.yml', 0o644],
  ] as const)
    await file(name, mode);
  await symlink('lib/c.http.yaml', join(root, 'g.http.yaml'));
  await symlink('deep', join(root, 'h.http.yaml'));
  const hooks = await findHooks(root, GLOBAL, captured.logger);
  expect(hooks.map(({ name, transport }) => [name, transport])).toEqual([
    ['a.http.yaml', 'http'],
    ['deep/b.http.yaml', 'http'],
    ['g.http.yaml', 'http'],
  ]);
  expect(warnings()).toMatchObject([{ path: join(root, 'f.http.yml') }]);
});

test('findHooks() reports sources, tests and files that hooks import in one record for a directory, at level debug', async () => {
  const made = async (path: string, text: string, mode = 0o644): Promise<void> => {
    await file(path, mode);
    await writeFile(join(root, path), text);
  };
  await made('a.py', '#!/usr/bin/env python3\nimport common\n', 0o755);
  await made('b.sh', '#!/bin/sh\n. "$(dirname "$0")/functions.sh"\n', 0o755);
  for (const name of [
    'common.py',
    'functions.sh',
    'go.mod',
    'main.go',
    'main_test.go',
    'sub/x.go',
    'Makefile',
  ])
    await made(name, '# none\n');
  await made('new.sh', 'echo\n');
  await made('other.rb', '#!/usr/bin/env ruby\n');
  expect(await namesIn('.')).toEqual(['a.py', 'b.sh']);
  expect(warnings().map(({ path }) => path)).toEqual(
    expect.arrayContaining([join(root, 'new.sh'), join(root, 'other.rb')]),
  );
  expect(warnings()).toHaveLength(2);
  const debug = captured.records.filter(({ level }) => level === 'debug');
  expect(debug).toHaveLength(2);
  const filesOf = (path: string): readonly string[] => {
    const files = debug.find((record) => record['path'] === path)?.['files'];
    return stringsOf(files).toSorted();
  };
  expect(filesOf(join(root, 'sub'))).toEqual(['x.go']);
  expect(filesOf(root)).toEqual([
    'Makefile',
    'common.py',
    'functions.sh',
    'go.mod',
    'main.go',
    'main_test.go',
  ]);
});
