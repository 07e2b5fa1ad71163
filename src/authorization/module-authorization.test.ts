import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { signMessage } from '@addon-operator/crypto/ssh-signature';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { AuthorizationPolicy } from './authorization-policy.ts';
import { contentDigest, manifestText } from './content-manifest.ts';
import { digestPolicy, lockText } from './digest-policy.ts';
import { keyringPolicy } from './keyring.ts';
import { ModuleAuthorization } from './module-authorization.ts';
import { MANIFEST_FILE, readContent, SIGNATURE_FILE, SIGNATURE_NAMESPACE } from './module-content.ts';
import { SeenSerials } from './seen-serials.ts';

const never = new AbortController().signal;
const key = generateKeyPairSync('ed25519').privateKey;
const NOW_MS = Date.UTC(2026, 5, 1);
let root = '';
let web = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'authorization-'));
  web = join(root, 'modules', '010-web');
  await mkdir(join(web, 'hooks'), { recursive: true });
  await mkdir(join(root, 'staged'));
  await writeFile(join(web, 'hooks', 'a.sh'), '#!/bin/sh\necho one\n');
  await writeFile(join(root, 'keys'), lineOf(key));
});

afterEach(() => rm(root, { recursive: true }));

function lineOf(trusted: KeyObject, options = ''): string {
  const { type, blob } = sshPublicKey(trusted);
  return `me ${options} ${type} ${blob.toString('base64')}\n`;
}

async function sign(directory: string, name: string, serial: number, signer = key): Promise<void> {
  const text = manifestText({ name, serial, files: await readContent(directory, {}, never) });
  await writeFile(join(directory, MANIFEST_FILE), text);
  await writeFile(
    join(directory, SIGNATURE_FILE),
    signMessage(Buffer.from(text), signer, SIGNATURE_NAMESPACE),
  );
}

async function lock(name: string): Promise<void> {
  const digest = contentDigest({ name, files: await readContent(web, {}, never) });
  await writeFile(join(root, 'lock.json'), lockText(new Map([[name, digest]])));
}

const allow: AuthorizationPolicy = { check: async () => {} };
const byDigest = (): AuthorizationPolicy => digestPolicy(join(root, 'lock.json'));

function byKey(nowMs = NOW_MS): AuthorizationPolicy {
  let data = {};
  const serials = new SeenSerials({
    read: async () => data,
    change: async (change) => {
      data = change(data, true);
    },
  });
  return keyringPolicy({ keyring: join(root, 'keys'), clock: new FakeClock(nowMs), serials });
}

function authorize(policy: AuthorizationPolicy): ModuleAuthorization {
  const authorization = new ModuleAuthorization({ policy, directory: join(root, 'staged'), signal: never });
  return authorization;
}

async function pathOf(authorization: ModuleAuthorization): Promise<string> {
  const admission = await authorization.admit('web', web);
  if (admission.type === 'refused') throw new Error(admission.reason);
  return admission.path;
}

async function reasonOf(policy: AuthorizationPolicy): Promise<string> {
  const admission = await authorize(policy).admit('web', web);
  return admission.type === 'refused' ? admission.reason : '';
}

test('a module that the lock file lists is admitted as a copy, any other is not', async () => {
  await lock('web');
  const path = await pathOf(authorize(byDigest()));
  expect(path).toMatch(/\/staged\/copy-\w{6}\/010-web$/u);
  expect(readFileSync(join(path, 'hooks', 'a.sh'), 'utf8')).toBe('#!/bin/sh\necho one\n');
  await appendFile(join(web, 'hooks', 'a.sh'), 'echo two\n');
  expect(await reasonOf(byDigest())).toContain(`the lock file ${join(root, 'lock.json')} says sha256:`);
  await lock('db');
  expect(await reasonOf(byDigest())).toContain('does not list it');
});

test.each([
  ['missing', undefined, 'ENOENT'],
  ['truncated', '{"version": 1', 'JSON'],
  ['of another kind', '[]', 'expected a JSON object'],
  ['of another version', '{"version": 2, "modules": {}}', 'expected "version": 1'],
  ['without modules', '{"version": 1}', 'expected "modules"'],
  ['with a digest that is none', '{"version": 1, "modules": {"web": "sha256:12"}}', 'modules.web: expected'],
])('no module is admitted while the lock file is %s', async (_what, text, reason) => {
  if (text !== undefined) await writeFile(join(root, 'lock.json'), text);
  const said = await reasonOf(byDigest());
  expect(said).toContain('the lock file cannot be used: ');
  expect(said).toContain(reason);
});

