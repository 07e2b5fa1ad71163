import { isDeepStrictEqual } from 'node:util';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { TaskOutcome } from '@addon-operator/task-queue';
import { rethrowAbort } from '../hook-runs/rethrow-abort.ts';
import type { Journal } from '../journal/journal.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { OperatorPolicy } from '../model/operator-policy.ts';
import { CONFIRM_COMMAND, type DirectoryMemory, type ModulesDirectory } from '../model/purge-guard.ts';
import type { ReleaseInCluster, Releases } from '../model/releases.ts';
import type { ModuleExtensions, ModuleSources } from '../model/services.ts';
import { MAIN_QUEUE, type Task } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { DeployHooks } from './deploy-hooks.ts';
import type { ModuleMemory } from './module-memory.ts';
import { namesOf, type PurgeInput, planPurge } from './plan-purge.ts';

/** The parts that the removal of releases without a module uses. */
export interface PurgeReleasesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly releases: Releases;
  /** The last record of the modules directories that contained modules. */
  readonly directoryMemory: DirectoryMemory;
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
  readonly journal: Pick<Journal, 'spanIn'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'uninstallSteps'>;
  readonly policy: Pick<OperatorPolicy, 'allowsEmptyModulesDir' | 'ignoredRelease' | 'purgesForeignReleases'>;
  readonly deployHooks: Pick<DeployHooks, 'beginRemoval'>;
  readonly memory: Pick<ModuleMemory, 'forget' | 'names'>;
}

/**
 * Handles DiscoverHelmReleases, once after the first converge: looks for releases without a module.
 * Releases owned by this operator are removed by ModulePurge tasks; others in the namespace stay,
 * unless the settings say otherwise. If the directories look lost by accident, all are held until a
 * user confirms.
 */
export async function handleDiscoverReleases(
  operator: PurgeReleasesParts,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases, directoryMemory, log } = operator;
  const all = await releases.list(signal);
  const remembered = await directoryMemory.read(signal);
  const { kept, notOwned, purged, held, ...plan } = planPurge(purgeInput(operator, all, remembered));
  if (kept.length > 0)
    log.warn(
      { releases: namesOf(kept) },
      'Releases without a module are kept because of the deletionPolicy of their modules',
    );
  if (notOwned.length > 0)
    log.warn(
      { releases: namesOf(notOwned) },
      'Releases without a module that were not created by this operator are skipped',
    );
  // Written before anything is removed: a restart decides by the same record.
  if (!isDeepStrictEqual(plan.remembered, remembered)) await directoryMemory.write(plan.remembered, signal);
  operator.converge.decidePurge(held ?? 'decided');
  if (held !== undefined) {
    log.error(
      { ...held, command: CONFIRM_COMMAND },
      'Releases without a module are kept until their removal is confirmed',
    );
    return { type: 'success' };
  }
  // Modules of a directory that is empty for now may come back: their records stay.
  const awaited = new Set(plan.remembered.flatMap(({ modules }) => modules));
  for (const name of operator.memory.names)
    if (operator.registry.find(name) === undefined && !awaited.has(name)) operator.memory.forget(name);
  if (purged.length === 0) return { type: 'success' };
  log.info({ releases: namesOf(purged) }, 'Modules to purge found');
  return { type: 'success', after: purges(namesOf(purged), 'Operator-PostConvergeCleanup') };
}

/** The parts that {@link purgeInput} reads. */
export interface PurgeInputParts {
  readonly registry: ModuleRegistry;
  readonly policy: Pick<OperatorPolicy, 'allowsEmptyModulesDir' | 'ignoredRelease' | 'purgesForeignReleases'>;
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
}

/** The input of {@link planPurge}. @param releases as they are after the first converge */
export function purgeInput(
  operator: PurgeInputParts,
  releases: readonly ReleaseInCluster[],
  remembered: readonly ModulesDirectory[] | undefined,
): PurgeInput {
  return {
    releases,
    modules: new Set(operator.registry.modules.map(({ name }) => name)),
    ignoredRelease: operator.policy.ignoredRelease,
    purgesForeignReleases: operator.policy.purgesForeignReleases,
    directories: operator.sources.modulesDirectories(),
    remembered,
    areEmptyAllowed: operator.policy.allowsEmptyModulesDir,
  };
}

/** The tasks that remove releases, in reverse order of their names. */
function purges(releases: readonly string[], trigger: string): readonly Task[] {
  return releases.toReversed().map((release): Task => ({ type: 'ModulePurge', release, trigger }));
}

/**
 * Removes the releases that are held.
 *
 * @returns their names; none if nothing is held
 * @throws errors of the API client; then nothing is decided
 */
export async function confirmPurge(
  operator: PurgeReleasesParts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const {
    converge: { purge },
    router: { main },
  } = operator;
  if (typeof purge === 'string') return [];
  await operator.directoryMemory.write(operator.sources.modulesDirectories(), signal);
  operator.converge.decidePurge('decided');
  operator.log.warn({ releases: purge.releases }, 'Releases without a module are removed after confirmation');
  for (const task of purges(purge.releases, 'Purge-Confirmed')) main.append(task);
  return purge.releases;
}

/**
 * Whether a release stays although its module is gone. It is not uninstalled, but other objects of
 * the module may be left.
 */
async function isKept(operator: PurgeReleasesParts, release: string, signal: AbortSignal): Promise<boolean> {
  const known = await operator.releases.list(signal);
  return known.some(({ name, isKept }) => name === release && isKept === true);
}

/**
 * Handles ModulePurge: removes one release. A failure is only logged, because no other task depends
 * on it.
 */
export async function handleModulePurge(
  operator: PurgeReleasesParts,
  release: string,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases } = operator;
  const { finalizers } = operator.extensions;
  const { purgesForeignReleases: includeForeign } = operator.policy;
  // The module is back since the task was queued.
  if (operator.registry.find(release) !== undefined) return { type: 'success' };
  let isHeld = false;
  // A Module object that is held still waits for the reconcile webhook of the removed module.
  try {
    isHeld = (await finalizers?.isHeld(release, signal)) === true;
    if (isHeld && (await isKept(operator, release, signal))) {
      await finalizers?.releaseAbandoned(release, signal);
      return { type: 'success' };
    }
    if (isHeld) await finalizers?.finalizeAbandoned(release, signal);
    const run = { activation: '', queue: MAIN_QUEUE, task: {}, attempt: 1 };
    const notifyOfRemoval = await operator.deployHooks.beginRemoval({ name: release }, run, signal);
    const steps = await operator.extensions.uninstallSteps({ name: release }, signal);
    const span = operator.journal.spanIn(MAIN_QUEUE);
    const result = await releases.uninstall(release, { includeForeign, steps, span }, signal);
    if (result !== 'spared') await notifyOfRemoval();
    operator.memory.forget(release);
    if (isHeld) await finalizers?.releaseAbandoned(release, signal);
    // A spared release was logged by the driver.
    if (result === 'uninstalled') operator.log.info({ release }, 'Release without a module is removed');
  } catch (error) {
    rethrowAbort(error, signal);
    const outlook = isHeld ? 'its reconcile webhook is called again in five minutes.' : 'no retry.';
    operator.log.warn({ release, ...errorFields(error) }, `Module purge failed, ${outlook}`);
  }
  return { type: 'success' };
}
