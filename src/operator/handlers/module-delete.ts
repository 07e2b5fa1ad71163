import type { Logger } from '@addon-operator/base/log';
import type { ValuesStore } from '../../values/values-store.ts';
import { type DeployHooks, deployedModule } from '../deploy-hooks.ts';
import type { ModuleOperations } from '../module-operations.ts';
import type { ModuleRegistry } from '../module-registry.ts';
import type { Releases } from '../releases.ts';
import type { HookBindings, ModuleExtensions } from '../services.ts';
import type { TaskRouter } from '../task-router.ts';
import type { TrackedModule } from '../tracked-module.ts';
import type { ModuleLifecycleParts } from './module-lifecycle.ts';
import { ensureHooks, type LifecycleRun, runLifecycleHooks } from './module-lifecycle.ts';

/** What the functions here use of the operator. */
export type ModuleDeleteParts = {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly operations: ModuleOperations;
  readonly log: Logger;
  readonly values: ValuesStore;
  readonly releases: Releases;
  readonly bindings: Pick<HookBindings, 'setSchedules' | 'setWebhooks'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'uninstallSteps'>;
  readonly deployHooks: Pick<DeployHooks, 'beginRemoval'>;
} & ModuleLifecycleParts;

/**
 * Ends a module that is disabled now: its release goes, then the afterDeleteHelm hooks run, then nothing of it runs.
 *
 * @throws what fails on the way; the next attempt begins anew
 */
export async function removeModule(
  operator: ModuleDeleteParts,
  tracked: TrackedModule,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  if (tracked.module.manifest.deletionPolicy === 'orphan') {
    await leaveModule(operator, tracked, signal);
    return;
  }
  await deleteModule(operator, tracked, run, signal);
  const { name } = tracked.module;
  // It was meant for what is gone now.
  if (operator.operations.of(name) === 'abort') operator.operations.take(name);
  operator.operations.begin(name);
  operator.log.info({ module: name }, 'ModuleDelete success, module is deleted');
}

async function deleteModule(
  operator: ModuleDeleteParts,
  tracked: TrackedModule,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  const { releases, values } = operator;
  const { finalizers } = operator.extensions;
  const { module } = tracked;
  await ensureHooks(operator, tracked, signal);
  tracked.startDeletion();
  operator.router.dropTasksOf(tracked.hooks ?? []);
  await releases.stopMonitor(module.name);
  await finalizers?.finalize(module, signal);
  if (module.chart !== 'none') await removeRelease(operator, tracked, run, signal);
  await runLifecycleHooks(operator, tracked, 'afterDeleteHelm', run, signal);
  await finalizers?.release(module, signal);
  await stopModule(operator, tracked, signal);
  values.forgetPatches(module.name);
}

async function removeRelease(
  operator: ModuleDeleteParts,
  tracked: TrackedModule,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  const { releases, log } = operator;
  const { uninstallSteps } = operator.extensions;
  const { module } = tracked;
  const notifyOfRemoval = await operator.deployHooks.beginRemoval(deployedModule(module), run, signal);
  if (await releases.exists(module.name, signal)) {
    await runLifecycleHooks(operator, tracked, 'beforeDeleteHelm', run, signal);
    const steps = await uninstallSteps(module, signal);
    operator.journal.enterPhase(run.queue, 'helm');
    const span = operator.journal.spanIn(run.queue);
    const result = await releases.uninstall(module.name, { includeForeign: false, steps, span }, signal);
    if (result === 'spared') return;
  } else {
    log.warn({ module: module.name }, 'Cannot find helm release for module.');
    // An attempt that removed it may have failed before hooks were notified.
    if (run.attempt === 1) return;
  }
  await notifyOfRemoval();
}

/** Ends a module whose release stays: nothing is deleted, so the hooks around a deletion do not run either. */
async function leaveModule(
  operator: ModuleDeleteParts,
  tracked: TrackedModule,
  signal: AbortSignal,
): Promise<void> {
  const { releases, values, log } = operator;
  const { finalizers } = operator.extensions;
  const { name } = tracked.module;
  await releases.stopMonitor(name);
  await releases.disown(name, signal);
  await finalizers?.release(tracked.module, signal);
  await stopModule(operator, tracked, signal);
  values.forgetPatches(name);
  log.warn({ module: name }, 'Module is disabled, its deletionPolicy is orphan: release and objects stay');
}

/** Ends the webhooks, monitors and schedules of a module; its next ModuleRun begins with the start-up. */
export async function stopModule(
  operator: ModuleDeleteParts,
  tracked: TrackedModule,
  signal: AbortSignal,
): Promise<void> {
  await operator.bindings.setWebhooks(tracked.hooks ?? [], false, signal);
  for (const runtime of tracked.hooks ?? []) {
    operator.bindings.setSchedules(runtime, false);
    await runtime.stop();
  }
  operator.router.dropTasksOf(tracked.hooks ?? []);
  operator.router.requeues.cancel(tracked.module.name);
  operator.registry.forget(tracked.module.name);
  // A run in the middle of the start-up begins anew.
  tracked.synchronization.wake();
}
