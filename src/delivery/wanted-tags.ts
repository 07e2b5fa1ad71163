/** What the tags of a repository mean. Pure. */

import semverCompare from 'semver/functions/compare.js';
import satisfies from 'semver/functions/satisfies.js';
import { isHiddenTag, versionOfTag } from '../artifacts/version-tags.ts';

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
