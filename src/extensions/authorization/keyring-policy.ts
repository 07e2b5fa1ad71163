import { isoTime } from '../../lib/bounded-time.ts';
import type { WallClock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { AuthorizationPolicy } from './authorization-policy.ts';
import { checkManifest } from './content-manifest.ts';
import { readKeyring, type TrustedKey } from './keyring.ts';
import { MANIFEST_FILE, refused, SIGNATURE_FILE } from './module-content.ts';
import { fingerprint } from './ssh-keys.ts';
import { isSignatureOf, NAMESPACE, parseSignature, type SshSignature } from './ssh-signature.ts';

/** Keeps old signatures from coming back. */
export interface SerialCheck {
  /** @throws OperatorError MODULE_UNAUTHORIZED when a newer one of the module was seen already */
  check(module: string, serial: number, digest: string, signal: AbortSignal): Promise<void>;
}

interface KeyringPolicyOptions {
  /** File or directory with public keys. */
  readonly keyring: string;
  readonly clock: WallClock;
  /** Undefined: any serial number will do. */
  readonly serials: SerialCheck | undefined;
}

/** Modules are authorized whose manifest was signed with a trusted key, speaks of what they are, and is not outdated. */
export function keyringPolicy({ keyring, clock, serials }: KeyringPolicyOptions): AuthorizationPolicy {
  return {
    check: async (candidate, signal) => {
      const { name, manifest } = candidate;
      if (manifest === undefined)
        throw refused(`it is not signed: there is no ${MANIFEST_FILE} in its directory`);
      const signature = signatureOf(candidate.signature);
      const { publicKey } = signature;
      checkKey(
        (await readKeyring(keyring)).filter((key) => key.publicKey.blob.equals(publicKey.blob)),
        `${publicKey.type} ${fingerprint(publicKey)}`,
        keyring,
        clock.wallMs(),
      );
      if (signature.namespace !== NAMESPACE)
        throw refused(`${SIGNATURE_FILE} was made for "${signature.namespace}", not for "${NAMESPACE}"`);
      if (!isSignatureOf(signature, manifest))
        throw refused(`${SIGNATURE_FILE} is not a signature of its ${MANIFEST_FILE}: sign the module again`);
      const { files, digest } = await candidate.content();
      const serial = checkManifest(manifest.toString('utf8'), { name, files });
      await serials?.check(name, serial, digest, signal);
    },
  };
}

function signatureOf(bytes: Buffer | undefined): SshSignature {
  if (bytes === undefined) throw refused(`it is not signed: there is no ${SIGNATURE_FILE} in its directory`);
  try {
    return parseSignature(bytes.toString('utf8'));
  } catch (cause) {
    throw refused(`${SIGNATURE_FILE} cannot be used: ${messageOf(cause)}`, cause);
  }
}

/** @param keys those entries of the keyring that are about the key of the signature */
function checkKey(keys: readonly TrustedKey[], title: string, keyring: string, nowMs: number): void {
  const [first] = keys;
  if (first === undefined) throw refused(`it was signed with ${title}, which is not in ${keyring}`);
  if (keys.some((key) => isValid(key, nowMs))) return;
  const { owner, validAfterMs, validBeforeMs } = first;
  const span = [
    ...(validAfterMs === undefined ? [] : [`from ${timeText(validAfterMs)}`]),
    ...(validBeforeMs === undefined ? [] : [`until ${timeText(validBeforeMs)}`]),
  ].join(' ');
  throw refused(
    `it was signed with ${title}${owner === '' ? '' : ` of ${owner}`}, which is only valid ${span}`,
  );
}

function isValid({ validAfterMs, validBeforeMs }: TrustedKey, nowMs: number): boolean {
  return nowMs >= (validAfterMs ?? -Infinity) && nowMs < (validBeforeMs ?? Infinity);
}

function timeText(epochMs: number): string {
  return isoTime(epochMs);
}
