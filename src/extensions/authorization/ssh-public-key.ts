import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { WireReader, wireNumber, wireString, withoutZeros } from './ssh-wire.ts';

/** The kinds of keys that can sign modules. */
export const KEY_TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ssh-rsa'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** A public key as SSH writes it. */
export interface SshPublicKey {
  readonly type: KeyType;
  /** What stands base64-encoded in a `.pub` file. */
  readonly blob: Buffer;
  readonly key: KeyObject;
}

const MIN_RSA_BITS = 2_048;
const P256_POINT_BYTES = 65;

/**
 * @param blob what stands base64-encoded in a `.pub` file
 * @throws Error saying in words what is wrong with it
 */
export function parsePublicKey(blob: Buffer): SshPublicKey {
  const reader = new WireReader(blob);
  const name = reader.text();
  const type = KEY_TYPES.find((known) => known === name);
  if (type === undefined)
    throw new Error(`keys of type ${JSON.stringify(name)} cannot be used, only ${KEY_TYPES.join(', ')}`);
  const key = createPublicKey({ key: { ...readJwk(type, reader) }, format: 'jwk' });
  if (!reader.isAtEnd) throw new Error('unexpected data after the key');
  if (type === 'ssh-rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new Error(`RSA keys need ${MIN_RSA_BITS} bits or more`);
  return { type, blob, key };
}

function readJwk(type: KeyType, reader: WireReader): Readonly<Record<string, string>> {
  switch (type) {
    case 'ssh-ed25519':
      return { kty: 'OKP', crv: 'Ed25519', x: reader.string().toString('base64url') };
    case 'ecdsa-sha2-nistp256': {
      const curve = reader.text();
      const point = reader.string();
      if (curve !== 'nistp256' || point.length !== P256_POINT_BYTES || point[0] !== 4)
        throw new Error('it is not a point on nistp256');
      return {
        kty: 'EC',
        crv: 'P-256',
        x: point.subarray(1, 33).toString('base64url'),
        y: point.subarray(33).toString('base64url'),
      };
    }
    case 'ssh-rsa': {
      const exponent = reader.string().toString('base64url');
      return { kty: 'RSA', e: exponent, n: withoutZeros(reader.string()).toString('base64url') };
    }
  }
}

/**
 * The public key that belongs to a key of Node's.
 *
 * @throws Error for a kind of key that cannot sign modules
 */
export function sshPublicKey(key: KeyObject): SshPublicKey {
  const publicKey = key.type === 'public' ? key : createPublicKey(key);
  return parsePublicKey(blobOf(publicKey));
}

function blobOf(key: KeyObject): Buffer {
  const { kty, crv, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  if (kty === 'OKP' && crv === 'Ed25519')
    return Buffer.concat([wireString('ssh-ed25519'), wireString(bytes(x))]);
  if (kty === 'EC' && crv === 'P-256')
    return Buffer.concat([
      wireString('ecdsa-sha2-nistp256'),
      wireString('nistp256'),
      wireString(Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)])),
    ]);
  if (kty === 'RSA')
    return Buffer.concat([wireString('ssh-rsa'), wireNumber(bytes(e)), wireNumber(bytes(n))]);
  throw new Error(`keys of type ${[kty, crv].join(' ').trim()} cannot be used, only ${KEY_TYPES.join(', ')}`);
}

/** `SHA256:` and the digest of the key, as `ssh-keygen -l` shows it. */
export function fingerprint({ blob }: Pick<SshPublicKey, 'blob'>): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/u, '')}`;
}
