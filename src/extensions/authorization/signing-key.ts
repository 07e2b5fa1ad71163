import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf, OperatorError } from '../../lib/errors.ts';
import { KEY_TYPES, sshPublicKey } from './ssh-public-key.ts';
import { WireReader } from './ssh-wire.ts';

const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const MAGIC = 'openssh-key-v1\0';

/**
 * Reads a private key without passphrase: PKCS#8 or another PEM form that Node knows, or OpenSSH's own for Ed25519.
 *
 * @throws OperatorError SIGNING_KEY_INVALID saying what to do
 */
export async function readSigningKey(path: string): Promise<KeyObject> {
  try {
    const text = await readFile(path, 'utf8');
    if (!text.includes('PRIVATE KEY-----')) throw new Error('it is not a private key');
    const key = text.trimStart().startsWith(BEGIN) ? openSshKey(text.trim()) : createPrivateKey(text);
    sshPublicKey(key);
    return key;
  } catch (cause) {
    throw new OperatorError(
      'SIGNING_KEY_INVALID',
      `cannot sign with the key ${path}: ${messageOf(cause)}. Without --key only the manifest is written; sign it with ssh-keygen -Y sign, which supports passphrases and agents`,
      { cause },
    );
  }
}

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
  if (secret.uint32() !== secret.uint32()) throw new Error('it is damaged');
  const type = secret.text();
  if (type !== 'ssh-ed25519')
    throw new Error(
      KEY_TYPES.some((known) => known === type)
        ? `in OpenSSH format only ssh-ed25519 keys are supported, this is ${type}: convert it with ssh-keygen -p -m PKCS8`
        : `keys of type ${type} cannot be used, only ${KEY_TYPES.join(', ')}`,
    );
  const x = secret.string();
  const d = secret.string().subarray(0, x.length);
  return createPrivateKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url'), d: d.toString('base64url') },
    format: 'jwk',
  });
}
