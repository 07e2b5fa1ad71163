/** The admission server of the original: it can be switched on, has a certificate, and returns 404 for every request. */

import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { startWebhookServer } from '@addon-operator/http-server/tls-server';
import type { AdmissionServerSettings } from '../settings/webhook-settings.ts';
import { loadFromFiles } from './certificate-files.ts';
import { openCertificateSource } from './certificate-source.ts';
import { MAX_BODY_BYTES, type WebhookHost } from './webhook-server.ts';

const ALL_ADDRESSES = '0.0.0.0';

/**
 * Starts the admission server where the settings ask for it. It has nothing to do with hooks and serves nothing: as in
 * the original it is there for programs that the operator is built into. A replaced certificate is taken within 30 s.
 *
 * @throws OperatorError CONFIG_INVALID without a directory of certificates, WEBHOOK_CERTIFICATE for files that cannot be
 *   used, HTTP_LISTEN when the port is in use
 */
export async function startAdmissionServer(
  settings: Pick<
    AdmissionServerSettings,
    'isAdmissionServerEnabled' | 'admissionServerCertsDir' | 'admissionServerPort'
  >,
  { clock, log }: Pick<WebhookHost, 'clock' | 'log'>,
  stop: AbortSignal,
  running: AsyncDisposableStack,
): Promise<void> {
  const {
    isAdmissionServerEnabled,
    admissionServerCertsDir: directory,
    admissionServerPort: port,
  } = settings;
  if (!isAdmissionServerEnabled) return;
  if (directory === '') {
    throw new OperatorError(
      'CONFIG_INVALID',
      'flag --admission-server-certs-dir (variable ADDON_OPERATOR_ADMISSION_SERVER_CERTS_DIR): is required with --admission-server-enabled; name the directory with tls.crt and tls.key',
    );
  }
  const cert = join(directory, 'tls.crt');
  // No client learns of an authority here.
  const files = { cert, key: join(directory, 'tls.key'), ca: cert };
  const source = await openCertificateSource({ load: () => loadFromFiles(files), clock, log }, stop);
  const server = await startWebhookServer({
    address: ALL_ADDRESSES,
    port,
    certificates: source.certificates,
    handler: async () => ({ status: 404, type: 'text', body: '404 page not found\n' }),
    maxBodyBytes: MAX_BODY_BYTES.validating,
    clock,
    log,
  });
  const ended = source.run(stop);
  running.defer(async () => {
    await server.stop();
    await ended;
  });
  log.info({ port: server.port }, 'admission server listens');
}
