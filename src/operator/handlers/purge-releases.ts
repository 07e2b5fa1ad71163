import { messageOf } from '../../lib/errors.ts';
import type { TaskOutcome } from '../../queue/task-queue.ts';
import { beginRemoval } from '../deploy-hooks.ts';
import { MAIN_QUEUE, type Operator } from '../operator.ts';
import type { ReleaseInCluster } from '../releases.ts';
import { rethrowAbort } from '../rethrow-abort.ts';
import type { Task } from '../tasks.ts';

/**
 * Looks once, after the first converge, for releases without a module. Those a daemon of ours made are removed; foreign
 * ones in the same namespace stay, unless the settings say otherwise.
 */
export async function handleDiscoverReleases(
  operator: Operator,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases, ignoredRelease, purgesForeignReleases, log } = operator.deps;
  const known = new Set<string>(operator.modules.map((module) => module.name));
  const withoutModule = (await releases.list(signal)).filter(
    ({ name }) => !known.has(name) && name !== ignoredRelease,
  );
  const kept = withoutModule.filter(({ isKept }) => isKept === true);
  if (kept.length > 0)
    log.warn(
      { releases: namesOf(kept) },
      'Releases without a module stay, as the deletionPolicy of their modules was',
    );
  const unknown = withoutModule.filter(({ isKept }) => isKept !== true);
  const [toPurge, spared] = purgesForeignReleases
    ? [unknown, []]
    : [unknown.filter(({ isOwned }) => isOwned), unknown.filter(({ isOwned }) => !isOwned)];
  if (spared.length > 0)
    log.warn({ releases: namesOf(spared) }, 'Releases without a module that others made are left alone');
  if (toPurge.length === 0) return { type: 'success' };
  log.info({ releases: namesOf(toPurge) }, 'Modules to purge found');
  const trigger = 'Operator-PostConvergeCleanup';
  return {
    type: 'success',
    after: namesOf(toPurge)
      .toReversed()
      .map((release): Task => ({ type: 'ModulePurge', release, trigger })),
  };
}

function namesOf(releases: readonly ReleaseInCluster[]): readonly string[] {
  return releases.map(({ name }) => name).toSorted();
}

/** A release that stays although its module is gone is not purged, but its module may have left more behind. */
async function isKept({ deps }: Operator, release: string, signal: AbortSignal): Promise<boolean> {
  const known = await deps.releases.list(signal);
  return known.some(({ name, isKept }) => name === release && isKept === true);
}

/** Removes one release. A failure is only reported: nothing depends on it. */
export async function handleModulePurge(
  operator: Operator,
  release: string,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases, finalizers, purgesForeignReleases: includeForeign } = operator.deps;
  if (operator.modules.some(({ name }) => name === release)) return { type: 'success' };
  let isHeld = false;
  try {
    isHeld = (await finalizers?.isHeld(release, signal)) === true;
    if (isHeld && (await isKept(operator, release, signal))) {
      await finalizers?.releaseAbandoned(release, signal);
      return { type: 'success' };
    }
    if (isHeld) await finalizers?.finalizeAbandoned(release, signal);
    const run = { activation: '', queue: MAIN_QUEUE, task: {}, attempt: 1 };
    const tellRemoved = await beginRemoval(operator, { name: release }, run, signal);
    const steps = await operator.deps.uninstallSteps({ name: release }, signal);
    const result = await releases.uninstall(release, { includeForeign, steps }, signal);
    if (result !== 'spared') await tellRemoved();
    if (isHeld) await finalizers?.releaseAbandoned(release, signal);
    // The one that spares it has said so.
    if (result === 'uninstalled') operator.deps.log.info({ release }, 'Release without a module is removed');
  } catch (error) {
    rethrowAbort(error, signal);
    const outlook = isHeld ? 'its HTTP hook is asked again in five minutes.' : 'no retry.';
    operator.deps.log.warn({ release, error: messageOf(error) }, `Module purge failed, ${outlook}`);
  }
  return { type: 'success' };
}
