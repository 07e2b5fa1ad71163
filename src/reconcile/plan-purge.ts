import {
  decidePurge,
  type HeldPurge,
  type ModulesDirectory,
  type PurgeFacts,
  rememberedDirectories,
} from '../model/purge-guard.ts';
import type { ReleaseInCluster } from '../model/releases.ts';

/** The facts that decide about releases without a module. */
export interface PurgeInput extends Pick<PurgeFacts, 'directories' | 'remembered' | 'areEmptyAllowed'> {
  /** All releases in the namespace, as they are after the first converge. */
  readonly releases: readonly ReleaseInCluster[];
  /** Names of all modules, enabled or not. */
  readonly modules: ReadonlySet<string>;
  /** A release with this name is never removed. */
  readonly ignoredRelease: string;
  /** Whether releases that are not owned by this operator are removed too. */
  readonly purgesForeignReleases: boolean;
}

/** The decisions about the releases without a module. */
export interface PurgePlan {
  /** Releases that stay because of the deletion policy of their former modules. */
  readonly kept: readonly ReleaseInCluster[];
  /** Releases that stay because this operator does not own them. */
  readonly notOwned: readonly ReleaseInCluster[];
  /** Releases to remove, unless `held` says why they wait for a confirmation. */
  readonly purged: readonly ReleaseInCluster[];
  readonly held: HeldPurge | undefined;
  /** The record of the modules directories from now on. */
  readonly remembered: readonly ModulesDirectory[];
}

/** Decides about the releases without a module. The operator and `plan` both use it. */
export function planPurge(input: PurgeInput): PurgePlan {
  const { releases, modules, ignoredRelease, purgesForeignReleases } = input;
  const withoutModule = releases.filter(({ name }) => !modules.has(name) && name !== ignoredRelease);
  const kept = withoutModule.filter(({ isKept }) => isKept === true);
  const rest = withoutModule.filter(({ isKept }) => isKept !== true);
  const purged = rest.filter(({ isOwned }) => isOwned || purgesForeignReleases);
  const missing = namesOf(purged);
  const decision = decidePurge({
    ...input,
    missing,
    missingOwned: purged.filter(({ isOwned }) => isOwned).length,
    present: releases.filter(({ name, isOwned }) => isOwned && modules.has(name)).length,
  });
  return {
    kept,
    notOwned: rest.filter((release) => !purged.includes(release)),
    purged,
    held: decision.type === 'purge' ? undefined : { releases: missing, reason: decision.reason },
    remembered: rememberedDirectories(input, decision.type),
  };
}

/** Names of releases, sorted. */
export function namesOf(releases: readonly ReleaseInCluster[]): readonly string[] {
  return releases.map(({ name }) => name).toSorted();
}
