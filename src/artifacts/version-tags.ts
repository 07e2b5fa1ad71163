/** The meaning of the tags of a repository. Pure. */

import { referrersTag } from '@addon-operator/oci/oci-manifest';
import semverCompare from 'semver/functions/compare.js';
import parse from 'semver/functions/parse.js';
import satisfies from 'semver/functions/satisfies.js';

/** Tags of signatures, attestations and SBOMs, which are no versions and no channels. */
const HIDDEN = /^sha256-|\.(?:sig|att|sbom)$/u;

/** Whether a tag is one of signatures and the like. */
export function isHiddenTag(tag: string): boolean {
  return HIDDEN.test(tag);
}

/** The version that a tag names: `v?SEMVER` with `_` for `+`; undefined for a channel. */
export function versionOfTag(tag: string): string | undefined {
  return isHiddenTag(tag) ? undefined : versionOf(tag.replace('_', '+'));
}

/** A version without `v`; undefined if it is none. */
export function versionOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^v?\d/u.test(value)) return undefined;
  const parsed = parse(value);
  if (parsed === null) return undefined;
  return parsed.build.length === 0 ? parsed.version : `${parsed.version}+${parsed.build.join('.')}`;
}

/** The tag of a version. */
export function tagOfVersion(version: string): string {
  return version.replace('+', '_');
}

/** The tag of the signatures that older versions of cosign attach to a manifest. */
export function signatureTag(digest: string): string {
  return `${referrersTag(digest)}.sig`;
}

/** Whether a tag is one that is moved from version to version. */
export function isChannel(tag: string): boolean {
  return !isHiddenTag(tag) && versionOfTag(tag) === undefined;
}

/** A version and its tag. */
export interface TaggedVersion {
  readonly tag: string;
  readonly version: string;
}

/** The versions among tags, the highest first; of tags that name the same version the first in the alphabet. */
export function taggedVersions(tags: readonly string[]): readonly TaggedVersion[] {
  return tags
    .flatMap((tag) => {
      const version = versionOfTag(tag);
      return version === undefined ? [] : [{ tag, version }];
    })
    .toSorted((a, b) => semverCompare(b.version, a.version) || (a.tag < b.tag ? -1 : 1));
}

/** The highest version in a range. Prereleases count only where the range names one. */
export function highestIn(tags: readonly string[], range: string): TaggedVersion | undefined {
  return taggedVersions(tags).find(({ version }) => satisfies(version, range));
}
