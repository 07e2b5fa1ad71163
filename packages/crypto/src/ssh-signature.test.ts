import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable } from '@addon-operator/process/executable-file';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fingerprint, parsePrivateKey, parsePublicKey, sshPublicKey } from './ssh-keys.ts';
import { isSignatureOf, parseSignature, signMessage } from './ssh-signature.ts';

const MESSAGE = Buffer.from('a message\n');
const PURPOSE = 'addon-operator-module';
/** Made with `ssh-keygen -Y sign -n addon-operator-module`. */
const ED25519 = [
  '-----BEGIN SSH SIGNATURE-----',
  'U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgnyEZGzvWYzGJtjf3FNV+aAI6Hg',
  'n8t927r0lrRrWFJoIAAAAVYWRkb24tb3BlcmF0b3ItbW9kdWxlAAAAAAAAAAZzaGE1MTIA',
  'AABTAAAAC3NzaC1lZDI1NTE5AAAAQJ18uDhunPtrvKDnjyjAzIdAoRygsSypqw2giZSjZ6',
  '7LjgrQXsfjJ4K2MRqocxTX0g2tFjUCS6jaHnTOBFb+wAc=',
  '-----END SSH SIGNATURE-----',
].join('\n');
const ECDSA = [
  '-----BEGIN SSH SIGNATURE-----',
  'U1NIU0lHAAAAAQAAAGgAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAAhuaXN0cDI1NgAAAE',
  'EEGxPorm2xXBOqKngyJIp/tCUEXEqI5qbBwmCtOD6jH3byHC47SAuqAhQ5elxHLCjTKV9+',
  'IuZ6QBMJf9Hj2BGTwwAAABVhZGRvbi1vcGVyYXRvci1tb2R1bGUAAAAAAAAABnNoYTUxMg',
  'AAAGQAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAEkAAAAgMjazq0VjEiPkk/42BdctWprv',
  'TJ5I7sTO00Pjcbh9sQEAAAAhANgaS+73gRlE/1KWOwHVQYyPH1RViNnDMWwrma/hHxSu',
  '-----END SSH SIGNATURE-----',
].join('\n');
const RSA = [
  '-----BEGIN SSH SIGNATURE-----',
  'U1NIU0lHAAAAAQAAAZcAAAAHc3NoLXJzYQAAAAMBAAEAAAGBAKCIT2xAolcDsj3AHMg320',
  '1Ze54yHtvRj6WSeybAyCbOfvGLitvsaWmKDFF6eMBspx9fMSHCVKMEfmUOmSvNChNUF+M9',
  'OAZZJlOpHpl3xnmda/RPXMSOHE2m3yqP2pNr3ao7q7SWtPoMmMEllbGRImY70ikWSGqAxR',
  'vMPh1VGxqebuxKYKFs708AL1WIsWLo+3d8c1+PDosPWBnkNMok808UG8R06gUjhlAS8E2m',
  'enocpNWFtecrc5fbqid2jbaNwPiVd0H8bLpS9o35zc39+JQIHIHmFPCZciil77goFXmFe3',
  'V+D0v04m2g1sQZbD+ircAm82/oGXdhCp5ljwXJvSc0mdLGHrkyNnbCppFW4hgwXHQYvXLz',
  'mL4VuY4DSClHozggD3p6g+b7XxSKezCAXdhNf/dsE7HVMA4rMHgY2/sZA7uUmWm6vdPKeH',
  'jYl4OHbNtGH2lahSQ2n/MoZwbw8zXPZGxZtE9D7R5xk9tHUyjohcVYCW3TAYmorhhpbLDC',
  '7QAAABVhZGRvbi1vcGVyYXRvci1tb2R1bGUAAAAAAAAABnNoYTUxMgAAAZQAAAAMcnNhLX',
  'NoYTItNTEyAAABgG9y2kwOcUEzwWwv6zLxBVGygWQqU9yI2WFCx32gvYHclc8dDr54M476',
  'AeplwjjyJvsrRFlHNP7S5QHw1/5Z2OhadM1vig1EuO0TMNesW/aov/5YW6ANDpuPseuoR9',
  'GT1WyHyyOQn3iUQkcHbXVH5IgbGgxHNoRMFqTsmDworf83wKA3FkrEJd1BjVTUllhl8vec',
  '9t9Q9FIwGoc9OByqagMo+4tw6GG1O4gz69rkWlqXHtVqAku3LZ+LzwNonmyKfO3DoaS12/',
  'ry53CGenjXpDcWcn+xZj2t0wdl3M9QuCQVl33kfIRJfnnCDXmt8Ri1Ty3pBj4QjnOFcWv2',
  '3PUucoq7pX1flPW4+EeGSMbRtGQt5GbCZw3J1RhckZ8FNN7xvItutls5FMRzDS31YTKWSo',
  'vm7drSobxnPpbgYTdxiROGsLAFJHB55QEN1LZyIb8Ga3HerzpxhicK3DbjsHVpDaIWOdv2',
  'tPi3vAC0KtWXBIgIfuH/F/CcQoFGruuZ/wQ98w==',
  '-----END SSH SIGNATURE-----',
].join('\n');

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ssh-signature-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test.each([
  ['ssh-ed25519', ED25519, 'SHA256:gwETdTjWxTU5NxwrfXLN4aXvAu/8ButKjkJn6MvK3X0'],
  ['ecdsa-sha2-nistp256', ECDSA, 'SHA256:ipamm4oNtfMGCxf0EiYL1N196L8GbFyciIXBT8kXIOc'],
  ['ssh-rsa', RSA, 'SHA256:0qBkmamCUczUOUK6P9MUDnC/+x5k0aBop+6gkLwgp/k'],
])('isSignatureOf() knows a signature that ssh-keygen made with %s', (type, text, print) => {
  const signature = parseSignature(text);
  expect(signature.publicKey.type).toBe(type);
  expect(fingerprint(signature.publicKey)).toBe(print);
  expect(isSignatureOf(signature, MESSAGE, PURPOSE)).toBe(true);
  expect(isSignatureOf(signature, Buffer.from('a massage\n'), PURPOSE)).toBe(false);
});

