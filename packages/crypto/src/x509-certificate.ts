// Makes the certificates of the webhook server: an authority, and serving certificates issued by it. Node can
// parse certificates and sign bytes, but not build a certificate; that is done here with `der.ts` (RFC 5280).
// Keys are EC P-256, which every API server accepts.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import {
  bitString,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  TRUE,
  time,
  utf8String,
} from './der.ts';

/** A certificate with its private key, both PEM. */
export interface CertifiedKey {
  readonly cert: string;
  readonly key: string;
}

/** Name and validity of a certificate, in milliseconds since 1970. */
interface CertificateSubject {
  readonly commonName: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const COMMON_NAME = objectIdentifier('2.5.4.3');
const SERVER_AUTH = objectIdentifier('1.3.6.1.5.5.7.3.1');
const VERSION_3 = explicit(0, integer(Buffer.from([2])));
/** Tags of GeneralName (RFC 5280, 4.2.1.6). */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
/** Bits of KeyUsage in their order from the left, with the number of unused bits behind them. */
const SIGN_CERTIFICATES_AND_LISTS = bitString(Buffer.from([0b0000_0110]), 1);
const DIGITAL_SIGNATURE = bitString(Buffer.from([0b1000_0000]), 7);

/** A new authority with a key of its own: it may sign certificates, but no further authorities. */
export function createAuthority(subject: CertificateSubject): CertifiedKey {
  const key = newKey();
  const basicConstraints = sequence(TRUE, integer(Buffer.from([0])));
  return certify({ subject, key, issuerName: subject.commonName, issuerKey: key }, [
    extension('2.5.29.19', basicConstraints, true),
    extension('2.5.29.15', SIGN_CERTIFICATES_AND_LISTS, true),
  ]);
}

/**
 * A new serving certificate with a key of its own.
 *
 * @param hosts DNS names and IP addresses, at least one
 */
export function issueCertificate(
  authority: CertifiedKey,
  subject: CertificateSubject,
  hosts: readonly string[],
): CertifiedKey {
  const names = hosts.map((host) =>
    isIP(host) === 0 ? implicit(DNS_NAME, Buffer.from(host)) : implicit(IP_ADDRESS, ipAddressBytes(host)),
  );
  const issuerName = commonNameOf(authority.cert);
  return certify({ subject, key: newKey(), issuerName, issuerKey: authority.key }, [
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.15', DIGITAL_SIGNATURE, true),
    extension('2.5.29.37', sequence(SERVER_AUTH)),
    extension('2.5.29.17', sequence(...names)),
  ]);
}

/** A new private key, PEM. */
function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A certificate to be signed, by its own key for an authority. */
interface Unsigned {
  readonly subject: CertificateSubject;
  readonly key: string;
  readonly issuerName: string;
  readonly issuerKey: string;
}

/** Puts a certificate together as RFC 5280 4.1 has it, and signs it. */
function certify(
  { subject, key, issuerName, issuerKey }: Unsigned,
  extensions: readonly Buffer[],
): CertifiedKey {
  const publicKey = publicKeyOf(key);
  const body = sequence(
    VERSION_3,
    integer(serialNumber()),
    ECDSA_WITH_SHA256,
    name(issuerName),
    sequence(time(subject.notBeforeMs), time(subject.notAfterMs)),
    name(subject.commonName),
    publicKey,
    explicit(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
        extension('2.5.29.35', sequence(implicit(0, keyIdentifier(publicKeyOf(issuerKey))))),
      ),
    ),
  );
  const signature = sign('sha256', body, issuerKey);
  return { cert: pem(sequence(body, ECDSA_WITH_SHA256, bitString(signature))), key };
}

/** The SubjectPublicKeyInfo of a private key. */
function publicKeyOf(key: string): Buffer {
  return createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
}

/** Any value that is the same for equal keys will do. */
function keyIdentifier(publicKey: Buffer): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, 20);
}

/** 127 random bits and a leading one, so that the number is never 0. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

/** A distinguished name that consists of a common name. */
function name(commonName: string): Buffer {
  return sequence(set(sequence(COMMON_NAME, utf8String(commonName))));
}

/** An extension; a client must refuse a certificate with a critical one that it does not know. */
function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(objectIdentifier(id), ...(isCritical ? [TRUE] : []), octetString(value));
}

/** Subject of the authority, which is the issuer of its certificates. */
function commonNameOf(cert: string): string {
  return /^CN=(.*)$/m.exec(new X509Certificate(cert).subject)?.[1] ?? '';
}

/** 64 characters a line, as every reader accepts. */
function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** The 4 or 16 bytes of an IP address, as certificates hold it. */
function ipAddressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes every IPv6 address in its shortest form, without a dotted part.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = groups(left);
  const tail = groups(right ?? '');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Buffer.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}

/** The 16-bit groups in a part of an IPv6 address. */
function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
