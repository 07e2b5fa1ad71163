/**
 * Whether a version is installed now, and if not, why not yet. Pure: `explainWait()` gives the line of
 * `module versions`, and the same reasons are in the status.
 */

import semverCompare from 'semver/functions/compare.js';
import major from 'semver/functions/major.js';
import minor from 'semver/functions/minor.js';
import satisfies from 'semver/functions/satisfies.js';
import type { ArtifactFacts } from '../artifacts/module-artifact.ts';
import { FAILURES_THAT_HOLD, type InstallState } from './install-state.ts';
import type { Install } from './parse-spec.ts';
import { windowState } from './update-windows.ts';

export type PendingReason =
  | 'ArtifactInvalid'
  | 'Failed'
  | 'Held'
  | 'NeedsApproval'
  | 'NotFound'
  | 'NotLoadable'
  | 'OutsideWindow'
  | 'RequirementMissing'
  | 'SettingsInvalid'
  | 'Soaking'
  | 'SourceUnavailable'
  | 'Unverified'
  | 'UpdateFailures'
  | 'UpdateLimit'
  | 'VersionChanged'
  | 'WouldFail';

/** Why a version is not installed yet. */
export interface Pending {
  readonly type: 'pending';
  readonly version: string | undefined;
  readonly digest: string | undefined;
  readonly reason: PendingReason;
  readonly message: string;
  /** When that may end by itself, in milliseconds since the epoch. */
  readonly untilMs?: number | undefined;
}

export function pending(
  reason: PendingReason,
  message: string,
  { version, digest }: Partial<Pick<Pending, 'version' | 'digest'>> = {},
): Pending {
  return { type: 'pending', version, digest, reason, message };
}

export type UpdateDecision =
  | { readonly type: 'nothing' }
  | {
      readonly type: 'install';
      readonly digest: string;
      readonly version: string;
      /** The approval that is used. */
      readonly approval?: string | undefined;
    }
  | Pending;

/** A verified version that the source offers. */
export interface OfferedVersion {
  readonly type: 'version';
  readonly digest: string;
  readonly facts: ArtifactFacts;
}

export interface DecideInput {
  readonly install: Install;
  readonly state: InstallState;
  /** The version that the spec wants, or why it is not available; undefined before the source was read. */
  readonly candidate: OfferedVersion | Pending | undefined;
  /** The digest of the approval, if it is another one. */
  readonly approved: OfferedVersion | Pending | undefined;
  readonly operatorVersion: string;
  /** Versions of enabled modules by name; undefined where a module has none. */
  readonly modules: ReadonlyMap<string, string | undefined>;
  readonly limits: UpdateLimits;
  readonly nowMs: number;
}

/** Updates of other modules. */
export interface UpdateLimits {
  readonly running: number;
  /** `--update-parallel`. */
  readonly parallel: number;
  /** Modules whose last update failed. */
  readonly failed: readonly string[];
  /** `--update-failures`; 0 for no limit. */
  readonly failures: number;
}

/**
 * Decides about one module. Without an installed version only the version counts, and what it requires: mode, windows,
 * soak and limits are about updates. An approved digest that was not used yet comes before what the spec wants.
 */
export function decide(input: DecideInput): UpdateDecision {
  const { install, state, nowMs } = input;
  const { approval } = install;
  const isNew = approval !== undefined && approval.id !== state.spentApproval;
  const target = isNew ? (input.approved ?? input.candidate) : input.candidate;
  if (target === undefined) return { type: 'nothing' };
  const isApproved = isNew && target.digest === approval.digest;
  if (target.digest !== undefined && target.digest === state.installed?.digest)
    // A failed version that was approved is observed once more.
    return isApproved && isFailed(state, target.digest) && target.type === 'version'
      ? { type: 'install', digest: target.digest, version: target.facts.version, approval: approval.id }
      : { type: 'nothing' };
  if (target.type === 'pending') return target;
  const { digest, facts } = target;
  const { version } = facts;
  const wait = (reason: PendingReason, message: string, untilMs?: number): Pending => ({
    ...pending(reason, message, { version, digest }),
    untilMs,
  });
  const { hold } = install;
  if (hold !== undefined && (hold.untilMs === undefined || nowMs < hold.untilMs))
    return wait('Held', `held: ${hold.reason}`, hold.untilMs);
  const consent = isApproved ? undefined : whyNotAllowed(input, target, wait);
  if (consent !== undefined) return consent;
  const requirement = unmetRequirement(input, facts);
  if (requirement !== undefined) return wait('RequirementMissing', requirement);
  if (state.installed !== undefined) {
    const later = whyLater(input, approval?.now === true && isApproved, wait);
    if (later !== undefined) return later;
  }
  return { type: 'install', digest, version, ...(isApproved && { approval: approval.id }) };
}

