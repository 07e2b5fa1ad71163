import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';
import { beforeAll, expect, test } from 'vitest';
import { CHECKER, create, createWorld, eventually, isDenied, webhook } from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const HOUR_MS = 60 * 60 * 1_000;
const CERTIFICATE_FILES = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt' } as const;

const serialOf = async (port: number): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });
  socket.on('error', reject);
  return await promise;
};

describeCluster('certificates of webhooks', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('a certificate that another replica created is read from the Secret without a restart', async () => {
    await using lab = await createWorld(backend);
    const { world, port } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    await world.converge();
    expect(await eventually(() => create(world, 'bad'), isDenied)).toMatchObject({ status: 403 });
    const secret = await world.get('secrets', 'addon-operator-webhook-certs');
    expect(Object.keys(secret?.['data'] ?? {}).toSorted()).toEqual([
      'ca.crt',
      'ca.key',
      'tls.crt',
      'tls.key',
    ]);
    const before = await serialOf(port);
    await world.expect({ method: 'DELETE', path: world.path('secrets', 'addon-operator-webhook-certs') });
    await world.clock.passSleep(30_000);
    await world.log.untilMessage('certificate of webhooks is replaced');
    await world.log.untilMessage('webhooks are registered', 2);
    expect(await serialOf(port)).not.toBe(before);
    expect(
      await eventually(
        () => create(world, 'bad'),
        (response) => JSON.stringify(response).includes('name is bad'),
      ),
    ).toMatchObject({ status: 403 });
  });

  test('configured certificate files are used, and read again when they change', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'admission-'));
    const files = Object.entries(CERTIFICATE_FILES).map(([key, file]) => [key, join(directory, file)]);
    const paths = Object.fromEntries(files) as Record<keyof typeof CERTIFICATE_FILES, string>;
    const write = async () => {
      const life = { notBeforeMs: Date.now() - HOUR_MS, notAfterMs: Date.now() + HOUR_MS };
      const authority = createAuthority({ commonName: 'mounted', ...life });
      const { cert, key } = issueCertificate(authority, { commonName: 's', ...life }, ['127.0.0.1']);
      for (const [path, text] of [
        [paths.cert, cert],
        [paths.key, key],
        [paths.ca, authority.cert],
      ] as const)
        await writeFile(path, text);
      return new X509Certificate(cert).serialNumber;
    };
    try {
      const first = await write();
      await using lab = await createWorld(backend, {
        'validating-webhook-server-cert': paths.cert,
        'validating-webhook-server-key': paths.key,
        'validating-webhook-ca': paths.ca,
      });
      const { world } = lab;
      await world.write('global-hooks', {
        'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
      });
      await world.converge();
      expect(await serialOf(lab.port)).toBe(first);
      expect(await world.get('secrets', 'addon-operator-webhook-certs')).toBeUndefined();
      const second = await write();
      await world.clock.passSleep(30_000);
      await world.log.untilMessage('certificate of webhooks is replaced');
      await world.log.untilMessage('webhooks are registered', 2);
      expect(await serialOf(lab.port)).toBe(second);
      expect(
        await eventually(
          () => create(world, 'bad'),
          (response) => JSON.stringify(response).includes('name is bad'),
        ),
      ).toMatchObject({ status: 403 });
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
