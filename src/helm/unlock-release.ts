import type { DriverContext } from './driver-context.ts';
import { observeRelease } from './observed-release.ts';
import { releaseState } from './recover.ts';
import { deployRecovery, type ReleaseState } from './recovery-table.ts';
import { ownFacts } from './release-labels.ts';

/**
 * What became of the request to take over a release at once. `busy`: helm of this process works on it. `not-locked`: its
 * state makes nobody wait.
 */
export type UnlockResult =
  | { readonly type: 'absent' }
  | { readonly type: 'busy'; readonly state: ReleaseState }
  | { readonly type: 'not-locked'; readonly state: ReleaseState }
  | { readonly type: 'unlocked'; readonly state: ReleaseState; readonly revision: number };

/**
 * Makes the next deployment or uninstall of a release take it over, though another helm may have left it a moment ago.
 * Nothing is written: if the record is written again before that, another helm does work on it, and it is waited for.
 */
export async function unlockRelease(
  context: DriverContext,
  release: string,
  signal: AbortSignal,
): Promise<UnlockResult> {
  const latest = await context.store.latest(release, signal);
  if (latest === undefined) return { type: 'absent' };
  const state = await releaseState(context.store, latest, signal);
  const recovery = deployRecovery(state, observeRelease(context, latest).own);
  if (recovery !== 'outwait' && recovery !== 'wait') {
    const { holder, uninstaller } = ownFacts(latest.labels, latest.revision);
    const isOurs = (state === 'uninstalling' ? uninstaller : holder) === context.holder.token;
    return { type: isOurs && recovery === 'mark-failed' ? 'busy' : 'not-locked', state };
  }
  context.lockAges.unlock(latest);
  context.log.warn(
    { release, revision: latest.revision, status: state },
    'release is taken over on request, even if another helm process is using it',
  );
  return { type: 'unlocked', state, revision: latest.revision };
}
