/** Reads token, certificate and authorities of an HTTP hook from Secrets and files, for each run. */

import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { SecretText } from '../../values/secrets/resolve-secrets.ts';
import { referenceTitle, type SecretReference } from '../../values/secrets/secret-reference.ts';
import { type HttpEndpoint, secretsOf, type TextSource } from './http-endpoint.ts';

/** Texts of Secrets, as they are now. */
export interface SecretTexts {
  /** Resolves when each of these Secrets was read, or could not be; from then on they are followed. */
  follow(references: readonly SecretReference[]): Promise<void>;
  /** Ceases to follow all but these. */
  keepOnly(references: readonly SecretReference[]): void;
  lookup(reference: SecretReference): SecretText;
}

/** Credentials of one request, and the authorities that it trusts. */
export interface EndpointCredentials {
  /** Of the Authorization header. */
  readonly authorization: string | undefined;
  /** Undefined for the authorities that Node trusts, and no certificate of our own. */
  readonly secureContext: SecureContext | undefined;
}

/** Any visible ASCII: nothing that could end a header. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * Reads what an endpoint refers to, as it is now.
 *
 * @throws OperatorError SECRET_MISSING naming the Secret or file that is missing or cannot be used; never what is in it
 */
export async function readCredentials(
  endpoint: HttpEndpoint,
  secrets: SecretTexts,
): Promise<EndpointCredentials> {
  const references = secretsOf(endpoint);
  if (references.length > 0) await secrets.follow(references);
  const read = (reference: SecretReference): string => secretText(secrets.lookup(reference), reference);
  const { ca, clientCertificate, bearerToken } = endpoint;
  const pems = {
    ...(ca === undefined ? {} : { ca: await caText(ca, read) }),
    ...(clientCertificate === undefined
      ? {}
      : { cert: read(clientCertificate.certificate), key: read(clientCertificate.key) }),
  };
  return {
    authorization:
      bearerToken === undefined ? undefined : `Bearer ${tokenIn(read(bearerToken), bearerToken)}`,
    secureContext: Object.keys(pems).length === 0 ? undefined : secureContextOf(pems),
  };
}

function secretText(found: SecretText, reference: SecretReference): string {
  switch (found.type) {
    case 'known':
      return found.text;
    case 'absent':
      throw missing(`${referenceTitle(reference)} does not exist: create it`);
    case 'unknown':
      throw missing(`${referenceTitle(reference)}: ${found.why}`);
  }
}

async function caText(ca: TextSource, read: (reference: SecretReference) => string): Promise<string> {
  if (ca.type === 'secret') return pemOf(read(ca.reference), referenceTitle(ca.reference));
  try {
    return pemOf(await readFile(ca.path, 'utf8'), ca.path);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw missing(`cannot read the file of tls.ca: ${messageOf(cause)}`, cause);
  }
}

/** OpenSSL takes a text without any certificate for no authorities at all, and the failure would come elsewhere. */
function pemOf(text: string, source: string): string {
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw missing(`${source} has no certificate in PEM`);
}

function tokenIn(text: string, reference: SecretReference): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  throw missing(
    `${referenceTitle(reference)} is not a bearer token: it is empty, or has spaces or special characters`,
  );
}

function secureContextOf(pems: Parameters<typeof createSecureContext>[0]): SecureContext {
  try {
    return createSecureContext(pems);
  } catch (cause) {
    throw missing(`the files of tls cannot be used: ${messageOf(cause)}`, cause);
  }
}

function missing(message: string, cause?: unknown): OperatorError {
  return new OperatorError('SECRET_MISSING', message, { cause });
}
