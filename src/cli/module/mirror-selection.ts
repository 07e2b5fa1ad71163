import { OperatorError } from '@addon-operator/base/errors';
import gte from 'semver/functions/gte.js';
import { isChannel, versionOf, versionOfTag } from '../../artifacts/version-tags.ts';

export interface MirrorFlags {
  readonly channel?: readonly string[];
  readonly since?: string;
  readonly all?: boolean;
}

const SHOWN_TAGS = 20;

/** A tag of the source, and the manifest that it names. */
export interface NamedDigest {
  readonly tag: string;
  readonly digest: string;
}

/**
 * The tags to copy, versions before channels, so that no channel names a version that is not there yet: of the channels, or of the
 * named ones, with the versions that they name; and of the versions from `since` on, or of all.
 *
 * @param tags without those of signatures
 * @throws OperatorError REQUEST_INVALID where that is nothing
 */
export function selectTags(
  tags: readonly NamedDigest[],
  { channel: named, since, all = false }: MirrorFlags,
): readonly NamedDigest[] {
  const channels = tags.filter(({ tag }) => isChannel(tag) && (named === undefined || named.includes(tag)));
  const unknown = (named ?? []).filter((name) => !channels.some(({ tag }) => tag === name));
  if (unknown.length > 0) throw invalid(`there is no channel ${unknown.join(', ')}`, tags);
  const first = since === undefined ? undefined : versionOf(since);
  if (since !== undefined && first === undefined) {
    throw new OperatorError('REQUEST_INVALID', `--since ${since}: that is not a version such as 1.4.0`);
  }
  const digests = new Set(channels.map(({ digest }) => digest));
  const versions = tags.filter(({ tag, digest }) => {
    const version = versionOfTag(tag);
    if (version === undefined) return false;
    return all || digests.has(digest) || (first !== undefined && gte(version, first));
  });
  if (versions.length + channels.length === 0) {
    throw invalid('nothing is selected: choose versions with --since VERSION or --all', tags);
  }
  return [...versions, ...channels];
}

function invalid(problem: string, tags: readonly NamedDigest[]): OperatorError {
  const shown = tags.slice(0, SHOWN_TAGS).map(({ tag }) => tag);
  const known = shown.length === 0 ? 'the source has no tags' : `the source has ${shown.join(', ')}`;
  return new OperatorError('REQUEST_INVALID', `${problem}; ${known}`);
}
