import { beginRemoval, deployedModule } from '../deploy-hooks.ts';
import { type ModuleState, newModuleState } from '../module-state.ts';
import type { Operator } from '../operator.ts';
import { ensureHooks, type LifecycleRun, runLifecycleHooks } from './module-lifecycle.ts';

/**
 * Ends a module that is disabled now: its release goes, then the afterDeleteHelm hooks run, then nothing of it runs.
 *
 * @throws what fails on the way; the next attempt begins anew
 */
export async function removeModule(
  operator: Operator,
  state: ModuleState,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  if (state.module.manifest.deletionPolicy === 'orphan') {
    await leaveModule(operator, state, signal);
    return;
  }
  await deleteModule(operator, state, run, signal);
  const { name } = state.module;
  // It was meant for what is gone now.
  if (operator.operations.of(name) === 'abort') operator.operations.take(name);
  operator.operations.begin(name);
  operator.deps.log.info({ module: name }, 'ModuleDelete success, module is deleted');
}

async function deleteModule(
  operator: Operator,
  state: ModuleState,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  const { releases, values, finalizers } = operator.deps;
  const { module } = state;
  await ensureHooks(operator, state, signal);
  // Should it be enabled again before all this is done, it starts from the beginning.
  Object.assign(state, { ...newModuleState(module), hooks: state.hooks, pendingWork: 'deletion' });
  operator.dropTasksOf(state.hooks ?? []);
  await releases.stopMonitor(module.name);
  await finalizers?.finalize(module, signal);
  if (module.chart !== 'none') await removeRelease(operator, state, run, signal);
  await runLifecycleHooks(operator, state, 'afterDeleteHelm', run, signal);
  await finalizers?.release(module, signal);
  await stopModule(operator, state, signal);
  values.forgetPatches(module.name);
}

async function removeRelease(
  operator: Operator,
  state: ModuleState,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  const { releases, log, uninstallSteps } = operator.deps;
  const { module } = state;
  const tellRemoved = await beginRemoval(operator, deployedModule(module), run, signal);
  if (await releases.exists(module.name, signal)) {
    await runLifecycleHooks(operator, state, 'beforeDeleteHelm', run, signal);
    const steps = await uninstallSteps(module, signal);
    const result = await releases.uninstall(module.name, { includeForeign: false, steps }, signal);
    if (result === 'spared') return;
  } else {
    log.warn({ module: module.name }, 'Cannot find helm release for module.');
    // An attempt that removed it may have failed before anybody was told.
    if (run.attempt === 1) return;
  }
  await tellRemoved();
}

/** Ends a module whose release stays: nothing is deleted, so the hooks around a deletion do not run either. */
async function leaveModule(operator: Operator, state: ModuleState, signal: AbortSignal): Promise<void> {
  const { releases, values, log, finalizers } = operator.deps;
  const { name } = state.module;
  await releases.stopMonitor(name);
  await releases.disown(name, signal);
  await finalizers?.release(state.module, signal);
  await stopModule(operator, state, signal);
  values.forgetPatches(name);
  log.warn({ module: name }, 'Module is disabled, its deletionPolicy is orphan: release and objects stay');
}

/** Ends the webhooks, monitors and schedules of a module; its next ModuleRun begins with the start-up. */
export async function stopModule(operator: Operator, state: ModuleState, signal: AbortSignal): Promise<void> {
  await operator.deps.setWebhooks(state.hooks ?? [], false, signal);
  for (const runtime of state.hooks ?? []) {
    operator.deps.setSchedules(runtime, false);
    await runtime.stop();
  }
  operator.dropTasksOf(state.hooks ?? []);
  operator.requeues.cancel(state.module.name);
  operator.registry.states.delete(state.module.name);
  // A run in the middle of the start-up begins anew.
  state.synchronization.wake();
}
