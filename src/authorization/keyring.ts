/**
 * The policy `keyring`: a module may run if its manifest is signed with a trusted key (SSH signatures), describes the
 * module's content, and is not older than one seen before. Trusted keys are read again for each check, so a key that was
 * removed has an effect at once. The file format is OpenSSH's allowed_signers.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WallClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { fingerprint, parsePublicKey, type SshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { isSignatureOf, parseSignature, type SshSignature } from '@addon-operator/crypto/ssh-signature';
import type { AuthorizationPolicy } from './authorization-policy.ts';
import { checkManifest } from './content-manifest.ts';
import { MANIFEST_FILE, refused, SIGNATURE_FILE, SIGNATURE_NAMESPACE } from './module-content.ts';

/** A public key that modules may be signed with. */
interface TrustedKey {
  readonly publicKey: SshPublicKey;
  /** The owner of the key in the file; for messages. */
  readonly owner: string;
  /** Milliseconds since the epoch; undefined: no limit. */
  readonly validAfterMs: number | undefined;
  readonly validBeforeMs: number | undefined;
}

/** The content of a keyring that is in no file. */
export interface KeyringText {
  /** For messages. */
  readonly title: string;
  readonly content: string;
}

/**
 * The trusted keys in a file, or in all files of a directory whose names do not begin with a dot.
 *
 * @param keyring a path, or the content
 * @throws OperatorError MODULE_UNAUTHORIZED when they cannot be read, or there is no key: nothing is authorized then
 */
export async function readKeyring(keyring: string | KeyringText): Promise<readonly TrustedKey[]> {
  const keys: TrustedKey[] = [];
  try {
    if (typeof keyring !== 'string') keys.push(...parseKeyFile(keyring.content, keyring.title));
    else
      for (const file of await keyFiles(keyring))
        keys.push(...parseKeyFile(await readFile(file, 'utf8'), file));
  } catch (cause) {
    throw refused(`the trusted keys cannot be read: ${messageOf(cause)}`, cause);
  }
  if (keys.length === 0) throw refused(`there is no trusted key in ${titleOf(keyring)}`);
  return keys;
}

function titleOf(keyring: string | KeyringText): string {
  return typeof keyring === 'string' ? keyring : keyring.title;
}

async function keyFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => !name.startsWith('.'));
  const files: string[] = [];
  for (const file of names.toSorted().map((name) => join(path, name)))
    if ((await stat(file)).isFile()) files.push(file);
  return files;
}

const LINE =
  /^(?:(?<owner>"[^"]*"|[^"\s]+)\s+)?(?:(?<options>[a-z-]+(?:="[^"]*")?(?:,[a-z-]+(?:="[^"]*")?)*)\s+)?(?<type>(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+)\s+(?<blob>[A-Za-z0-9+/]+={0,2})(?:\s+(?<comment>.*))?$/u;
const OPTION = /(?<name>[a-z-]+)(?:="(?<value>[^"]*)")?/gu;

/**
 * Reads the form of OpenSSH's `allowed_signers`, or of `.pub` files. Left out are keys for other namespaces, authorities
 * of certificates, and kinds of keys that cannot sign modules.
 *
 * @throws Error naming file and line of what cannot be understood
 */
export function parseKeyFile(content: string, file: string): readonly TrustedKey[] {
  return content.split('\n').flatMap((raw, index): readonly TrustedKey[] => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    try {
      return parseLine(line);
    } catch (cause) {
      throw new Error(`${file} line ${index + 1}: ${messageOf(cause)}`, { cause });
    }
  });
}

function parseLine(line: string): readonly TrustedKey[] {
  const groups = LINE.exec(line)?.groups;
  if (groups === undefined) throw new Error('expected a public key as in allowed_signers or a .pub file');
  const { owner, comment = '', options = '', type = '', blob = '' } = groups;
  const found = [...options.matchAll(OPTION)].map((match) => match.groups ?? {});
  const values = new Map<string, string | undefined>();
  if (OPTIONS.includes(owner ?? '')) throw new Error(`options follow a name, but ${owner} is the first word`);
  for (const { name = '', value } of found) {
    if (!OPTIONS.includes(name))
      throw new Error(
        `unknown option ${name}, expected one of ${OPTIONS.join(', ')} (options follow a name)`,
      );
    if (values.has(name)) throw new Error(`the option ${name} is given twice`);
    // Without its value it would restrict nothing.
    if (value === undefined && name !== CERT_AUTHORITY) throw new Error(`the option ${name} has no value`);
    values.set(name, value);
  }
  const isForUs =
    matchesList(values.get('namespaces') ?? SIGNATURE_NAMESPACE, SIGNATURE_NAMESPACE) &&
    !values.has(CERT_AUTHORITY);
  if (!isForUs || OTHER_TYPES.test(type)) return [];
  return [
    {
      publicKey: parsePublicKey(Buffer.from(blob, 'base64')),
      owner: owner?.replaceAll('"', '') ?? comment,
      validAfterMs: timeOf(values.get('valid-after')),
      validBeforeMs: timeOf(values.get('valid-before')),
    },
  ];
}