test('a module that was signed with a trusted key is admitted', async () => {
  await sign(web, 'web', 1);
  expect(await pathOf(authorize(byKey()))).toContain('/staged/');
});

test.each([
  [
    'has no manifest',
    () => unlink(join(web, MANIFEST_FILE)),
    'it is not signed: there is no module.manifest',
  ],
  ['has no signature', () => unlink(join(web, SIGNATURE_FILE)), 'there is no module.manifest.sig'],
  [
    'has a truncated signature',
    () =>
      writeFile(
        join(web, SIGNATURE_FILE),
        signMessage(Buffer.from(''), key, SIGNATURE_NAMESPACE).slice(0, 150),
      ),
    'module.manifest.sig cannot be used: it does not end with',
  ],
  [
    'has a signature without end',
    () => truncate(join(web, SIGNATURE_FILE), 1e12),
    'module.manifest.sig has more than 65536 bytes',
  ],
  ['has an empty signature', () => writeFile(join(web, SIGNATURE_FILE), ''), 'cannot be used'],
  ['has the signature of another module', () => sign(web, 'db', 1), 'signed for the module "db"'],
  [
    'has a manifest that was changed',
    () => appendFile(join(web, MANIFEST_FILE), ' '),
    'is not a signature of its module.manifest',
  ],
  ['has a changed file', () => appendFile(join(web, 'hooks', 'a.sh'), '#'), 'hooks/a.sh was changed'],
  ['has a changed mode', () => chmod(join(web, 'hooks', 'a.sh'), 0o755), 'hooks/a.sh was changed'],
  ['has a new file', () => writeFile(join(web, 'enabled'), ''), 'enabled was added'],
  ['lacks a file', () => unlink(join(web, 'hooks', 'a.sh')), 'hooks/a.sh is missing'],
  [
    'was signed with another key',
    () => sign(web, 'web', 1, generateKeyPairSync('ed25519').privateKey),
    'which is not in',
  ],
  ['has a key that was removed', () => writeFile(join(root, 'keys'), ''), 'there is no trusted key in'],
  [
    'has a key that has expired',
    () => writeFile(join(root, 'keys'), lineOf(key, 'valid-before="20260601Z"')),
    'of me, which is only valid until 2026-06-01T00:00:00.000Z',
  ],
  [
    'has a key that is not valid yet',
    () => writeFile(join(root, 'keys'), lineOf(key, 'valid-after="20260602Z"')),
    'only valid from 2026-06-02T00:00:00.000Z',
  ],
])('a module is refused that %s', async (_what, spoil, reason) => {
  await sign(web, 'web', 1);
  await spoil();
  expect(await reasonOf(byKey())).toContain(reason);
});

test('an older signature is refused once a newer one was seen', async () => {
  const policy = byKey();
  await sign(web, 'web', 1);
  const old = readFileSync(join(web, MANIFEST_FILE));
  const oldSignature = readFileSync(join(web, SIGNATURE_FILE));
  await pathOf(authorize(policy));
  await appendFile(join(web, 'hooks', 'a.sh'), 'echo mended\n');
  await sign(web, 'web', 2);
  await pathOf(authorize(policy));
  await writeFile(join(web, 'hooks', 'a.sh'), '#!/bin/sh\necho one\n');
  await writeFile(join(web, MANIFEST_FILE), old);
  await writeFile(join(web, SIGNATURE_FILE), oldSignature);
  expect(await reasonOf(policy)).toContain('has serial number 1, but number 2 has already run');
});

test('what is swapped while a module is being checked is not what runs', async () => {
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const check: AuthorizationPolicy['check'] = async (candidate) => {
    await candidate.content();
    reached.resolve();
    await goOn.promise;
  };
  const admission = pathOf(authorize({ check }));
  await reached.promise;
  await writeFile(join(web, 'hooks', 'a.sh'), '#!/bin/sh\necho evil\n');
  goOn.resolve();
  const path = await admission;
  expect(readFileSync(join(path, 'hooks', 'a.sh'), 'utf8')).toBe('#!/bin/sh\necho one\n');
});

