/** A helm executable and what its version can do. */
export interface HelmBinary {
  /** Absolute path. */
  readonly path: string;
  /** As helm prints it, without the `v`: `3.17.3`, `3.19`, `4.1.4+g12`. */
  readonly version: string;
  readonly major: 3 | 4;
  readonly minor: number;
}

/** Oldest 3.x that takes labels for its release records and the flags we rely on. */
const OLDEST_MINOR_OF_3 = 14;
const TAKE_OWNERSHIP_MINOR = 17;

/**
 * A version as `helm version` prints it. A helm built with `go install` has no patch number, and one built from a checkout
 * has a pre-release or a build suffix.
 */
const VERSION = /^v?((\d+)(?:\.(\d+))?(?:\.\d+)?(?:[-+]\S*)?)$/;

/**
 * Reads the output of `helm version --template {{.Version}}`. Any version with a major and a minor number is accepted;
 * helm 4 needs no minor number, because every helm 4 is new enough.
 *
 * @returns undefined for anything but helm 3.14 or newer and helm 4
 */
export function parseHelmVersion(path: string, output: string): HelmBinary | undefined {
  const match = VERSION.exec(output.trim());
  if (match === null) return undefined;
  const [, version = '', majorText, minorText] = match;
  const major = Number(majorText);
  const minor = Number(minorText ?? '0');
  if (major === 3 && minor >= OLDEST_MINOR_OF_3) return { path, version, major, minor };
  return major === 4 ? { path, version, major, minor } : undefined;
}

/** Whether helm can adopt objects that exist without helm's metadata. */
export function canTakeOwnership(helm: HelmBinary): boolean {
  return helm.major === 4 || helm.minor >= TAKE_OWNERSHIP_MINOR;
}
