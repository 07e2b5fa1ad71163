import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { findExecutable } from '@addon-operator/process/executable-file';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { runCli } from '../run-cli.ts';

const NOW_MS = 1_800_000_000_000;
let root = '';
let web = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'module-sign-'));
  web = join(root, 'modules', '010-web');
  await mkdir(web, { recursive: true });
  await mkdir(join(root, 'modules', '020-dns'));
  await writeFile(join(root, 'modules', 'values.yaml'), '');
  await writeFile(join(web, 'Chart.yaml'), 'name: web\n');
  await writeFile(join(root, 'modules', '020-dns', 'values.yaml'), 'dns: {}\n');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(join(root, 'key'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
  await writeFile(join(root, 'keys'), `ssh-ed25519 ${sshPublicKey(publicKey).blob.toString('base64')} me\n`);
});

afterEach(() => rm(root, { recursive: true }));

async function run(...args: readonly string[]) {
  const said = { stdout: '', stderr: '' };
  const exitCode = await runCli(['module', ...args], {
    env: {},
    cwd: root,
    clock: new FakeClock(NOW_MS),
    stdout: { write: (text) => (said.stdout += text) },
    stderr: { write: (text) => (said.stderr += text) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, ...said };
}

const verify = (...args: readonly string[]) =>
  run('verify', '--auth-policy', 'keyring', '--auth-keyring', 'keys', ...args);
const serial = async (): Promise<unknown> =>
  (JSON.parse(await readFile(join(web, 'module.manifest'), 'utf8')) as { serial: unknown }).serial;

test('module sign signs modules by name and by path, and module verify knows them', async () => {
  const signed = await run('sign', 'web', './modules/020-dns', '--key', 'key');
  expect(signed).toMatchObject({ exitCode: 0, stderr: '' });
  expect(signed.stdout).toMatch(
    /^web: signed 1 files with ssh-ed25519 SHA256:\S+, serial number 1800000000\ndns: signed 1 files/u,
  );
  expect(await verify()).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^web: authorized, sha256:[0-9a-f]{64}\ndns: authorized, sha256:/u),
  });
  await appendFile(join(web, 'Chart.yaml'), '#');
  const { exitCode, stdout } = await verify('-o', 'json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toEqual([
    {
      module: 'web',
      authorized: false,
      reason: 'the content differs from what was signed: Chart.yaml was changed',
    },
    { module: 'dns', authorized: true, digest: expect.stringMatching(/^sha256:/u) },
  ]);
});

test('module sign counts serial numbers on, unless it is given one', async () => {
  const serials: unknown[] = [];
  for (const options of [[], [], ['--serial', '7'], ['--serial', '1900000000'], []]) {
    await run('sign', 'web', '--key', 'key', ...options);
    serials.push(await serial());
  }
  expect(serials).toEqual([1_800_000_000, 1_800_000_001, 7, 1_900_000_000, 1_900_000_001]);
});

const sshKeygen = findExecutable('ssh-keygen', process.env['PATH'] ?? '');

test.skipIf(sshKeygen === undefined)('a manifest can be signed with ssh-keygen', async () => {
  execFileSync(sshKeygen ?? '', ['-q', '-t', 'ecdsa', '-N', '', '-f', join(root, 'own')]);
  await run('sign', 'web', '--key', 'key');
  const { exitCode, stdout } = await run('sign', 'web');
  const manifest = join(web, 'module.manifest');
  expect([exitCode, stdout]).toEqual([
    0,
    `web: 1 files, serial number 1800000001; now sign it: ssh-keygen -Y sign -n addon-operator-module -f KEY ${manifest}\n`,
  ]);
  expect(existsSync(`${manifest}.sig`)).toBe(false);
  const args = ['-q', '-Y', 'sign', '-n', 'addon-operator-module', '-f', join(root, 'own'), manifest];
  execFileSync(sshKeygen ?? '', args, { stdio: 'ignore' });
  expect(await verify('web', '--auth-keyring', 'own.pub')).toMatchObject({ exitCode: 0 });
});