test('isSignatureOf() refuses a signature that was made for something else', () => {
  const signature = parseSignature(ED25519);
  expect(isSignatureOf({ ...signature, namespace: 'file' }, MESSAGE, PURPOSE)).toBe(false);
  expect(isSignatureOf({ ...signature, algorithm: 'ssh-rsa' }, MESSAGE, PURPOSE)).toBe(false);
  expect(isSignatureOf({ ...signature, hash: 'sha256' }, MESSAGE, PURPOSE)).toBe(false);
  expect(isSignatureOf({ ...signature, signature: signature.signature.subarray(1) }, MESSAGE, PURPOSE)).toBe(
    false,
  );
  expect(isSignatureOf({ ...signature, publicKey: parseSignature(ECDSA).publicKey }, MESSAGE, PURPOSE)).toBe(
    false,
  );
});

test('isSignatureOf() refuses RSA signatures with SHA-1', () => {
  const signature = parseSignature(RSA);
  expect(isSignatureOf({ ...signature, algorithm: 'ssh-rsa' }, MESSAGE, PURPOSE)).toBe(false);
});

test('parseSignature() refuses every beginning of a signature, and anything else', () => {
  for (let length = 0; length < ED25519.length; length += 1)
    expect(() => parseSignature(ED25519.slice(0, length))).toThrow(Error);
  const [begin = '', ...lines] = ED25519.split('\n');
  const end = lines.pop() ?? '';
  for (let count = 0; count < lines.length; count += 1)
    expect(() => parseSignature([begin, ...lines.slice(0, count), end].join('\n'))).toThrow(Error);
  expect(() => parseSignature([begin, ...lines, 'AAAA', end].join('\n'))).toThrow(Error);
  expect(() => parseSignature('not a signature')).toThrow('it does not begin with');
});

