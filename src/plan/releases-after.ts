import type { ReleaseInCluster } from '../operator/releases.ts';

/** What a converge does to releases, when nothing fails. */
export interface ReleaseChanges {
  /** Releases that are removed, or stay without an owner. */
  readonly gone: ReadonlySet<string>;
  /** Releases that are installed, upgraded or kept as they are. */
  readonly deployed: ReadonlySet<string>;
}

/** The releases after a converge: those that are left, and those that it brings. */
export function releasesAfter(
  before: readonly ReleaseInCluster[],
  { gone, deployed }: ReleaseChanges,
): readonly ReleaseInCluster[] {
  const known = new Set(before.map(({ name }) => name));
  const left = before
    .filter(({ name }) => !gone.has(name))
    .map((release) => (deployed.has(release.name) ? { ...release, isOwned: true } : release));
  const added = [...deployed]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, revision: 1, isOwned: true }));
  return [...left, ...added];
}
