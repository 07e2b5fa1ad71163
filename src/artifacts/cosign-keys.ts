/** Public keys of cosign, and whether one of them made a signature. */

import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { messageOf, OperatorError } from '@addon-operator/base/errors';

const MIN_RSA_BITS = 2_048;
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'sha256',
  secp384r1: 'sha384',
  secp521r1: 'sha512',
};

/**
 * Public keys in PEM; a string may hold several.
 *
 * @throws OperatorError SOURCE_INVALID naming the key that is none
 */
export function parseCosignKeys(pems: readonly string[]): readonly KeyObject[] {
  const keys = pems.flatMap((pem, index) => {
    const blocks = pem.match(/-----BEGIN [A-Z ]{1,40}-----[^-]{0,20000}-----END [A-Z ]{1,40}-----/gu) ?? [];
    if (blocks.length === 0)
      throw invalidKey(index, 'it holds no PEM block: write the content of cosign.pub');
    return blocks.map((block) => parseKey(block, index));
  });
  if (keys.length === 0) throw new OperatorError('SOURCE_INVALID', 'there is no cosign key');
  return keys;
}

function parseKey(block: string, index: number): KeyObject {
  // A public key could be derived from it, but it must not lie here.
  if (block.includes('PRIVATE KEY'))
    throw invalidKey(index, 'it is a private key: remove it, and write cosign.pub');
  if (block.includes('CERTIFICATE'))
    throw invalidKey(index, 'it is a certificate, only public keys are accepted');
  let key: KeyObject;
  try {
    key = createPublicKey(block);
  } catch (cause) {
    throw invalidKey(index, `it cannot be read: ${messageOf(cause)}`, cause);
  }
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType;
  const isAccepted =
    type === 'ed25519' ||
    (type === 'ec' && Object.hasOwn(CURVES, namedCurve)) ||
    (type === 'rsa' && modulusLength >= MIN_RSA_BITS);
  if (isAccepted) return key;
  const kind = [type, namedCurve, modulusLength || ''].filter((part) => part !== '').join(' ');
  throw invalidKey(
    index,
    `it is ${kind}; accepted are ECDSA on P-256, P-384 and P-521, Ed25519, and RSA of ${MIN_RSA_BITS} bits or more`,
  );
}

function invalidKey(index: number, why: string, cause?: unknown): OperatorError {
  return new OperatorError('SOURCE_INVALID', `cosign key ${index + 1} cannot be used: ${why}`, {
    cause,
    isPermanent: true,
  });
}

/** Whether one of the keys made a signature of these bytes. */
export function isSigned(keys: readonly KeyObject[], message: Uint8Array, signature: Uint8Array): boolean {
  return keys.some((key) => isSignedBy(key, message, signature));
}

function isSignedBy(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return verify(null, message, key, signature);
  if (type === 'rsa')
    return [constants.RSA_PKCS1_PADDING, constants.RSA_PKCS1_PSS_PADDING].some((padding) =>
      verify('sha256', message, { key, padding }, signature),
    );
  // Cosign hashes with SHA-256 for every curve, newer versions with the hash of the curve.
  const ofCurve = CURVES[details?.namedCurve ?? ''] ?? 'sha256';
  return ['sha256', ofCurve].some((hash) => verify(hash, message, key, signature));
}