const KEY_KINDS = [
  ['ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ['ecdsa', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
  ['rsa', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
] as const;

test.each(KEY_KINDS)(
  'signMessage() signs with an %s key so that isSignatureOf() knows it',
  (_kind, generate) => {
    const signature = parseSignature(signMessage(MESSAGE, generate(), PURPOSE));
    expect(isSignatureOf(signature, MESSAGE, PURPOSE)).toBe(true);
    expect(isSignatureOf(signature, Buffer.from('other'), PURPOSE)).toBe(false);
  },
);

test.each(KEY_KINDS)('no change of a signature made with an %s key goes through', (_kind, generate) => {
  const text = signMessage(MESSAGE, generate(), PURPOSE);
  const [begin = '', ...lines] = text.trim().split('\n');
  const end = lines.pop() ?? '';
  const bytes = Buffer.from(lines.join(''), 'base64');
  const { blob } = parseSignature(text).publicKey;
  const isTrusted = (changed: Buffer): boolean => {
    const signature = parseSignature([begin, changed.toString('base64'), end].join('\n'));
    return signature.publicKey.blob.equals(blob) && isSignatureOf(signature, MESSAGE, PURPOSE);
  };
  expect(isTrusted(bytes)).toBe(true);
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, bits) => {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ bits;
      try {
        return !isTrusted(changed);
      } catch (error) {
        return error instanceof Error;
      }
    }),
    { numRuns: 500 },
  );
});

const sshKeygen = findExecutable('ssh-keygen', process.env['PATH'] ?? '');

test.skipIf(sshKeygen === undefined).each(KEY_KINDS)(
  'ssh-keygen verifies what signMessage() signed with an %s key',
  (_kind, generate) => {
    const key = generate();
    const { type, blob } = sshPublicKey(key);
    writeFileSync(join(directory, 'signers'), `me ${type} ${blob.toString('base64')}\n`);
    writeFileSync(join(directory, 'sig'), signMessage(MESSAGE, key, PURPOSE));
    const said = execFileSync(
      sshKeygen ?? '',
      ['-Y', 'verify', '-n', 'addon-operator-module', '-I', 'me', '-f', 'signers', '-s', 'sig'],
      { cwd: directory, input: MESSAGE, encoding: 'utf8' },
    );
    expect(said).toContain('Good "addon-operator-module" signature for me');
  },
);

test.skipIf(sshKeygen === undefined)('parsePrivateKey() reads keys that ssh-keygen made', () => {
  const make = (file: string, ...options: readonly string[]): string => {
    execFileSync(sshKeygen ?? '', ['-q', '-f', join(directory, file), ...options]);
    return readFileSync(join(directory, file), 'utf8');
  };
  const plain = parsePrivateKey(make('plain', '-t', 'ed25519', '-N', ''));
  expect(isSignatureOf(parseSignature(signMessage(MESSAGE, plain, PURPOSE)), MESSAGE, PURPOSE)).toBe(true);
  const locked = make('locked', '-t', 'ed25519', '-N', 'secret');
  expect(() => parsePrivateKey(locked)).toThrow('it has a passphrase');
  const ecdsa = make('ecdsa', '-t', 'ecdsa', '-N', '');
  expect(() => parsePrivateKey(ecdsa)).toThrow('convert it with ssh-keygen -p -m PKCS8');
  parsePrivateKey(make('pkcs8', '-t', 'ecdsa', '-m', 'PKCS8', '-N', ''));
});

test('parsePrivateKey() says what cannot sign', () => {
  expect(() => parsePrivateKey('no key')).toThrow('it is not a private key');
  const { privateKey } = generateKeyPairSync('x25519');
  const text = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  expect(() => parsePrivateKey(text)).toThrow('keys of type OKP X25519 cannot be used');
});

test('parsePublicKey() refuses short RSA keys, other kinds, and what is cut off', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  expect(() => sshPublicKey(publicKey)).toThrow('RSA keys need 2048 bits or more');
  const { blob } = parseSignature(ED25519).publicKey;
  expect(() => parsePublicKey(blob.subarray(0, 30))).toThrow('the data ends too early');
  expect(() => parsePublicKey(Buffer.concat([blob, Buffer.alloc(1)]))).toThrow(
    'unexpected data after the key',
  );
  expect(() => parsePublicKey(Buffer.from([0, 0, 0, 1, 65]))).toThrow('keys of type "A" cannot be used');
});
