/**
 * Reads certificates from files, as cert-manager or an administrator writes them. Files are read again every 30 s
 * (`certificate-source.ts`), and a set that does not belong together is refused, since it may be half written.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { ServingCertificate } from '@addon-operator/http-server/webhook-certificates';

/** Files that another program, such as cert-manager, writes a certificate to. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/**
 * Reads a certificate with its key and authority, and checks that they belong together as far as can be seen.
 *
 * @throws OperatorError WEBHOOK_CERTIFICATE naming the file
 */
export async function loadFromFiles(files: CertificateFiles): Promise<ServingCertificate> {
  const [cert, key, ca] = await Promise.all([readPem(files.cert), readPem(files.key), readPem(files.ca)]);
  const parsed = parse(files.cert, () => new X509Certificate(cert));
  const privateKey = parse(files.key, () => createPrivateKey(key));
  parse(files.ca, () => new X509Certificate(ca));
  if (!parsed.checkPrivateKey(privateKey))
    throw problem(files.key, `it is not the key of the certificate in ${files.cert}`);
  return { cert, key, ca, expiresMs: Date.parse(parsed.validTo) };
}

/** @throws OperatorError WEBHOOK_CERTIFICATE when the file cannot be read */
export async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw problem(path, messageOf(cause), cause);
  }
}

function parse<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw problem(path, messageOf(cause), cause);
  }
}

function problem(path: string, reason: string, cause?: unknown): OperatorError {
  return new OperatorError('WEBHOOK_CERTIFICATE', `The file ${path} for webhooks cannot be used: ${reason}`, {
    cause,
  });
}
