import { deployRecovery, type OwnRecord, type ReleaseState } from '@addon-operator/helm/recovery-table';
import { lockLimitMs } from './own-record.ts';

/** What is known of a module's release before helm runs. */
export interface ObservedRelease {
  readonly state: ReleaseState;
  readonly own: OwnRecord;
  /** Digest our label on the latest revision carries, if it is valid there. */
  readonly inputDigest: string | undefined;
  /** How long the latest record has been seen unchanged, in milliseconds. */
  readonly unchangedMs: number;
}

export interface DesiredRelease {
  readonly inputDigest: string;
  /** Whether the chart reads something the digest cannot see (`lookup`, DNS). */
  readonly readsOutside: boolean;
  /** Whether deployment steps may return a different result each time. Default false. */
  readonly isOpen?: boolean;
  /** Whether helm is to apply the chart although nothing has changed. Default false. */
  readonly isForced?: boolean;
  readonly helmTimeoutMs: number;
}

export type ReleaseAction =
  | { readonly type: 'install' }
  /** Run helm, whether or not the rendered manifests changed. With `repair` the latest revision is marked failed first. */
  | { readonly type: 'upgrade'; readonly reason: string; readonly repair: boolean }
  /** Run helm up to its rendering, and on only if that differs or something is missing. */
  | { readonly type: 'compare'; readonly reason: string }
  /** Nothing to do, provided every object of the release is there. */
  | { readonly type: 'keep' }
  /** Move the latest record away and decide again. */
  | { readonly type: 'set-aside' }
  | { readonly type: 'locked' };

/**
 * Decides what a module's release needs, from its records and the inputs of the chart; pure, so its table test is all of it.
 * `deploy.ts` acts on the decision, and `plan` of the operator shows it.
 */
export function nextReleaseAction(observed: ObservedRelease, desired: DesiredRelease): ReleaseAction {
  const { state, own } = observed;
  const recovery = deployRecovery(state, own);
  switch (recovery) {
    case 'install':
    case 'set-aside':
      return { type: recovery };
    case 'wait':
      return { type: 'locked' };
    case 'outwait':
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
