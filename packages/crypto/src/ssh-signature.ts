// Detached signatures of OpenSSH (`ssh-keygen -Y sign`). A signature carries its public key and a namespace;
// what is signed is a hash of the message together with the namespace, so a signature for one purpose is none
// for another. Here only the mathematics are checked: whether the key is trusted is decided by the caller.

import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import {
  type KeyType,
  parsePublicKey,
  type SshPublicKey,
  sshPublicKey,
  WireReader,
  wireNumber,
  wireString,
  wireUint32,
  withoutZeros,
} from './ssh-keys.ts';

/** A detached signature as `ssh-keygen -Y sign` writes it (OpenSSH, PROTOCOL.sshsig). */
export interface SshSignature {
  readonly publicKey: SshPublicKey;
  readonly namespace: string;
  readonly hash: 'sha256' | 'sha512';
  readonly algorithm: string;
  readonly signature: Buffer;
}

const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';
const MAGIC = 'SSHSIG';
const VERSION = 1;
/** As ssh-keygen wraps its output. */
const LINE_LENGTH = 70;

/** @throws Error saying in words what is wrong with the text */
export function parseSignature(text: string): SshSignature {
  const trimmed = text.trim();
  if (!trimmed.startsWith(BEGIN)) throw new Error(`it does not begin with ${BEGIN}`);
  if (!trimmed.endsWith(END)) throw new Error(`it does not end with ${END}, so it is truncated`);
  const base64 = trimmed.slice(BEGIN.length, -END.length).replaceAll(/\s/gu, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/u.test(base64)) throw new Error('it is not base64');
  const reader = new WireReader(Buffer.from(base64, 'base64'));
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new Error('it is not an SSH signature');
  const version = reader.uint32();
  if (version !== VERSION) throw new Error(`it has version ${version}, only ${VERSION} is supported`);
  const publicKey = parsePublicKey(reader.string());
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  if (hash !== 'sha256' && hash !== 'sha512') throw new Error(`it uses the unknown hash ${hash}`);
  const signed = new WireReader(reader.string());
  const algorithm = signed.text();
  const signature = signed.string();
  if (!reader.isAtEnd || !signed.isAtEnd) throw new Error('unexpected data after the signature');
  return { publicKey, namespace, hash, algorithm, signature };
}

/**
 * Whether the signature is one of these bytes, made with its key for this namespace: what the same key signed for another
 * purpose is no signature. Trust in the key is not checked here.
 */
export function isSignatureOf(
  { publicKey, namespace, hash, algorithm, signature }: SshSignature,
  message: Buffer,
  purpose: string,
): boolean {
  if (namespace !== purpose) return false;
  const digest = digestOf(publicKey.type, algorithm);
  if (digest === undefined) return false;
  const data = signedData(hash, namespace, message);
  try {
    switch (publicKey.type) {
      case 'ssh-ed25519':
        return verify(null, data, publicKey.key, signature);
      case 'ecdsa-sha2-nistp256':
        return verify(digest, data, { key: publicKey.key, dsaEncoding: 'ieee-p1363' }, pairOf(signature));
      case 'ssh-rsa':
        return verify(digest, data, publicKey.key, signature);
    }
  } catch {
    return false;
  }
}

/** The detached signature of these bytes for a namespace. @throws Error for a key of another kind than {@link KeyType} */
export function signMessage(message: Buffer, key: KeyObject, namespace: string): string {
  const { type, blob } = sshPublicKey(key);
  const algorithm = type === 'ssh-rsa' ? 'rsa-sha2-512' : type;
  const body = Buffer.concat([
    Buffer.from(MAGIC),
    wireUint32(VERSION),
    wireString(blob),
    wireString(namespace),
    wireString(''),
    wireString('sha512'),
    wireString(
      Buffer.concat([
        wireString(algorithm),
        wireString(signatureBytes(type, signedData('sha512', namespace, message), key)),
      ]),
    ),
  ]);
  const lines = body.toString('base64').match(new RegExp(`.{1,${LINE_LENGTH}}`, 'gu')) ?? [];
  return [BEGIN, ...lines, END, ''].join('\n');
}

/** The signature in the form of its algorithm; ECDSA as two numbers of variable length. */
function signatureBytes(type: KeyType, data: Buffer, key: KeyObject): Buffer {
  switch (type) {
    case 'ssh-ed25519':
      return sign(null, data, key);
    case 'ecdsa-sha2-nistp256': {
      const pair = sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
      return Buffer.concat([wireNumber(pair.subarray(0, 32)), wireNumber(pair.subarray(32))]);
    }
    case 'ssh-rsa':
      return sign('sha512', data, key);
  }
}

/** The digest that belongs to an algorithm; undefined where the algorithm does not fit the key, or is too weak. */
function digestOf(type: KeyType, algorithm: string): 'sha256' | 'sha512' | undefined {
  if (type === 'ssh-rsa') {
    if (algorithm === 'rsa-sha2-256') return 'sha256';
    return algorithm === 'rsa-sha2-512' ? 'sha512' : undefined;
  }
  return algorithm === type ? 'sha256' : undefined;
}

/** The bytes that are signed: they contain the hash of the message. */
function signedData(hash: SshSignature['hash'], namespace: string, message: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(MAGIC),
    wireString(namespace),
    wireString(''),
    wireString(hash),
    wireString(createHash(hash).update(message).digest()),
  ]);
}

const P256_NUMBER_BYTES = 32;

/** The two numbers of an ECDSA signature, 32 bytes each. @throws Error when they are something else */
function pairOf(signature: Buffer): Buffer {
  const reader = new WireReader(signature);
  const [r, s] = [reader.string(), reader.string()];
  if (!reader.isAtEnd) throw new Error('unexpected data after the numbers');
  return Buffer.concat([padded(r), padded(s)]);
}

/** A number of exactly 32 bytes. */
function padded(bytes: Buffer): Buffer {
  const digits = withoutZeros(bytes);
  if (digits.length > P256_NUMBER_BYTES) throw new Error('the number is too large');
  return Buffer.concat([Buffer.alloc(P256_NUMBER_BYTES - digits.length), digits]);
}