test('module digest prints digests, and writes the lock file that module verify compares with', async () => {
  const { stdout } = await run('digest');
  expect(stdout).toMatch(/^web sha256:[0-9a-f]{64}\ndns sha256:[0-9a-f]{64}\n$/u);
  const lock = ['--auth-lock-file', 'modules.lock'];
  const byDigest = () => run('verify', '--auth-policy', 'digest', ...lock);
  await run('digest', '-w', ...lock, 'dns', '-o', 'json');
  expect(await byDigest()).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('does not list it'),
  });
  await run('digest', '-w', ...lock, 'web');
  expect(await byDigest()).toMatchObject({ exitCode: 0 });
  await rm(join(root, 'modules', '020-dns'), { recursive: true });
  await run('digest', '--write', ...lock);
  const digest = stdout.split(/\s/u)[1];
  expect(await readFile(join(root, 'modules.lock'), 'utf8')).toBe(
    `{\n  "version": 1,\n  "modules": {\n    "web": "${digest}"\n  }\n}\n`,
  );
});

test('module sign takes names of directories, and signs none for two modules', async () => {
  expect(await run('sign', '010-web', '--key', 'key')).toMatchObject({ exitCode: 0 });
  expect(await verify('web')).toMatchObject({ exitCode: 0 });
  await symlink('010-web', join(root, 'modules', '030-alias'));
  const { exitCode, stderr } = await run('sign', '--key', 'key');
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining('modules web and alias are the same directory'),
  ]);
  expect(await verify('web')).toMatchObject({ exitCode: 0 });
});

test('module sign does not count beyond the highest serial number', async () => {
  const highest = String(Number.MAX_SAFE_INTEGER);
  await run('sign', 'web', '--key', 'key', '--serial', highest);
  expect(await verify('web')).toMatchObject({ exitCode: 0 });
  const { exitCode, stderr } = await run('sign', 'web', '--key', 'key');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('has the highest possible serial number: set a lower one with --serial');
});

test.each([
  [['sign', 'nosuch', '--key', 'key'], 'no module nosuch in modules (--modules-dir)'],
  [['sign', './nosuch', '--key', 'key'], 'cannot read the module'],
  [['sign', 'web', '--key', 'nosuch'], 'cannot sign with the key'],
  [['sign', 'web', '--key', 'keys'], 'it is not a private key. Without --key'],
  [['sign', 'web', '--key', 'key', '--serial', '-1'], '--serial -1: expected a whole number'],
  [['sign', '--modules-dir', 'nosuch'], 'cannot read modules directory'],
  [['verify'], 'without a policy every module may run: set --auth-policy to digest or keyring'],
  [['verify', '--auth-policy', 'keyring'], 'set --auth-keyring'],
  [['digest', '--write'], '--write needs --auth-lock-file'],
  [['digest', '--write', '--auth-lock-file', 'nosuch/lock'], 'cannot write the lock file'],
])('module %s says what is wrong', async (args, message) => {
  const { exitCode, stdout, stderr } = await run(...args);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toContain(message);
});

test('a module that could not be run as it is signed is not signed at all', async () => {
  await symlink('/etc/passwd', join(web, 'passwd'));
  const { exitCode, stderr } = await run('sign', '--key', 'key');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('module web: passwd is a link to /etc/passwd, outside of the module');
  expect(existsSync(join(root, 'modules', '020-dns', 'module.manifest'))).toBe(false);
});

test('a damaged lock file is not written over when modules are added to it', async () => {
  await writeFile(join(root, 'modules.lock'), 'nonsense');
  const { exitCode, stderr } = await run('digest', '-w', '--auth-lock-file', 'modules.lock', 'web');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('cannot write the lock file');
  expect(await readFile(join(root, 'modules.lock'), 'utf8')).toBe('nonsense');
});
