/**
 * Looks up what a ModuleInstall wants: one request for what is known already. A new digest is read and verified by that digest;
 * nothing of its content is fetched here.
 */

import { hasCode, messageOf } from '@addon-operator/base/errors';
import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import type { VerificationPolicy } from '../artifacts/module-artifact.ts';
import { highestIn, isChannel, tagOfVersion } from '../artifacts/version-tags.ts';
import { type OfferedVersion, type Pending, pending } from './decide.ts';
import type { ArtifactTools } from './delivery-parts.ts';
import { type InstallState, sawDigest, sawTag } from './install-state.ts';
import type { Install } from './parse-spec.ts';

export interface Lookup {
  readonly install: Install;
  readonly state: InstallState;
  /** The result of the last lookup. */
  readonly known: readonly (OfferedVersion | Pending | undefined)[];
  readonly repository: Repository;
  /** Where release channels of Deckhouse are, beside the module. */
  readonly releases: Repository;
  readonly policy: VerificationPolicy;
  readonly artifacts: ArtifactTools;
  readonly nowMs: number;
}

export interface FoundVersion {
  readonly candidate: OfferedVersion | Pending;
  /** The digest of an approval that was not used yet, if it is another one. */
  readonly approved: OfferedVersion | Pending | undefined;
  readonly state: InstallState;
}

/** @throws OperatorError REGISTRY_UNREACHABLE, REGISTRY_REFUSED, and others of a repository that says nothing about a version */
export async function findCandidate(lookup: Lookup, signal: AbortSignal): Promise<FoundVersion> {
  const { install, nowMs } = lookup;
  const named = await referenced(lookup, signal);
  const candidate = 'type' in named ? named : await readVersion(lookup, named.descriptor, named.tag, signal);
  let state = lookup.state;
  if (candidate.digest !== undefined && candidate.type === 'version') {
    state = sawDigest(state, candidate.digest, nowMs);
    if ('version' in named && named.version !== undefined)
      state = sawTag(state, named.version, candidate.digest);
  }
  const { approval } = install;
  const isNew = approval !== undefined && approval.id !== state.spentApproval;
  const approved =
    isNew && approval.digest !== candidate.digest
      ? await readApproved(lookup, approval.digest, signal)
      : undefined;
  return { candidate, approved, state };
}

interface Named {
  readonly descriptor: Descriptor;
  readonly tag?: string;
  /** Of a version tag, whose digest never changes. */
  readonly version?: string;
}

async function referenced(lookup: Lookup, signal: AbortSignal): Promise<Named | Pending> {
  const { install, repository, releases, artifacts } = lookup;
  const { wanted } = install;
  switch (wanted.type) {
    case 'channel': {
      const descriptor = await repository.resolve(wanted.channel, signal);
      if (descriptor !== undefined) return { descriptor, tag: wanted.channel };
      const tag = await artifacts.resolveChannel(releases, wanted.channel, signal);
      const released = tag === undefined ? undefined : await repository.resolve(tag, signal);
      if (tag !== undefined && released !== undefined) return { descriptor: released, tag };
      const channels = (await repository.tags(signal)).filter(isChannel);
      return pending(
        'NotFound',
        `${repository.url} has no channel ${wanted.channel}; it has ${listOf(channels)}`,
      );
    }
    case 'range': {
      const tags = await repository.tags(signal);
      const highest = highestIn(tags, wanted.range);
      if (highest !== undefined) return await tagged(lookup, highest.version, [highest.tag], signal);
      return pending(
        'NotFound',
        `none of ${tags.length} tags of ${repository.url} is a version in ${wanted.range}`,
      );
    }
    case 'exact': {
      const tag = tagOfVersion(wanted.version);
      return await tagged(lookup, wanted.version, [tag, `v${tag}`], signal);
    }
    case 'digest': {
      const descriptor = await byDigest(lookup, wanted.digest, signal);
      return descriptor === undefined
        ? pending('NotFound', `${repository.url} does not have ${wanted.digest}`, wanted)
        : { descriptor };
    }
  }
}

/** The digest of a version tag must be the one that it had first. */
async function tagged(
  { repository, state }: Lookup,
  version: string,
  tags: readonly string[],
  signal: AbortSignal,
): Promise<Named | Pending> {
  for (const tag of tags) {
    const descriptor = await repository.resolve(tag, signal);
    if (descriptor === undefined) continue;
    const before = state.tags[version];
    if (before === undefined || before === descriptor.digest) return { descriptor, tag, version };
    return pending(
      'VersionChanged',
      `tag ${tag} was ${before} and is now ${descriptor.digest}: a version never changes, publish a new one`,
      { version },
    );
  }
  return pending('NotFound', `${repository.url} has no tag ${tags.join(' or ')}`, { version });
}

/** Without a request where the digest is installed or was found before. */
async function byDigest(
  lookup: Lookup,
  digest: string,
  signal: AbortSignal,
): Promise<Descriptor | undefined> {
  if (knownVersion(lookup, digest) !== undefined) return { digest, mediaType: '', size: 0 };
  return await lookup.repository.resolve(digest, signal);
}

async function readApproved(
  lookup: Lookup,
  digest: string,
  signal: AbortSignal,
): Promise<OfferedVersion | Pending> {
  const descriptor = await byDigest(lookup, digest, signal);
  if (descriptor === undefined)
    return pending('NotFound', `${lookup.repository.url} does not have the approved ${digest}`, { digest });
  return await readVersion(lookup, descriptor, undefined, signal);
}

function knownVersion({ state, known }: Lookup, digest: string): OfferedVersion | undefined {
  const found = known.find((one) => one?.type === 'version' && one.digest === digest);
  if (found?.type === 'version') return found;
  const { installed } = state;
  if (installed?.digest !== digest) return undefined;
  return { type: 'version', digest, facts: { version: installed.version } };
}

async function readVersion(
  lookup: Lookup,
  descriptor: Descriptor,
  tag: string | undefined,
  signal: AbortSignal,
): Promise<OfferedVersion | Pending> {
  const known = knownVersion(lookup, descriptor.digest);
  if (known !== undefined) return known;
  const { install, repository, policy, artifacts } = lookup;
  const { digest } = descriptor;
  let version: string | undefined;
  try {
    const artifact = await artifacts.read(repository, descriptor, signal, { tag });
    const { facts } = artifact;
    version = facts.version;
    if (facts.name !== undefined && facts.name !== install.name) {
      const message = `${repository.url} holds module ${facts.name}: name the ModuleInstall so, or publish ${install.name} there`;
      return pending('ArtifactInvalid', message, { version, digest });
    }
    await artifacts.verify(repository, artifact, policy, signal);
    return { type: 'version', digest, facts };
  } catch (error) {
    const reason = REASONS.find(([code]) => hasCode(error, code))?.[1];
    if (reason === undefined) throw error;
    return pending(reason, messageOf(error), { version, digest });
  }
}

/** Errors that say something about one version, not about the source. */
const REASONS = [
  ['ARTIFACT_INVALID', 'ArtifactInvalid'],
  ['MODULE_UNVERIFIED', 'Unverified'],
  ['MODULE_UNAUTHORIZED', 'Unverified'],
] as const;

const MAX_LISTED = 10;

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : '';
  return `${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}
