/**
 * Keeps our certificates in a Secret that all replicas share. Replicas renew at the same time without a lock: the API
 * server refuses the second write with 409, and the loser reads what the winner wrote.
 */

import type { Clock } from '@addon-operator/base/clock';
import type { ServingCertificate } from '@addon-operator/http-server/webhook-certificates';
import { isObject } from '@addon-operator/json';
import { hasStatus, type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { resourcePath, SECRETS } from '@addon-operator/kube-client/kube-object';
import { expiryOf, renewedCertificates, type StoredCertificates } from './certificate-renewal.ts';

export interface CertificateSecretOptions {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Names and addresses that the serving certificate must hold. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
}

const KEYS = { authorities: 'ca.crt', authorityKey: 'ca.key', cert: 'tls.crt', key: 'tls.key' } as const;
const MAX_ATTEMPTS = 6;

/**
 * Takes our authority and certificate from the Secret that all replicas share; makes or renews them first where that is
 * due. Of replicas that do so at the same time one wins, and the others take what it wrote.
 *
 * @throws KubeApiError, or OperatorError KUBE_UNREACHABLE
 */
export async function loadFromSecret(
  { kube, namespace, name, hosts, clock }: CertificateSecretOptions,
  signal: AbortSignal,
): Promise<ServingCertificate> {
  const path = resourcePath(SECRETS, namespace, name);
  for (let attempt = 1; ; attempt += 1) {
    const secret = await readSecret(kube, path, signal);
    const stored = storedIn(secret);
    const next = renewedCertificates(stored, hosts, clock.wallMs());
    if (next === stored) return servingOf(next);
    try {
      if (secret === undefined) {
        const metadata = { name, namespace };
        const body = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data: dataOf(next) };
        await kube.request({ method: 'POST', path: resourcePath(SECRETS, namespace), body }, signal);
      } else {
        // The resource version of the Secret that was read is part of the body: it makes the write conditional.
        const data = { ...dataIn(secret), ...dataOf(next) };
        await kube.request({ method: 'PUT', path, body: { ...secret, data } }, signal);
      }
      return servingOf(next);
    } catch (error) {
      if (!hasStatus(error, 409) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function readSecret(kube: KubeClient, path: string, signal: AbortSignal) {
  const secret = await requestIfPresent(kube, { method: 'GET', path }, signal);
  return isObject(secret) ? secret : undefined;
}

function dataIn(secret: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, unknown>> {
  return isObject(secret?.['data']) ? secret['data'] : {};
}

function storedIn(secret: Readonly<Record<string, unknown>> | undefined): StoredCertificates | undefined {
  const data = dataIn(secret);
  const stringIn = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  const authorities = stringIn(KEYS.authorities).match(
    /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?/g,
  );
  if (authorities === null) return undefined;
  return {
    authorities,
    authorityKey: stringIn(KEYS.authorityKey),
    cert: stringIn(KEYS.cert),
    key: stringIn(KEYS.key),
  };
}

function dataOf({ authorities, authorityKey, cert, key }: StoredCertificates) {
  const base64 = (content: string): string => Buffer.from(content).toString('base64');
  return {
    [KEYS.authorities]: base64(authorities.join('')),
    [KEYS.authorityKey]: base64(authorityKey),
    [KEYS.cert]: base64(cert),
    [KEYS.key]: base64(key),
  };
}

function servingOf({ authorities, cert, key }: StoredCertificates): ServingCertificate {
  return { cert, key, ca: authorities.join(''), expiresMs: expiryOf(cert) };
}
