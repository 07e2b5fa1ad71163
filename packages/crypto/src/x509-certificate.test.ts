import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { createAuthority, issueCertificate } from './x509-certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const hasOpenssl = (await execa('openssl', ['version'], { reject: false })).exitCode === 0;

const subject = (commonName: string, days: number) => ({
  commonName,
  notBeforeMs: NOW_MS,
  notAfterMs: NOW_MS + days * DAY_MS,
});
const authority = createAuthority(subject('an authority', 3650));
const HOSTS = ['webhook.ns.svc', '127.0.0.1', '::1', '2001:db8::2:1'];
const issued = issueCertificate(authority, subject('webhook.ns.svc', 365), HOSTS);

test('an authority certifies itself and may sign certificates', () => {
  const parsed = new X509Certificate(authority.cert);
  expect(parsed.ca).toBe(true);
  expect(parsed.subject).toBe('CN=an authority');
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(Date.parse(parsed.validTo)).toBe(NOW_MS + 3650 * DAY_MS);
});

test('an issued certificate names its hosts, is signed by the authority and fits its key', () => {
  const parsed = new X509Certificate(issued.cert);
  expect(parsed.ca).toBe(false);
  expect(parsed.checkIssued(new X509Certificate(authority.cert))).toBe(true);
  expect(parsed.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  expect(parsed.checkHost('webhook.ns.svc')).toBe('webhook.ns.svc');
  expect(parsed.checkHost('other.ns.svc')).toBeUndefined();
  expect(parsed.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(parsed.checkIP('2001:db8::2:1')).toBeDefined();
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

test('certificates beyond 2049 have the other form of time', () => {
  const late = new X509Certificate(createAuthority(subject('late', 40 * 365)).cert);
  expect(Date.parse(late.validTo)).toBe(NOW_MS + 40 * 365 * DAY_MS);
});

test.skipIf(!hasOpenssl)('openssl accepts the chain for its hosts and purpose', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'x509-'));
  try {
    writeFileSync(join(directory, 'ca.crt'), authority.cert);
    writeFileSync(join(directory, 'tls.crt'), issued.cert);
    const verify = (...host: readonly string[]) =>
      execa(
        'openssl',
        [
          'verify',
          '-x509_strict',
          '-attime',
          String(NOW_MS / 1_000 + 60),
          '-purpose',
          'sslserver',
          ...host,
          '-CAfile',
          'ca.crt',
          'tls.crt',
        ],
        { cwd: directory, reject: false },
      );
    expect(await verify('-verify_hostname', 'webhook.ns.svc')).toMatchObject({ stdout: 'tls.crt: OK' });
    expect(await verify('-verify_ip', '::1')).toMatchObject({ stdout: 'tls.crt: OK' });
    expect((await verify('-verify_hostname', 'else.ns.svc')).exitCode).not.toBe(0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
