import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cliRun } from '../../../test/support/cli-run.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ModuleStore } from '../../module-store/module-store.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'change-store-'));
});

afterEach(() => rm(root, { recursive: true }));

async function files(path: string, contents: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(root, path), { recursive: true });
  for (const [name, content] of Object.entries(contents)) await writeFile(join(root, path, name), content);
}

const chart = (version: string) => ({ 'Chart.yaml': `name: web\nversion: ${version}\n` });

async function store(command: string) {
  const env = { ADDON_OPERATOR_MODULE_STORE: join(root, 'store') };
  return await cliRun(`module store ${command}`, { env, cwd: root });
}

async function listed(): Promise<readonly unknown[]> {
  return JSON.parse((await store('list -o json')).stdout) as readonly unknown[];
}

test('module store add adds directories and links them, with the order of before unless another is given', async () => {
  await files('one', { ...chart('1.0.0'), 'module.manifest': 'signed' });
  await files('two', chart('1.1.0'));
  expect((await store('add one')).stdout).toMatch(/^030-web: web 1\.0\.0 sha256:[0-9a-f]{64}\n$/);
  expect((await store('add two --order 50')).stdout).toMatch(/^050-web: web 1\.1\.0 /);
  expect((await store('add one')).stdout).toMatch(/^050-web: web 1\.0\.0 /);
  expect(await listed()).toMatchObject([
    { module: 'web', version: '1.0.0', link: '050-web', isWhole: true },
    { module: 'web', version: '1.1.0', link: null, isWhole: true },
  ]);
  expect(await readlink(join(root, 'store/current/050-web'))).toMatch(/^\.\.\/content\/sha256-/);
  expect((await store('list')).stdout).toMatch(
    /^MODULE +VERSION +LINK +STATE +ADDED\nweb +1\.0\.0 +050-web +whole /,
  );
  expect((await store('list -o name')).stdout).toBe('web@1.0.0\nweb@1.1.0\n');
});

test('module store add takes the digest that module digest prints', async () => {
  await files('modules/010-web', chart('1.0.0'));
  const { stdout } = await cliRun('module digest web', { cwd: root });
  expect((await store('add modules/010-web')).stdout).toContain(stdout.trim().split(' ')[1]);
});

test('module store add takes an archive, which has the digest of its files', async () => {
  await files('web', chart('1.0.0'));
  execFileSync('tar', ['czf', join(root, 'web-1.0.0.tgz'), '-C', join(root, 'web'), '.']);
  const { stdout } = await store('add web-1.0.0.tgz');
  expect(stdout).toMatch(/^030-web: web 1\.0\.0 sha256:[0-9a-f]{64}\n$/);
  expect((await store('add web')).stdout).toBe(stdout);
  expect(await listed()).toHaveLength(1);
});

test.each([
  ['nothing', async () => {}, 'add web', /cannot read .*web: ENOENT/],
  ['a module without a version', () => files('web', { 'values.yaml': '' }), 'add web', /web has no version/],
  [
    'an invalid Chart.yaml',
    () => files('web', { 'Chart.yaml': 'a: [' }),
    'add web',
    /cannot read .*Chart\.yaml/,
  ],
  [
    'a link out of the module',
    async () => {
      await files('web', chart('1.0.0'));
      await symlink('/etc/passwd', join(root, 'web/passwd'));
    },
    'add web',
    /cannot add .*passwd/,
  ],
  ['a module that is not there', async () => {}, 'remove web', /there is no module web in the store/],
  ['no duration', async () => {}, 'gc --older-than yesterday', /no duration such as 24h/],
  ['no number', async () => {}, 'gc --keep some', /must be a whole number/],
])('a command about %s changes nothing, and says why', async (_what, prepare, command, reason) => {
  await prepare();
  const { exitCode, stderr } = await store(command);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(reason) });
  expect(await listed()).toEqual([]);
});

test('a command without a store says how to name it', async () => {
  const { exitCode, stderr } = await cliRun('module store list');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('name the module store with --store or ADDON_OPERATOR_MODULE_STORE'),
  });
});

test('module store remove and gc remove links and old versions', async () => {
  for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) {
    await files(version, chart(version));
    await store(`add ${version}`);
  }
  expect((await store('remove web')).stdout).toBe('030-web is removed\n');
  expect((await store('gc')).stdout).toBe('');
  expect((await store('gc --older-than 0s --keep 3')).stdout).toMatch(
    /^web \d\.\d\.0 sha256:.* is removed\n$/,
  );
  expect(await listed()).toHaveLength(3);
});

test('module store remove is possible for a module whose link was lost', async () => {
  await files('web', chart('1.0.0'));
  await store('add web');
  await rm(join(root, 'store/current/030-web'));
  expect((await store('remove web')).stdout).toBe('web is removed\n');
  const kept = new ModuleStore({ directory: join(root, 'store'), clock: new FakeClock() });
  expect(await kept.removedModules()).toEqual(new Set(['web']));
});
