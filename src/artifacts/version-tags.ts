import parse from 'semver/functions/parse.js';

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
