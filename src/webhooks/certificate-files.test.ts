import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { expect, onTestFinished, test } from 'vitest';
import { loadFromFiles } from './certificate-files.ts';

const END_MS = Date.parse('2036-01-01T00:00:00Z');
const life = { notBeforeMs: END_MS - 1_000_000, notAfterMs: END_MS };
const authority = createAuthority({ commonName: 'a', ...life });
const issued = issueCertificate(authority, { commonName: 's', ...life }, ['s']);

function write({ cert = issued.cert, key = issued.key, ca = authority.cert }) {
  const directory = mkdtempSync(join(tmpdir(), 'certificate-files-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const at = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  return { cert: at('tls.crt', cert), key: at('tls.key', key), ca: at('ca.crt', ca) };
}

test('certificate, key and authority are read', async () => {
  expect(await loadFromFiles(write({}))).toEqual({ ...issued, ca: authority.cert, expiresMs: END_MS });
});

test.each([
  ['cert', { cert: 'rubbish' }, 'tls.crt'],
  ['key', { key: '' }, 'tls.key'],
  ['ca', { ca: 'rubbish' }, 'ca.crt'],
  ['pair', { key: authority.key }, 'it is not the key of the certificate'],
])('a broken %s is refused with the file', async (_what, files, words) => {
  const loading = loadFromFiles(write(files));
  await expect(loading).rejects.toMatchObject({
    code: 'WEBHOOK_CERTIFICATE',
    message: expect.stringContaining(words),
  });
});

test('a missing file is refused with its path', async () => {
  await expect(loadFromFiles({ ...write({}), ca: '/missing/ca.crt' })).rejects.toThrow('/missing/ca.crt');
});
