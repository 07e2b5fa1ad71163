// The decision about a release, as data: `deploy.ts` carries it out, `preview-release.ts` shows it,
// and neither decides anything else. It is pure, so the table in its test covers every combination
// of record and input.

import { deployRecovery, type OwnRecord, type ReleaseState } from '@addon-operator/helm/recovery-table';
import { lockLimitMs } from './own-record.ts';

/** The state of a module's release before helm runs. */
export interface ObservedRelease {
  readonly state: ReleaseState;
  readonly own: OwnRecord;
  /** The digest that our label on the latest revision carries, if the label is valid for it. */
  readonly inputDigest: string | undefined;
  /** How long the latest record has not changed under observation, in milliseconds. */
  readonly unchangedMs: number;
}

export interface DesiredRelease {
  readonly inputDigest: string;
  /** Whether the chart reads data that the digest does not cover (`lookup`, DNS). */
  readonly readsOutside: boolean;
  /** Whether deployment steps may return a different result each time. Default false. */
  readonly isOpen?: boolean;
  /** Whether helm applies the chart although nothing has changed. Default false. */
  readonly isForced?: boolean;
  readonly helmTimeoutMs: number;
}

export type ReleaseAction =
  | { readonly type: 'install' }
  /**
   * Run helm, even if the rendered manifests are unchanged. With `repair` the latest revision is
   * marked failed first.
   */
  | { readonly type: 'upgrade'; readonly reason: string; readonly repair: boolean }
  /** Run helm until it has rendered, and continue only if that differs or an object is missing. */
  | { readonly type: 'compare'; readonly reason: string }
  /** Nothing to do if all objects of the release exist. */
  | { readonly type: 'keep' }
  /** Move the latest record aside and decide again. */
  | { readonly type: 'set-aside' }
  | { readonly type: 'locked' };

/** Decides the action for a module's release from its records and the inputs of the chart. */
export function nextReleaseAction(observed: ObservedRelease, desired: DesiredRelease): ReleaseAction {
  const { state, own } = observed;
  const recovery = deployRecovery(state, own);
  // The record comes first: the inputs matter only for a release that is intact and ours.
  switch (recovery) {
    case 'install':
    case 'set-aside':
      return { type: recovery };
    case 'wait':
      return { type: 'locked' };
    case 'outwait':
      // A lock of unknown origin is broken only after the longest time that a helm process can need.
      return observed.unchangedMs >= lockLimitMs(desired.helmTimeoutMs)
        ? { type: 'upgrade', reason: `last release was left ${state}`, repair: true }
        : { type: 'locked' };
    case 'mark-failed':
      return { type: 'upgrade', reason: `last release was left ${state}`, repair: true };
    case 'upgrade':
      return { type: 'upgrade', reason: upgradeReason(state), repair: false };
    case 'use':
      if (desired.isForced === true) return { type: 'upgrade', reason: 'it was requested', repair: false };
      if (observed.inputDigest !== desired.inputDigest) return { type: 'compare', reason: 'inputs changed' };
      if (desired.readsOutside) return { type: 'compare', reason: 'chart reads the cluster' };
      if (desired.isOpen === true) return { type: 'compare', reason: 'an extension may change the result' };
      return { type: 'keep' };
  }
}

function upgradeReason(state: ReleaseState): string {
  return state === 'deployed' ? 'another helm client created the last revision' : `last release is ${state}`;
}
