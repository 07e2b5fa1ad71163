/**
 * Whether a module was signed as its source asks for: with a cosign key, found beside the manifest and checked before
 * anything is unpacked, and with an SSH key, whose signature is among the files and is checked before they are used.
 */

import type { KeyObject } from 'node:crypto';
import type { WallClock } from '@addon-operator/base/clock';
import { hasCode, OperatorError } from '@addon-operator/base/errors';
import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { shortLine } from '@addon-operator/strings/escape-controls';
import { keyringPolicy } from '../authorization/keyring.ts';
import { readCandidate } from '../authorization/read-candidate.ts';
import { readBlob } from './blobs.ts';
import { parseCosignKeys } from './cosign-keys.ts';
import { bundleVerdict, payloadVerdict, type Verdict } from './cosign-signatures.ts';
import type { ModuleArtifact, VerificationPolicy } from './module-artifact.ts';
import { fetchManifest } from './read-artifact.ts';
import { signatureTag } from './version-tags.ts';

const MAX_CANDIDATES = 20;
const MAX_CANDIDATE_BYTES = 1024 * 1024;
const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';
const SIGNATURE_ANNOTATION = 'dev.cosignproject.cosign/signature';

/**
 * Resolves if one of the cosign keys signed the manifest, or none is wanted. Nothing of the content is fetched.
 *
 * @throws OperatorError MODULE_UNVERIFIED saying what was looked for and found; SOURCE_INVALID for a key that is none;
 *   errors of the repository
 */
export async function verifyArtifact(
  repository: Repository,
  { digest }: ModuleArtifact,
  { cosignKeys }: VerificationPolicy,
  signal: AbortSignal,
): Promise<void> {
  if (cosignKeys === undefined) return;
  const keys = parseCosignKeys(cosignKeys);
  const found: string[] = [];
  for await (const { name, verdict } of candidates(repository, digest, keys, signal)) {
    if (verdict === undefined) return;
    found.push(`${name} ${verdict}`);
    if (found.length === MAX_CANDIDATES) break;
  }
  const looked = `a signature with ${keys.length === 1 ? 'the cosign key' : `one of the ${keys.length} cosign keys`} was looked for among the referrers and at the tag ${signatureTag(digest)}`;
  throw unverified(
    `${repository.url}@${digest}`,
    `${looked}; found: ${found.length === 0 ? 'no signature' : found.join('; ')}`,
  );
}

interface Candidate {
  readonly name: string;
  readonly verdict: Verdict;
}

/** Everything that could be a signature. What an index says about types is not relied on: registries lose it. */
async function* candidates(
  repository: Repository,
  digest: string,
  keys: readonly KeyObject[],
  signal: AbortSignal,
): AsyncGenerator<Candidate> {
  for (const referrer of await repository.referrers(digest, signal))
    yield* candidatesIn(repository, referrer.digest, digest, keys, signal);
  const old = await repository.resolve(signatureTag(digest), signal);
  if (old !== undefined) yield* candidatesIn(repository, old.digest, digest, keys, signal);
}

/** @param digest of the manifest that is to be verified */
async function* candidatesIn(
  repository: Repository,
  from: string,
  digest: string,
  keys: readonly KeyObject[],
  signal: AbortSignal,
): AsyncGenerator<Candidate> {
  const name = from.slice(0, 'sha256:'.length + 12);
  try {
    const { layers } = await fetchManifest(repository, from, signal);
    if (layers.length === 0) yield { name, verdict: 'has no layers' };
    for (const layer of layers)
      yield { name, verdict: await verdictOn(repository, layer, digest, keys, signal) };
  } catch (error) {
    // Garbage beside a module must not hide its signature.
    if (!hasCode(error, 'ARTIFACT_INVALID') && !hasCode(error, 'REGISTRY_NOT_FOUND')) throw error;
    yield { name, verdict: `cannot be used: ${error.message}` };
  }
}

async function verdictOn(
  repository: Repository,
  layer: Descriptor,
  digest: string,
  keys: readonly KeyObject[],
  signal: AbortSignal,
): Promise<Verdict> {
  const bytes = await readBlob(repository, layer, MAX_CANDIDATE_BYTES, signal);
  if (layer.mediaType !== SIMPLE_SIGNING) return bundleVerdict(bytes, digest, keys);
  return payloadVerdict(bytes, layer.annotations?.[SIGNATURE_ANNOTATION], digest, keys);
}

/** Module and keyring for `verifyContent`. */
export interface ContentPolicy {
  /** The name of the module, which is signed along. */
  readonly module: string;
  /** Undefined: nothing is wanted. */
  readonly keyring: string | undefined;
  readonly clock: WallClock;
}

/**
 * Resolves if a key of the keyring signed the unpacked files, all of them and no others.
 *
 * @throws OperatorError MODULE_UNVERIFIED saying why not
 */
export async function verifyContent(
  directory: string,
  { module, keyring, clock }: ContentPolicy,
  signal: AbortSignal,
): Promise<void> {
  if (keyring === undefined) return;
  const policy = keyringPolicy({
    keyring: { title: 'the keyring of the source', content: keyring },
    clock,
    serials: undefined,
  });
  try {
    await policy.check(await readCandidate(module, directory, {}, signal), signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (!hasCode(cause, 'MODULE_UNAUTHORIZED')) throw cause;
    throw unverified(
      `module ${module}`,
      `an SSH signature with a key of the keyring was looked for in it; ${cause.message}`,
      cause,
    );
  }
}

const MAX_REASON_CHARACTERS = 2_000;

function unverified(what: string, why: string, cause?: unknown): OperatorError {
  const shown = shortLine(`${what} is not verified: ${why}`, MAX_REASON_CHARACTERS);
  return new OperatorError('MODULE_UNVERIFIED', shown, { cause, isPermanent: true });
}
