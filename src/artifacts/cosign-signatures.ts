/** Whether bytes of a registry are a signature of cosign for a manifest. Nothing in them is trusted before it is verified. */

import type { KeyObject } from 'node:crypto';
import { fieldsOf, isObject, parseJson, stringOf } from '@addon-operator/json';
import { isSigned } from './cosign-keys.ts';

/** Undefined: the signature counts; else why not, as part of a sentence. */
export type Verdict = string | undefined;

const IN_TOTO = 'application/vnd.in-toto+json';
const PREDICATE = 'https://sigstore.dev/cosign/sign/v1';

/**
 * A bundle of Sigstore, whose DSSE envelope holds a statement about the manifest.
 *
 * @param digest of the manifest
 */
export function bundleVerdict(bundle: Uint8Array, digest: string, keys: readonly KeyObject[]): Verdict {
  const envelope = fieldsOf(objectOf(bundle)?.['dsseEnvelope']);
  const { payloadType, signatures } = envelope;
  const payload = base64(envelope['payload']);
  if (payload === undefined || typeof payloadType !== 'string' || !Array.isArray(signatures))
    return 'is not a bundle with a DSSE envelope';
  const message = preAuthenticationEncoding(payloadType, payload);
  const isGood = signatures.some((one: unknown) => {
    const signature = base64(fieldsOf(one)['sig']);
    return signature !== undefined && isSigned(keys, message, signature);
  });
  if (!isGood) return 'was not signed with one of the keys';
  const statement = payloadType === IN_TOTO ? objectOf(payload) : undefined;
  if (statement === undefined) return `is a signature of ${payloadType}, not of ${IN_TOTO}`;
  const { subject, predicateType } = statement;
  const subjects = Array.isArray(subject) ? subject : [];
  const signed = subjects.map(
    (one: unknown) => `sha256:${stringOf(fieldsOf(fieldsOf(one)['digest'])['sha256'])}`,
  );
  if (!signed.includes(digest)) return `is a signature of ${signed[0] ?? 'nothing'}`;
  if (predicateType !== PREDICATE)
    return `has the predicate ${JSON.stringify(predicateType)}, not ${PREDICATE}`;
  return undefined;
}

/** The bytes that DSSE signs: type and payload with their lengths, so that one cannot be taken for the other. */
function preAuthenticationEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/**
 * A signature of the older form: a payload that names the manifest, and its signature in an annotation.
 *
 * @param signature in base64
 */
export function payloadVerdict(
  payload: Uint8Array,
  signature: string | undefined,
  digest: string,
  keys: readonly KeyObject[],
): Verdict {
  const bytes = base64(signature);
  if (bytes === undefined) return 'has no signature in its annotations';
  if (!isSigned(keys, payload, bytes)) return 'was not signed with one of the keys';
  const image = fieldsOf(fieldsOf(objectOf(payload)?.['critical'])['image']);
  const signed = image['docker-manifest-digest'];
  return signed === digest ? undefined : `is a signature of ${stringOf(signed) || 'something else'}`;
}

function base64(value: unknown): Buffer | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/u.test(value)
    ? Buffer.from(value, 'base64')
    : undefined;
}

function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(Buffer.from(bytes).toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
