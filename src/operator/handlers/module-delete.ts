import { factsOf, messageOf } from '../../lib/errors.ts';
import type { TaskOutcome, TaskQueue } from '../../queue/task-queue.ts';
import { type ModuleState, newModuleState } from '../module-state.ts';
import type { Operator } from '../operator.ts';
import { rethrowAbort } from '../rethrow-abort.ts';
import type { Task } from '../tasks.ts';
import { ensureHooks, type LifecycleRun, runLifecycleHooks } from './module-lifecycle.ts';

type DeleteTask = Extract<Task, { type: 'ModuleDelete' }>;

/** Ends a module that is disabled now: its release goes, then the afterDeleteHelm hooks run, then nothing of it runs. */
export async function handleModuleDelete(
  operator: Operator,
  task: DeleteTask,
  { name: queue }: TaskQueue<Task>,
  signal: AbortSignal,
): Promise<TaskOutcome<Task>> {
  const state = operator.stateOf(task.module);
  if (state === undefined || operator.isEnabled(task.module)) return { type: 'success' };
  const { log, metrics } = operator.deps;
  try {
    if (state.module.manifest.deletionPolicy === 'orphan') {
      await leaveModule(operator, state, signal);
      return { type: 'success' };
    }
    await deleteModule(operator, state, { activation: '', queue, task }, signal);
    log.info({ module: task.module }, 'ModuleDelete success, module is deleted');
    return { type: 'success' };
  } catch (error) {
    rethrowAbort(error, signal);
    state.lastError = messageOf(error);
    metrics.moduleDeleteError(task.module);
    log.error(
      { module: task.module, error: state.lastError, ...factsOf(error) },
      'ModuleDelete failed. Requeue task to retry after delay.',
    );
    return { type: 'retry', error };
  }
}

async function deleteModule(
  operator: Operator,
  state: ModuleState,
  run: LifecycleRun,
  signal: AbortSignal,
): Promise<void> {
  const { releases, values, log } = operator.deps;
  const { module } = state;
  await ensureHooks(operator, state, signal);
  // Should it be enabled again before all this is done, it starts from the beginning.
  Object.assign(state, { ...newModuleState(module), hooks: state.hooks });
  operator.dropTasksOf(state.hooks ?? []);
  await releases.stopMonitor(module.name);
  if (module.chart !== 'none') {
    if (await releases.exists(module.name, signal)) {
      await runLifecycleHooks(operator, state, 'beforeDeleteHelm', run, signal);
      await releases.uninstall(module.name, { includeForeign: false }, signal);
    } else {
      log.warn({ module: module.name }, 'Cannot find helm release for module.');
    }
  }
  await runLifecycleHooks(operator, state, 'afterDeleteHelm', run, signal);
  await stopModule(operator, state, signal);
  values.forgetPatches(module.name);
}

/** Ends a module whose release stays: nothing is deleted, so the hooks around a deletion do not run either. */
async function leaveModule(operator: Operator, state: ModuleState, signal: AbortSignal): Promise<void> {
  const { releases, values, log } = operator.deps;
  const { name } = state.module;
  await releases.stopMonitor(name);
  await releases.disown(name, signal);
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
  operator.moduleStates.delete(state.module.name);
}
