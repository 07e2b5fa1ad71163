import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { expect, onTestFinished, test } from 'vitest';
import { daemonHost } from '../../test/support/daemon-host.ts';
import { startAdmissionServer } from './admission-server.ts';

const life = {
  notBeforeMs: Date.parse('2026-01-01T00:00:00Z'),
  notAfterMs: Date.parse('2036-01-01T00:00:00Z'),
};
const authority = createAuthority({ commonName: 'authority', ...life });

async function start(settings: { readonly isEnabled: boolean; readonly hasCertificates: boolean }) {
  const directory = mkdtempSync(join(tmpdir(), 'admission-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { cert, key } = issueCertificate(authority, { commonName: 'server', ...life }, ['localhost']);
  writeFileSync(join(directory, 'tls.crt'), cert);
  writeFileSync(join(directory, 'tls.key'), key);
  const host = daemonHost();
  const stop = new AbortController();
  const running = new AsyncDisposableStack();
  onTestFinished(async () => {
    stop.abort();
    await running.disposeAsync();
  });
  const chosen = {
    isAdmissionServerEnabled: settings.isEnabled,
    admissionServerCertsDir: settings.hasCertificates ? directory : '',
    admissionServerPort: 0,
  };
  await startAdmissionServer(chosen, host, stop.signal, running);
  return host.captured.records.at(-1);
}

async function statusOf(port: unknown): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = { 'Content-Type': 'application/json' };
  const options = { host: 'localhost', port: Number(port), method: 'POST', headers, ca: authority.cert };
  request({ ...options, path: '/anything' }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on('error', reject)
    .end('{}');
  return promise;
}

test('the admission server speaks TLS with its certificate, and serves nothing', async () => {
  const record = await start({ isEnabled: true, hasCertificates: true });
  expect(record).toMatchObject({ level: 'info', msg: 'admission server listens' });
  expect(await statusOf(record?.['port'])).toBe(404);
});

test('it does not run unless the settings enable it', async () => {
  expect(await start({ isEnabled: false, hasCertificates: true })).toBeUndefined();
});

test('without a directory of certificates it is refused', async () => {
  await expect(start({ isEnabled: true, hasCertificates: false })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('--admission-server-certs-dir'),
  });
});