const CERT_AUTHORITY = 'cert-authority';
const OPTIONS = ['namespaces', 'valid-after', 'valid-before', CERT_AUTHORITY];
/** Key types of OpenSSH that cannot sign modules. */
const OTHER_TYPES = /^sk-|-cert-v\d\d@openssh\.com$|^ssh-dss$|-nistp(?:384|521)$/u;
const TIME =
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)(?:(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d)?)?(?<utc>Z)?$/u;

/** `YYYYMMDD`, with `HHMM` or `HHMMSS` behind it if wanted; in the zone of the process unless `Z` ends it. */
function timeOf(content: string | undefined): number | undefined {
  if (content === undefined) return undefined;
  const groups = TIME.exec(content)?.groups;
  if (groups === undefined) throw new Error(`${content} is not a time, write YYYYMMDDHHMMZ`);
  const { year, month, day, hour = '00', minute = '00', second = '00', utc = '' } = groups;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${utc}`);
  if (Number.isNaN(ms)) throw new Error(`${content} is not a time`);
  return ms;
}

/**
 * Whether a word matches a list of patterns as OpenSSH reads one: separated by commas, `*` for any characters, `?` for
 * one. A pattern behind `!` that matches decides against the word, wherever it is in the list; alone it accepts nothing.
 */
export function matchesList(list: string, word: string): boolean {
  const patterns = list.split(',');
  const isRefused = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1), word));
  return !isRefused && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern, word));
}

/** Goes back to the last `*` only, so that no pattern takes longer than the product of both lengths. */
function matches(pattern: string, word: string): boolean {
  let at = 0;
  let star: { readonly pattern: number; readonly word: number } | undefined;
  let index = 0;
  while (index < word.length) {
    if (pattern[at] === '*') {
      star = { pattern: at, word: index };
      at += 1;
    } else if (pattern[at] === '?' || pattern[at] === word[index]) {
      at += 1;
      index += 1;
    } else if (star === undefined) {
      return false;
    } else {
      star = { pattern: star.pattern, word: star.word + 1 };
      at = star.pattern + 1;
      index = star.word;
    }
  }
  return /^\**$/u.test(pattern.slice(at));
}

/** A manifest whose signature is valid. */
export interface SignedManifest {
  readonly serial: number;
  /** Of the content. */
  readonly digest: string;
  /** See `Candidate`. */
  readonly isReturn?: boolean | undefined;
}

/** Keeps old signatures from coming back. */
export interface SerialCheck {
  /** @throws OperatorError MODULE_UNAUTHORIZED when a newer one of the module was seen already */
  check(module: string, manifest: SignedManifest, signal: AbortSignal): Promise<void>;
}

interface KeyringPolicyOptions {
  /** File or directory with public keys, or the content of a file. */
  readonly keyring: string | KeyringText;
  readonly clock: WallClock;
  /** Undefined: any serial number will do. */
  readonly serials: SerialCheck | undefined;
}

/** Modules are authorized whose manifest was signed with a trusted key, speaks of what they are, and is not outdated. */
export function keyringPolicy({ keyring, clock, serials }: KeyringPolicyOptions): AuthorizationPolicy {
  return {
    check: async (candidate, signal) => {
      const { name, manifest, isReturn } = candidate;
      if (manifest === undefined)
        throw refused(`it is not signed: there is no ${MANIFEST_FILE} in its directory`);
      const signature = signatureOf(candidate.signature);
      const { publicKey } = signature;
      checkKey(
        (await readKeyring(keyring)).filter((key) => key.publicKey.blob.equals(publicKey.blob)),
        `${publicKey.type} ${fingerprint(publicKey)}`,
        titleOf(keyring),
        clock.wallMs(),
      );
      if (signature.namespace !== SIGNATURE_NAMESPACE)
        throw refused(
          `${SIGNATURE_FILE} was made for "${signature.namespace}", not for "${SIGNATURE_NAMESPACE}"`,
        );
      if (!isSignatureOf(signature, manifest, SIGNATURE_NAMESPACE))
        throw refused(`${SIGNATURE_FILE} is not a signature of its ${MANIFEST_FILE}: sign the module again`);
      // Read last: no file is touched before its manifest is trusted.
      const { files, digest } = await candidate.content();
      const serial = checkManifest(manifest.toString('utf8'), { name, files });
      await serials?.check(name, { serial, digest, isReturn }, signal);
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
