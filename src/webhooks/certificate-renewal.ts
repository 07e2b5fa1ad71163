/**
 * Decides which of our own certificates to keep and which to create. It is pure apart from key generation:
 * `certificate-secret.ts` reads and writes the Secret. A new authority is published before anything is signed by it,
 * and old ones stay in the bundle until they expire, so API servers trust the serving certificate at every moment.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createAuthority, issueCertificate } from '@addon-operator/crypto/x509-certificate';

/** Our authority and serving certificate, all PEM, as they are kept in the cluster. */
export interface StoredCertificates {
  /** The newest authority first, then older ones that are still valid. */
  readonly authorities: readonly string[];
  /** Of the newest authority. */
  readonly authorityKey: string;
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const AUTHORITY_LIFE_MS = 3_650 * DAY_MS;
/** Two lives of a serving certificate: no authority ends before what it signed. */
const AUTHORITY_RENEWAL_MS = 730 * DAY_MS;
/** A third of its life is left when it is renewed: an operator that is down for months still starts with a valid one. */
const SERVING_LIFE_MS = 365 * DAY_MS;
const SERVING_RENEWAL_MS = 120 * DAY_MS;
/** Clocks of API servers may be behind ours. */
const CLOCK_SKEW_MS = 60 * 60 * 1_000;

/**
 * The certificates to keep: the same object when nothing has to be replaced, everything new where nothing usable is
 * there. A new authority comes first and alone, so that every client trusts it before a certificate needs that.
 *
 * @param hosts names and addresses that the serving certificate must hold
 */
export function renewedCertificates(
  stored: StoredCertificates | undefined,
  hosts: readonly string[],
  nowMs: number,
): StoredCertificates {
  if (stored === undefined || !hasUsableAuthority(stored, nowMs)) return allNew(hosts, nowMs);
  const isAuthorityDue = expiryOf(stored.authorities[0] ?? '') - nowMs < AUTHORITY_RENEWAL_MS;
  const kept = isAuthorityDue ? withNewAuthority(stored, nowMs) : stored;
  // In the run that adds an authority the certificate stays, as long as it is valid for all hosts.
  if (
    isServing(stored, hosts, nowMs) &&
    (isAuthorityDue || expiryOf(stored.cert) - nowMs >= SERVING_RENEWAL_MS)
  )
    return kept;
  return { ...kept, ...issue(kept, hosts, nowMs) };
}

/** When a PEM certificate expires, in milliseconds since the epoch. */
export function expiryOf(cert: string): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

function allNew(hosts: readonly string[], nowMs: number): StoredCertificates {
  const { cert, key } = newAuthority(nowMs);
  const authority = { authorities: [cert], authorityKey: key };
  return { ...authority, ...issue(authority, hosts, nowMs) };
}

function withNewAuthority(stored: StoredCertificates, nowMs: number): StoredCertificates {
  const { cert, key } = newAuthority(nowMs);
  const valid = stored.authorities.filter((authority) => expiryOf(authority) > nowMs);
  return { ...stored, authorities: [cert, ...valid], authorityKey: key };
}

function newAuthority(nowMs: number) {
  return createAuthority({
    commonName: `addon-operator webhooks ${new Date(nowMs).toISOString().slice(0, 10)}`,
    notBeforeMs: nowMs - CLOCK_SKEW_MS,
    notAfterMs: nowMs + AUTHORITY_LIFE_MS,
  });
}

function issue(
  { authorities, authorityKey }: Pick<StoredCertificates, 'authorities' | 'authorityKey'>,
  hosts: readonly string[],
  nowMs: number,
) {
  return issueCertificate(
    { cert: authorities[0] ?? '', key: authorityKey },
    {
      commonName: 'addon-operator-webhook',
      notBeforeMs: nowMs - CLOCK_SKEW_MS,
      notAfterMs: nowMs + SERVING_LIFE_MS,
    },
    hosts,
  );
}

function hasUsableAuthority({ authorities, authorityKey }: StoredCertificates, nowMs: number): boolean {
  try {
    const newest = new X509Certificate(authorities[0] ?? '');
    return Date.parse(newest.validTo) > nowMs && newest.checkPrivateKey(createPrivateKey(authorityKey));
  } catch {
    return false;
  }
}

/** Whether clients that trust the authorities accept the certificate now. */
function isServing(
  { authorities, cert, key }: StoredCertificates,
  hosts: readonly string[],
  nowMs: number,
): boolean {
  try {
    const parsed = new X509Certificate(cert);
    return (
      Date.parse(parsed.validTo) > nowMs &&
      parsed.checkPrivateKey(createPrivateKey(key)) &&
      hosts.every((host) => parsed.checkHost(host) ?? parsed.checkIP(host)) &&
      authorities.some((authority) => parsed.verify(new X509Certificate(authority).publicKey))
    );
  } catch {
    return false;
  }
}
