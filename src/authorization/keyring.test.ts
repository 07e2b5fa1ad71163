import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseKeyFile, readKeyring } from './keyring.ts';

const { type, blob } = sshPublicKey(generateKeyPairSync('ed25519').publicKey);
const KEY = `${type} ${blob.toString('base64')}`;
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyring-'));
});

afterEach(() => rmSync(root, { recursive: true }));

test.each([
  ['a .pub file', `${KEY} me@example.com`, { owner: 'me@example.com' }],
  ['a key alone', KEY, { owner: '' }],
  ['allowed_signers', `me@example.com ${KEY}`, { owner: 'me@example.com' }],
  [
    'several names',
    `"me@example.com,you@example.com" ${KEY} comment here`,
    { owner: 'me@example.com,you@example.com' },
  ],
  ['our namespace', `me namespaces="git,addon-operator-module" ${KEY}`, { owner: 'me' }],
  ['a pattern for our namespace', `me namespaces="addon-*,!addon-other" ${KEY}`, { owner: 'me' }],
  [
    'a time span',
    `me valid-after="20260101Z",valid-before="20270102030405Z" ${KEY}`,
    { validAfterMs: Date.UTC(2026, 0, 1), validBeforeMs: Date.UTC(2027, 0, 2, 3, 4, 5) },
  ],
  [
    'a local time',
    `me valid-before="202701020304" ${KEY}`,
    { validBeforeMs: new Date(2027, 0, 2, 3, 4).getTime() },
  ],
])('parseKeyFile() reads %s', (_what, line, expected) => {
  const [key, ...others] = parseKeyFile(`# trusted\n\n${line}\n`, 'keys');
  expect(others).toEqual([]);
  expect(key).toMatchObject(expected);
  expect(key?.publicKey.blob.equals(blob)).toBe(true);
});

test.each([
  ['a key for another namespace', `me namespaces="git" ${KEY}`],
  ['a key whose namespaces exclude ours', `me namespaces="*,!addon-*" ${KEY}`],
  ['an authority of certificates', `me cert-authority ${KEY}`],
  ['a hardware key', 'me sk-ssh-ed25519@openssh.com AAAA'],
  ['a certificate', 'me ssh-ed25519-cert-v01@openssh.com AAAA'],
  ['a key on another curve', 'me ecdsa-sha2-nistp384 AAAA'],
])('parseKeyFile() leaves out %s', (_what, line) => {
  expect(parseKeyFile(line, 'keys')).toEqual([]);
});

test.each([
  ['no key', 'hello', 'keys line 1: expected a public key'],
  ['a span without its value', `me valid-before ${KEY}`, 'keys line 1: the option valid-before has no value'],
  ['namespaces without a value', `me namespaces ${KEY}`, 'keys line 1: the option namespaces has no value'],
  [
    'an option twice',
    `me valid-before="20300101Z",valid-before="20200101Z" ${KEY}`,
    'keys line 1: the option valid-before is given twice',
  ],
  ['an option in place of a name', `cert-authority ${KEY}`, 'keys line 1: options follow a name'],
  ['an option it does not know', `me expiry="2026" ${KEY}`, 'keys line 1: unknown option expiry'],
  ['a time that is none', `me valid-before="tomorrow" ${KEY}`, 'keys line 1: tomorrow is not a time'],
  ['a day that does not exist', `me valid-before="20261399" ${KEY}`, 'keys line 1: 20261399 is not a time'],
  ['a key cut off', KEY.slice(0, -20), 'keys line 1: '],
])('parseKeyFile() refuses %s', (_what, line, message) => {
  expect(() => parseKeyFile(line, 'keys')).toThrow(message);
});

test('readKeyring() reads one file, or all of a directory that are not hidden', async () => {
  writeFileSync(join(root, 'a.pub'), `${KEY} a\n`);
  writeFileSync(join(root, 'b.pub'), `${KEY} b\n`);
  writeFileSync(join(root, '.swap'), 'nonsense');
  mkdirSync(join(root, 'directory'));
  expect((await readKeyring(root)).map(({ owner }) => owner)).toEqual(['a', 'b']);
  expect((await readKeyring(join(root, 'a.pub'))).map(({ owner }) => owner)).toEqual(['a']);
});

test('readKeyring() refuses a keyring that is empty, missing or damaged', async () => {
  await expect(readKeyring(root)).rejects.toMatchObject({
    code: 'MODULE_UNAUTHORIZED',
    message: `there is no trusted key in ${root}`,
  });
  await expect(readKeyring(join(root, 'missing'))).rejects.toThrow('the trusted keys cannot be read: ENOENT');
  writeFileSync(join(root, 'a.pub'), 'nonsense');
  await expect(readKeyring(root)).rejects.toThrow(
    `the trusted keys cannot be read: ${join(root, 'a.pub')} line 1`,
  );
});
