// Keys in the formats of OpenSSH. Module signatures name their signer by an SSH public key; here its binary
// form (RFC 4253, 6.6) is converted to and from keys of Node by way of JWK, and private keys are read from
// PEM or OpenSSH files. Every error is a sentence for the person who signs or verifies, and never quotes key
// material.

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The kinds of keys that can sign modules. */
const KEY_TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ssh-rsa'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** A public key as SSH writes it. */
export interface SshPublicKey {
  readonly type: KeyType;
  /** The base64-encoded part of a `.pub` file. */
  readonly blob: Buffer;
  readonly key: KeyObject;
}

/** The minimum of NIST for RSA keys; OpenSSH itself accepts 1024 bits. */
const MIN_RSA_BITS = 2_048;
/** An uncompressed point: the byte 4 and two numbers of 32 bytes. */
const P256_POINT_BYTES = 65;

/**
 * @param blob the base64-encoded part of a `.pub` file
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

/** The fields that follow the name of the type, as a JSON Web Key. */
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

/** The binary form of a public key. */
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

/** Reads the fields of SSH's binary format (RFC 4251, section 5), one after the other. */
export class WireReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  /** @throws RangeError when there are fewer bytes */
  bytes(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new RangeError('the data ends too early');
    const bytes = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return bytes;
  }

  /** Four bytes, big-endian. */
  uint32(): number {
    return this.bytes(4).readUInt32BE();
  }

  /** Bytes with their length in front. */
  string(): Buffer {
    return this.bytes(this.uint32());
  }

  /** A name in ASCII. */
  text(): string {
    return this.string().toString('latin1');
  }
}

/** Bytes with their length in front. */
export function wireString(value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([wireUint32(bytes.length), bytes]);
}

/** Four bytes, big-endian. */
export function wireUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A positive number: a zero byte goes before a highest bit that is set, no other zeros do. */
export function wireNumber(bytes: Buffer): Buffer {
  const trimmed = withoutZeros(bytes);
  const isHigh = (trimmed[0] ?? 0) >= 0x80;
  return wireString(isHigh ? Buffer.concat([Buffer.alloc(1), trimmed]) : trimmed);
}

/** A number without the zero bytes in front of it. */
export function withoutZeros(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
}

const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const MAGIC = 'openssh-key-v1\0';

/**
 * A private key without passphrase: PKCS#8 or another PEM form that Node knows, or OpenSSH's own for Ed25519.
 *
 * @throws Error saying in words why the key cannot sign
 */
export function parsePrivateKey(text: string): KeyObject {
  if (!text.includes('PRIVATE KEY-----')) throw new Error('it is not a private key');
  const key = text.trimStart().startsWith(BEGIN) ? openSshKey(text.trim()) : createPrivateKey(text);
  sshPublicKey(key);
  return key;
}

/** Reads OpenSSH's own format (PROTOCOL.key): header, public key, then the private part, unencrypted. */
function openSshKey(text: string): KeyObject {
  if (!text.endsWith(END)) throw new Error(`it does not end with ${END}`);
  const reader = new WireReader(Buffer.from(text.slice(BEGIN.length, -END.length), 'base64'));
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new Error('it is not an OpenSSH key');
  const cipher = reader.text();
  if (cipher !== 'none') throw new Error('it has a passphrase');
  reader.string();
  reader.string();
  reader.uint32();
  reader.string();
  const secret = new WireReader(reader.string());
  // Two equal random numbers show that the private part was decrypted correctly.
  if (secret.uint32() !== secret.uint32()) throw new Error('it is damaged');
  const type = secret.text();
  if (type !== 'ssh-ed25519')
    throw new Error(
      KEY_TYPES.some((known) => known === type)
        ? `in OpenSSH format only ssh-ed25519 keys are supported, this is ${type}: convert it with ssh-keygen -p -m PKCS8`
        : `keys of type ${type} cannot be used, only ${KEY_TYPES.join(', ')}`,
    );
  const x = secret.string();
  // The private part of Ed25519 is the seed followed by the public key.
  const d = secret.string().subarray(0, x.length);
  return createPrivateKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url'), d: d.toString('base64url') },
    format: 'jwk',
  });
}
