/**
 * The state of an installed module that outlives restarts, and its changes. Pure; `state-store.ts` keeps it
 * in the cluster.
 */

import { isObject, parseJson } from '@addon-operator/json';

/** A version that was installed at some time. */
export interface InstalledVersion {
  readonly version: string;
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

export interface FailedVersion extends InstalledVersion {
  readonly why: string;
}

/** A switch before it is made. */
export interface Intent {
  readonly version: string;
  readonly digest: string;
  readonly entry: string;
  /** The approval that it uses. */
  readonly approval?: string | undefined;
  /** To a version that ran before. */
  readonly isReturn?: boolean | undefined;
}

export interface InstallState {
  /** The name of its link, such as `030-web`; undefined before the first installation. */
  readonly entry?: string | undefined;
  readonly installed?: InstalledVersion | undefined;
  /** The last version that passed its gates. */
  readonly lastGood?: InstalledVersion | undefined;
  /** Since when gates of the installed version are observed; undefined when that is decided. */
  readonly observedSinceMs?: number | undefined;
  /** When digests were seen first in the channel, the newest last. */
  readonly seen: readonly { readonly digest: string; readonly firstSeenMs: number }[];
  /** Digests by version, as version tags had them. */
  readonly tags: Readonly<Record<string, string>>;
  /** Digests that are not tried again without approval, the newest last. */
  readonly failed: readonly FailedVersion[];
  /** Updates in a row that failed. */
  readonly failures: number;
  /** The approval that was used; it does not count again. */
  readonly spentApproval?: string | undefined;
  /** A switch that was begun; after a crash the link says whether it happened. */
  readonly intent?: Intent | undefined;
  /** Its ModuleInstall went together with its definition, which is no decision about the module. */
  readonly isOrphan?: boolean | undefined;
}

export const NEW_INSTALL: InstallState = { seen: [], tags: {}, failed: [], failures: 0 };

/** All modules together share a ConfigMap of 1 MiB. */
const MAX_SEEN = 10;
const MAX_TAGS = 10;
const MAX_FAILED = 20;
const MAX_WHY_CHARACTERS = 200;
/** From so many failures in a row on nothing is tried without approval. */
export const FAILURES_THAT_HOLD = 3;

/** The switch was made. Gates of a new version are observed from now on; a failure of an old one could only lead back to it. */
export function switched(state: InstallState, to: Intent, atMs: number): InstallState {
  const { entry, approval, version, digest, isReturn } = to;
  const isApproved = approval !== undefined;
  const installed = { version, digest, atMs };
  // A version that a user rolled back is no target of an automatic rollback.
  const isGoodLeft = isReturn === true && state.lastGood?.digest === state.installed?.digest;
  return {
    ...state,
    entry,
    intent: undefined,
    installed,
    lastGood: isGoodLeft ? installed : state.lastGood,
    observedSinceMs: isReturn === true ? undefined : atMs,
    ...(isApproved && { spentApproval: approval, failures: 0 }),
    failed: isApproved ? state.failed.filter((one) => one.digest !== digest) : state.failed,
  };
}

/** The installed version has passed its gates. */
export function passed(state: InstallState): InstallState {
  return { ...state, lastGood: state.installed, observedSinceMs: undefined, failures: 0 };
}

/** The installed version has failed, whether or not another one comes in its place. */
export function failedInstalled(state: InstallState, why: string, atMs: number): InstallState {
  const { installed } = state;
  if (installed === undefined) return state;
  const { version, digest } = installed;
  const failed = [
    ...state.failed.filter((one) => one.digest !== digest),
    { version, digest, atMs, why: why.slice(0, MAX_WHY_CHARACTERS) },
  ].slice(-MAX_FAILED);
  return { ...state, failed, failures: state.failures + 1, observedSinceMs: undefined };
}

/** Whether the installed version has failed, so that another one should take its place. */
export function hasFailed({ installed, failed }: InstallState): boolean {
  return installed !== undefined && failed.some(({ digest }) => digest === installed.digest);
}

/** A digest is in the channel. */
export function sawDigest(state: InstallState, digest: string, nowMs: number): InstallState {
  if (state.seen.some((one) => one.digest === digest)) return state;
  return { ...state, seen: [...state.seen, { digest, firstSeenMs: nowMs }].slice(-MAX_SEEN) };
}

/** A version tag has a digest. The first one is remembered: later it must be the same. */
export function sawTag(state: InstallState, version: string, digest: string): InstallState {
  if (state.tags[version] !== undefined) return state;
  const entries = [...Object.entries(state.tags), [version, digest] as const].slice(-MAX_TAGS);
  return { ...state, tags: Object.fromEntries(entries) };
}

/** Digests whose content is needed to run or to go back. */
export function digestsOf({ installed, lastGood }: InstallState): readonly string[] {
  return [installed, lastGood].flatMap((one) => (one === undefined ? [] : [one.digest]));
}

/** @returns undefined for what is no state: what is not known is not changed */
export function parseState(content: string): InstallState | undefined {
  try {
    const value = parseJson(content);
    if (!isObject(value) || !Array.isArray(value['seen']) || !Array.isArray(value['failed']))
      return undefined;
    return { ...NEW_INSTALL, ...value };
  } catch {
    return undefined;
  }
}