type Wait = (reason: PendingReason, message: string, untilMs?: number) => Pending;

/** The reasons to wait that an approval ends. */
function whyNotAllowed(
  { install, state, nowMs }: DecideInput,
  target: OfferedVersion,
  wait: Wait,
): Pending | undefined {
  const { digest, facts } = target;
  const { wanted, mode, soakMs } = install;
  const failure = state.failed.findLast((one) => one.digest === digest);
  if (failure !== undefined)
    return wait('Failed', `this version failed and is not tried again without approval: ${failure.why}`);
  if (state.failures >= FAILURES_THAT_HOLD)
    return wait('Held', `${state.failures} updates in a row have failed: approve a version to go on`);
  const from = state.installed?.version;
  if (from === undefined) return undefined;
  const isNamed = wanted.type === 'exact' || wanted.type === 'digest';
  if (!isNamed && semverCompare(facts.version, from) < 0)
    return wait(
      'NeedsApproval',
      `downgrade from ${from}: a source never leads to an older version by itself`,
    );
  if (mode === 'manual') return wait('NeedsApproval', 'every update needs approval (mode manual)');
  const isPatch = major(facts.version) === major(from) && minor(facts.version) === minor(from);
  if (mode === 'patch' && !isPatch)
    return wait('NeedsApproval', `${from} to ${facts.version} is no patch (mode patch)`);
  const seenMs = state.seen.find((one) => one.digest === digest)?.firstSeenMs ?? nowMs;
  if (nowMs < seenMs + soakMs) return wait('Soaking', 'not old enough (soak)', seenMs + soakMs);
  return undefined;
}

/** The reasons to wait that count for approved updates too. */
function whyLater(
  { install, limits, nowMs }: DecideInput,
  skipsWindow: boolean,
  wait: Wait,
): Pending | undefined {
  const window = windowState(install.windows, nowMs);
  if (!window.isOpen && !skipsWindow)
    return window.opensAtMs === undefined
      ? wait('OutsideWindow', 'none of its windows opens within two weeks')
      : wait('OutsideWindow', 'updates wait for a window', window.opensAtMs);
  const others = limits.failed.filter((name) => name !== install.name);
  if (limits.failures > 0 && others.length >= limits.failures)
    return wait('UpdateFailures', `updates have failed: ${others.join(', ')} (--update-failures)`);
  if (limits.running >= limits.parallel)
    return wait('UpdateLimit', `${limits.running} other updates are in progress (--update-parallel)`);
  return undefined;
}

function unmetRequirement(
  { operatorVersion, modules }: DecideInput,
  facts: ArtifactFacts,
): string | undefined {
  const { operator, requires = {} } = facts;
  const options = { includePrerelease: true };
  if (operator !== undefined && !satisfies(operatorVersion, operator, options))
    return `needs an operator ${operator}, this one is ${operatorVersion}`;
  for (const [name, range] of Object.entries(requires)) {
    if (!modules.has(name)) return `requires module ${name}, which is not enabled`;
    const version = modules.get(name);
    if (range === '' || range === '*') continue;
    if (version === undefined) return `requires module ${name} ${range}, whose version is not known`;
    if (!satisfies(version, range, options)) return `requires module ${name} ${range}, which is ${version}`;
  }
  return undefined;
}

function isFailed(state: InstallState, digest: string): boolean {
  return state.failed.some((one) => one.digest === digest);
}

/** The line of `module versions`. */
export function explainWait({ version, digest, reason, message, untilMs }: Pending): string {
  const what = version ?? digest ?? 'the wanted version';
  const until = untilMs === undefined ? '' : `, until ${new Date(untilMs).toISOString()}`;
  return `${what} waits (${reason}): ${message}${until}`;
}
