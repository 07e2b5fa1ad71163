import type { KeyObject } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fingerprint, parsePrivateKey, sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { signMessage } from '@addon-operator/crypto/ssh-signature';
import { manifestText, serialOf } from '../../authorization/content-manifest.ts';
import { MANIFEST_FILE, SIGNATURE_FILE, SIGNATURE_NAMESPACE } from '../../authorization/module-content.ts';
import type { CliHost } from '../cli-host.ts';
import { findTargets, readTarget, type Target } from './module-sign-targets.ts';

export interface SignOptions {
  /** Values given on the command line, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly modules: readonly string[];
  /** Path of a private key; undefined writes manifests only. */
  readonly key: string | undefined;
  /** As it was written; undefined counts on. */
  readonly serial: string | undefined;
}

/** Writes the manifest of each module and signs it. Returns the exit code; what is wrong is thrown, nothing is signed then. */
export async function signCommand(options: SignOptions, host: CliHost): Promise<number> {
  const given = parseSerial(options.serial);
  const key = options.key === undefined ? undefined : await readSigningKey(resolve(host.cwd, options.key));
  const targets = await findTargets(options.modules, options.flags, host);
  refuseSharedDirectories(targets);
  const texts = await Promise.all(targets.map((target) => manifestOf(target, given, host)));
  for (const [index, { name, directory }] of targets.entries()) {
    const { text = '', serial = 0, count = 0 } = texts[index] ?? {};
    const path = join(directory, MANIFEST_FILE);
    await writeFile(path, text);
    if (key === undefined) {
      // The one that is there belongs to another text.
      await rm(join(directory, SIGNATURE_FILE), { force: true });
      host.stdout.write(
        `${name}: ${count} files, serial number ${serial}; now sign it: ssh-keygen -Y sign -n ${SIGNATURE_NAMESPACE} -f KEY ${path}\n`,
      );
    } else {
      await writeFile(
        join(directory, SIGNATURE_FILE),
        signMessage(Buffer.from(text), key, SIGNATURE_NAMESPACE),
      );
      const { type, blob } = sshPublicKey(key);
      host.stdout.write(
        `${name}: signed ${count} files with ${type} ${fingerprint({ blob })}, serial number ${serial}\n`,
      );
    }
  }
  return 0;
}

/** @throws OperatorError SIGNING_KEY_INVALID saying what to do */
export async function readSigningKey(path: string): Promise<KeyObject> {
  try {
    return parsePrivateKey(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new OperatorError(
      'SIGNING_KEY_INVALID',
      `cannot sign with the key ${path}: ${messageOf(cause)}. Without --key only the manifest is written; sign it with ssh-keygen -Y sign, which supports passphrases and agents`,
      { cause },
    );
  }
}

/** A directory holds one manifest, and a manifest one name. */
function refuseSharedDirectories(targets: readonly Target[]): void {
  for (const { name, directory } of targets) {
    const other = targets.find((target) => target.directory === directory && target.name !== name);
    if (other !== undefined)
      throw new OperatorError(
        'MODULE_INVALID',
        `modules ${name} and ${other.name} are the same directory ${directory}, which can be signed for only one of them: make a copy of it`,
      );
  }
}

function parseSerial(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const serial = Number(text);
  if (/^\d+$/u.test(text) && Number.isSafeInteger(serial)) return serial;
  throw new OperatorError('CONFIG_INVALID', `--serial ${text}: expected a whole number of at least 0`);
}

async function manifestOf(target: Target, given: number | undefined, host: CliHost) {
  const { name, directory } = target;
  const { files } = await readTarget(target, host);
  const before = await readFile(join(directory, MANIFEST_FILE), 'utf8').then(serialOf, () => undefined);
  // Seconds, so that numbers grow although the manifest before is not at hand.
  const serial = given ?? Math.max(Math.floor(host.clock.wallMs() / 1_000), (before ?? 0) + 1);
  if (!Number.isSafeInteger(serial))
    throw new OperatorError(
      'CONFIG_INVALID',
      `${join(directory, MANIFEST_FILE)} has the highest possible serial number: set a lower one with --serial, and remove the key ${name} from the ConfigMap in which the operator stores serial numbers`,
    );
  return { text: manifestText({ name, serial, files }), serial, count: files.length };
}