test('verify() calls the policy and reads the copy again', async () => {
  await sign(web, 'web', 1);
  const authorization = authorize(byKey());
  const path = await pathOf(authorization);
  await authorization.verify('web', path, never);
  await chmod(join(path, 'hooks', 'a.sh'), 0o600);
  await appendFile(join(path, 'hooks', 'a.sh'), 'echo evil\n');
  await expect(authorization.verify('web', path, never)).rejects.toMatchObject({
    code: 'MODULE_UNAUTHORIZED',
    isPermanent: true,
    message: `Module web is not authorized: its copy ${path} was changed after verification`,
  });
  await expect(authorization.verify('web', web, never)).rejects.toThrow('is not a verified copy');
});

test('verify() refuses a copy whose key has been removed', async () => {
  await sign(web, 'web', 1);
  const authorization = authorize(byKey());
  const path = await pathOf(authorization);
  await writeFile(join(root, 'keys'), lineOf(generateKeyPairSync('ed25519').privateKey));
  await expect(authorization.verify('web', path, never)).rejects.toThrow('which is not in');
});

test('a copy that was changed is made anew, an unchanged one keeps its path', async () => {
  const authorization = authorize(allow);
  const path = await pathOf(authorization);
  expect(await pathOf(authorization)).toBe(path);
  await writeFile(join(path, 'new'), '');
  const second = await pathOf(authorization);
  expect(second).not.toBe(path);
  expect(existsSync(join(second, 'new'))).toBe(false);
  expect(await readdir(join(root, 'staged'))).toHaveLength(2);
});

test('a module whose directory gets another number keeps a copy to run from', async () => {
  const authorization = authorize(allow);
  const first = await pathOf(authorization);
  await rename(web, join(root, 'modules', '020-web'));
  web = join(root, 'modules', '020-web');
  for (const _reload of ['first', 'second', 'third']) {
    const path = await pathOf(authorization);
    await authorization.settle(new Set([path]));
    await authorization.verify('web', path, never);
  }
  expect(existsSync(first)).toBe(false);
});

test('the content of an unsigned module is not even read', async () => {
  execFileSync('mkfifo', [join(web, 'pipe')]);
  expect(await reasonOf(byKey())).toContain('it is not signed');
  await writeFile(join(root, 'lock.json'), lockText(new Map()));
  expect(await reasonOf(byDigest())).toContain('does not list it');
  expect(await readdir(join(root, 'staged'))).toEqual([]);
});

test('a reason is one line of limited length, with any file names', async () => {
  await sign(web, 'web', 1);
  await writeFile(join(web, 'a\ndb: authorized\u001b[2J'), '');
  for (let count = 0; count < 9; count += 1) await writeFile(join(web, `b${count}${'x'.repeat(240)}`), '');
  const reason = await reasonOf(byKey());
  expect(reason).toContain('a\\u000adb: authorized\\u001b[2J was added');
  expect(reason.length).toBeLessThan(1_100);
});

test('settle() removes copies that neither this nor the last run of the daemon’s modules needs', async () => {
  const authorization = authorize(allow);
  const paths: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    await writeFile(join(web, 'hooks', 'a.sh'), text);
    const path = await pathOf(authorization);
    paths.push(path);
    await authorization.settle(new Set([path]));
  }
  expect(paths.map((path) => existsSync(path))).toEqual([false, true, true]);
});

test('copies that run stay although modules could not be loaded twice in a row', async () => {
  const authorization = authorize(allow);
  const path = await pathOf(authorization);
  await authorization.settle(new Set([path]));
  for (const text of ['two', 'three']) {
    await writeFile(join(web, 'hooks', 'a.sh'), text);
    await pathOf(authorization);
  }
  await authorization.settle(new Set([path]));
  expect(existsSync(path)).toBe(true);
});

test('a staging directory that cannot be written to is not the fault of a module', async () => {
  await rm(join(root, 'staged'), { recursive: true });
  await expect(authorize(allow).admit('web', web)).rejects.toMatchObject({
    code: 'MODULE_INVALID',
    message: expect.stringContaining('cannot copy modules to'),
  });
});
