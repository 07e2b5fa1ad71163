import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { findHooks } from './find-hooks.ts';
import { findVenv, hookCommand } from './python.ts';

let root = '';

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'python-')));
});

afterEach(async () => await rm(root, { recursive: true }));

async function file(path: string, text = '', mode = 0o755): Promise<string> {
  const full = join(root, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
  await chmod(full, mode);
  return full;
}

test('findVenv() takes the nearest virtual environment, up to the directory of the hooks', async () => {
  await file('venv/bin/python3');
  await file('hooks/venv/bin/python3');
  await file('hooks/sub/venv/bin/python3');
  const of = (path: string) => findVenv(join(root, path), join(root, 'hooks'))?.interpreter;
  expect(of('hooks/a.py')).toBe(join(root, 'hooks/venv/bin/python3'));
  expect(of('hooks/other/deep/a.py')).toBe(join(root, 'hooks/venv/bin/python3'));
  expect(of('hooks/sub/a.py')).toBe(join(root, 'hooks/sub/venv/bin/python3'));
  expect(of('hooks/a.sh')).toBeUndefined();
  await rm(join(root, 'hooks/venv'), { recursive: true });
  expect(of('hooks/a.py')).toBeUndefined();
});

test('findVenv() names an environment without an interpreter, and where a link to one leads', async () => {
  await file('venv/pyvenv.cfg');
  const problem = () => findVenv(join(root, 'a.py'), root)?.problem;
  expect(problem()).toContain(`the virtual environment ${root}/venv has no bin/python3: create it`);
  await mkdir(join(root, 'venv/bin'));
  await symlink('/opt/python/bin/python3', join(root, 'venv/bin/python3'));
  expect(problem()).toContain(
    `${root}/venv/bin/python3 is a link to /opt/python/bin/python3, which does not exist`,
  );
});

test('findVenv() names a link to an environment that does not exist, and findHooks() takes it for no hook', async () => {
  await symlink('/opt/none', join(root, 'venv'));
  const hook = await file('a.py');
  expect(findVenv(hook, root)?.problem).toContain(
    `${root}/venv is a link to /opt/none, which does not exist`,
  );
  const found = await findHooks(root, { type: 'global' }, silentLogger);
  expect(found.map(({ path }) => path)).toEqual([hook]);
});

test('findVenv() takes no file for a virtual environment', async () => {
  await file('venv');
  expect(findVenv(await file('a.py'), root)).toBeUndefined();
});

test('hookCommand() sets PYTHONHOME for an environment with its own standard library only', async () => {
  await file('venv/bin/python3');
  const command = () =>
    hookCommand({ path: join(root, 'a.py'), python: findVenv(join(root, 'a.py'), root) }, ['--config']);
  expect(command()).toEqual({
    file: join(root, 'venv/bin/python3'),
    args: [join(root, 'a.py'), '--config'],
    env: {},
  });
  await file('venv/lib/python3.12/os.py');
  expect(command().env).toEqual({ PYTHONHOME: join(root, 'venv') });
});

test('hookCommand() runs a hook without an environment by itself', () => {
  expect(hookCommand({ path: '/hooks/a.py' }, ['--config'])).toEqual({
    file: '/hooks/a.py',
    args: ['--config'],
    env: {},
  });
});

test('findHooks() enters no virtual environment, and a directory of hooks named venv only among global hooks', async () => {
  await file('a.py', '#!/usr/bin/env python3\n');
  await file('venv/bin/python3');
  await file('sub/venv/b.sh');
  const names = async (owner: Parameters<typeof findHooks>[1]): Promise<readonly string[]> =>
    (await findHooks(root, owner, silentLogger)).map(({ name }) => name);
  expect(await names({ type: 'global' })).toEqual(['a.py', 'sub/venv/b.sh']);
  expect(await names({ type: 'module', module: 'web' as ModuleName })).toEqual(['a.py']);
  expect(await findHooks(root, { type: 'global' }, silentLogger)).toMatchObject([
    { name: 'a.py', python: { interpreter: join(root, 'venv/bin/python3') } },
    {},
  ]);
});

const hasPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasPython)('a hook in a real virtual environment finds what is installed there', async () => {
  const venv = join(root, 'venv');
  execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
  const site = execFileSync(join(venv, 'bin/python3'), [
    '-c',
    'import site; print(site.getsitepackages()[0])',
  ]);
  await writeFile(join(site.toString().trim(), 'greeting.py'), 'TEXT = "hello"\n');
  const hook = await file('a.py', 'import sys, greeting\nprint(greeting.TEXT, sys.prefix, sys.argv[1])\n');
  const command = hookCommand({ path: hook, python: findVenv(hook, root) }, ['--config']);
  const stdout = execFileSync(command.file, command.args, { env: { ...process.env, ...command.env } });
  expect(stdout.toString()).toBe(`hello ${venv} --config\n`);
});
