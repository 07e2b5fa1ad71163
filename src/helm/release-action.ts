import { isPending, type ReleaseStatus } from './release-record.ts';

/** What is known of a module's release before helm is asked anything. */
export type ObservedRelease =
  | { readonly type: 'absent' }
  | {
      readonly type: 'present';
      readonly status: ReleaseStatus;
      /** Digest our label on the latest revision carries, if it is valid there. */
      readonly inputDigest: string | undefined;
      /** Whether somebody may still work on a pending revision. */
      readonly isLocked: boolean;
    };

export interface DesiredRelease {
  readonly inputDigest: string;
  /** Whether the chart reads something the digest cannot see (`lookup`, DNS). */
  readonly readsOutside: boolean;
}

export type ReleaseAction =
  | { readonly type: 'install' }
  /** Run helm whatever it renders. With `repair` the latest revision is marked failed first. */
  | { readonly type: 'upgrade'; readonly reason: string; readonly repair: boolean }
  /** Run helm up to its rendering, and on only if that differs or something is missing. */
  | { readonly type: 'compare'; readonly reason: string }
  /** Nothing to do, provided every object of the release is there. */
  | { readonly type: 'keep' }
  | { readonly type: 'locked'; readonly status: ReleaseStatus };

/** Decides what a module's release needs. */
export function nextReleaseAction(observed: ObservedRelease, desired: DesiredRelease): ReleaseAction {
  if (observed.type === 'absent' || observed.status === 'uninstalled') return { type: 'install' };
  const { status } = observed;
  if (isPending(status)) {
    if (observed.isLocked) return { type: 'locked', status };
    return { type: 'upgrade', reason: `last release was left ${status}`, repair: true };
  }
  if (status === 'uninstalling') {
    return { type: 'upgrade', reason: 'an uninstall was left unfinished', repair: true };
  }
  if (status !== 'deployed') return { type: 'upgrade', reason: `last release is ${status}`, repair: false };
  if (observed.inputDigest !== desired.inputDigest) return { type: 'compare', reason: 'inputs changed' };
  if (desired.readsOutside) return { type: 'compare', reason: 'chart reads the cluster' };
  return { type: 'keep' };
}
