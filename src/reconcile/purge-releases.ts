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

/** What the functions here use of the operator. */
export interface PurgeReleasesParts {
  readonly registry: ModuleRegistry;
  readonly converge: ConvergeState;
  readonly router: TaskRouter;
  readonly log: Logger;
  readonly releases: Releases;
  /** The modules directories as they were when something was in them. */
  readonly directoryMemory: DirectoryMemory;
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
  readonly journal: Pick<Journal, 'spanIn'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'uninstallSteps'>;
  readonly policy: Pick<OperatorPolicy, 'allowsEmptyModulesDir' | 'ignoredRelease' | 'purgesForeignReleases'>;
  readonly deployHooks: Pick<DeployHooks, 'beginRemoval'>;
  readonly memory: Pick<ModuleMemory, 'forget' | 'names'>;
}

/**
 * Looks once, after the first converge, for releases without a module. Those a daemon of ours made are removed; foreign
 * ones in the same namespace stay, unless the settings say otherwise.
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
  if (!isDeepStrictEqual(plan.remembered, remembered)) await directoryMemory.write(plan.remembered, signal);
  operator.converge.decidePurge(held ?? 'decided');
  if (held !== undefined) {
    log.error(
      { ...held, command: CONFIRM_COMMAND },
      'Releases without a module are kept until their removal is confirmed',
    );
    return { type: 'success' };
  }
  // Those of a directory that is empty for now may come back.
  const awaited = new Set(plan.remembered.flatMap(({ modules }) => modules));
  for (const name of operator.memory.names)
    if (operator.registry.find(name) === undefined && !awaited.has(name)) operator.memory.forget(name);
  if (purged.length === 0) return { type: 'success' };
  log.info({ releases: namesOf(purged) }, 'Modules to purge found');
  return { type: 'success', after: purges(namesOf(purged), 'Operator-PostConvergeCleanup') };
}

/** What {@link purgeInput} uses of the operator. */
export interface PurgeInputParts {
  readonly registry: ModuleRegistry;
  readonly policy: Pick<OperatorPolicy, 'allowsEmptyModulesDir' | 'ignoredRelease' | 'purgesForeignReleases'>;
  readonly sources: Pick<ModuleSources, 'modulesDirectories'>;
}

/**
 * What {@link planPurge} is given.
 *
 * @param releases as they are after the first converge
 */
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

function purges(releases: readonly string[], trigger: string): readonly Task[] {
  return releases.toReversed().map((release): Task => ({ type: 'ModulePurge', release, trigger }));
}

/**
 * Removes the releases that wait for a decision.
 *
 * @returns their names; none when nothing waits
 * @throws what the API client throws; then nothing is decided
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

/** A release that stays although its module is gone is not purged, but its module may have left more behind. */
async function isKept(operator: PurgeReleasesParts, release: string, signal: AbortSignal): Promise<boolean> {
  const known = await operator.releases.list(signal);
  return known.some(({ name, isKept }) => name === release && isKept === true);
}

/** Removes one release. A failure is only reported: nothing depends on it. */
export async function handleModulePurge(
  operator: PurgeReleasesParts,
  release: string,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const { releases } = operator;
  const { finalizers } = operator.extensions;
  const { purgesForeignReleases: includeForeign } = operator.policy;
  if (operator.registry.find(release) !== undefined) return { type: 'success' };
  let isHeld = false;
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
    // The one that spares it has said so.
    if (result === 'uninstalled') operator.log.info({ release }, 'Release without a module is removed');
  } catch (error) {
    rethrowAbort(error, signal);
    const outlook = isHeld ? 'its reconcile webhook is called again in five minutes.' : 'no retry.';
    operator.log.warn({ release, ...errorFields(error) }, `Module purge failed, ${outlook}`);
  }
  return { type: 'success' };
}
