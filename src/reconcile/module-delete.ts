import type { Logger } from '@addon-operator/base/log';
import type { Journal } from '../journal/journal.ts';
import type { ModuleOperations } from '../model/module-operations.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Releases } from '../model/releases.ts';
import type { HookBindings, ModuleExtensions } from '../model/services.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { LateTick } from '../queues/late-ticks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { type DeployHooks, deployedModule } from './deploy-hooks.ts';
import type { LifecycleRun, ModuleLifecycle } from './module-lifecycle.ts';
import { type Authorization, deletionRefusal } from './verify-module.ts';

/** The parts that deletions use. */
export interface ModuleRemovalParts {
  readonly registry: ModuleRegistry;
  readonly router: TaskRouter;
  readonly operations: ModuleOperations;
  readonly log: Logger;
  readonly values: ValuesStore;
  readonly releases: Releases;
  readonly bindings: Pick<HookBindings, 'setSchedules' | 'setWebhooks'>;
  readonly extensions: Pick<ModuleExtensions, 'finalizers' | 'uninstallSteps'>;
  readonly deployHooks: Pick<DeployHooks, 'beginRemoval'>;
  readonly journal: Pick<Journal, 'enterPhase' | 'spanIn'>;
  readonly lifecycle: ModuleLifecycle;
  /** Undefined when every module may run. */
  readonly authorization: Authorization | undefined;
}

/**
 * Deletes modules that are not enabled any more. `reconcileModule()` calls `remove` for each
 * attempt of a ModuleDelete; the reload of files and hand-overs call `stop` alone.
 */
export class ModuleRemoval {
  readonly #parts: ModuleRemovalParts;

  constructor(parts: ModuleRemovalParts) {
    this.#parts = parts;
  }

  /**
   * Deletes a module: its release is uninstalled, the afterDeleteHelm hooks run, then hooks are
   * stopped.
   *
   * @throws the error of any step; the next attempt starts from the beginning
   */
  async remove(tracked: TrackedModule, run: LifecycleRun, signal: AbortSignal): Promise<void> {
    const refusal = await deletionRefusal(this.#parts.authorization, tracked.module, signal);
    if (refusal !== undefined) {
      await this.#keep(tracked, refusal, signal);
      return;
    }
    if (tracked.module.manifest.deletionPolicy === 'orphan') {
      await this.#leave(tracked, signal);
      return;
    }
    await this.#delete(tracked, run, signal);
    const { name } = tracked.module;
    // An abort was requested for the run that is gone now.
    if (this.#parts.operations.of(name) === 'abort') this.#parts.operations.take(name);
    this.#parts.operations.begin(name);
    this.#parts.log.info({ module: name }, 'ModuleDelete success, module is deleted');
  }

  async #delete(tracked: TrackedModule, run: LifecycleRun, signal: AbortSignal): Promise<void> {
    const { releases, values } = this.#parts;
    const { finalizers } = this.#parts.extensions;
    const { module } = tracked;
    // The hooks of the deletion are needed, also when this process never started the module.
    await this.#parts.lifecycle.ensureHooks(tracked, signal);
    tracked.startDeletion();
    // Events for a module that goes away are pointless; its hooks still run below, but not for
    // events.
    this.#parts.router.dropTasksOf(tracked.hooks ?? []);
    // The monitor would report the removed objects as absent and queue a run.
    await releases.stopMonitor(module.name);
    await finalizers?.finalize(module, signal);
    if (module.chart !== 'none') await this.#removeRelease(tracked, run, signal);
    await this.#parts.lifecycle.run(tracked, 'afterDeleteHelm', run, signal);
    // The finalizer is removed last: until then a restart finds the unfinished deletion.
    await finalizers?.release(module, signal);
    await this.stop(tracked, signal);
    values.forgetPatches(module.name);
  }

  async #removeRelease(tracked: TrackedModule, run: LifecycleRun, signal: AbortSignal): Promise<void> {
    const { releases, log } = this.#parts;
    const { uninstallSteps } = this.#parts.extensions;
    const { module } = tracked;
    const notifyOfRemoval = await this.#parts.deployHooks.beginRemoval(deployedModule(module), run, signal);
    if (await releases.exists(module.name, signal)) {
      await this.#parts.lifecycle.run(tracked, 'beforeDeleteHelm', run, signal);
      const steps = await uninstallSteps(module, signal);
      this.#parts.journal.enterPhase(run.queue, 'helm');
      const span = this.#parts.journal.spanIn(run.queue);
      const result = await releases.uninstall(module.name, { includeForeign: false, steps, span }, signal);
      if (result === 'spared') return;
    } else {
      log.warn({ module: module.name }, 'Cannot find helm release for module.');
      // An earlier attempt may have removed the release and failed before the hooks were notified.
      if (run.attempt === 1) return;
    }
    await notifyOfRemoval();
  }

  /**
   * Stops a refused module without a deletion: its objects stay, because the hooks of a deletion
   * must not run either.
   */
  async #keep(tracked: TrackedModule, refusal: string, signal: AbortSignal): Promise<void> {
    const { registry, releases, router } = this.#parts;
    const { name } = tracked.module;
    registry.refuse(name, { type: 'unauthorized', reason: refusal });
    await releases.stopMonitor(name);
    await this.stop(tracked, signal);
    router.restartConverge('ReloadAllModules', 'Module-Refused');
  }

  /**
   * Stops a module with `deletionPolicy: orphan`: nothing is deleted, so the hooks around a
   * deletion do not run.
   */
  async #leave(tracked: TrackedModule, signal: AbortSignal): Promise<void> {
    const { releases, values, log } = this.#parts;
    const { finalizers } = this.#parts.extensions;
    const { name } = tracked.module;
    await releases.stopMonitor(name);
    await releases.disown(name, signal);
    await finalizers?.release(tracked.module, signal);
    await this.stop(tracked, signal);
    values.forgetPatches(name);
    log.warn({ module: name }, 'Module is disabled, its deletionPolicy is orphan: release and objects stay');
  }

  /**
   * Stops the webhooks, monitors and schedules of a module; its next ModuleRun begins with the
   * start-up.
   *
   * @returns ticks of schedules that were not served
   */
  async stop(tracked: TrackedModule, signal: AbortSignal): Promise<readonly LateTick[]> {
    // Webhooks first: the API server must not call a hook that is stopped.
    await this.#parts.bindings.setWebhooks(tracked.hooks ?? [], false, signal);
    for (const runtime of tracked.hooks ?? []) {
      this.#parts.bindings.setSchedules(runtime, false);
      await runtime.stop();
    }
    const { router } = this.#parts;
    const { name } = tracked.module;
    const ticks = [...router.lateTicks.take(name), ...router.dropTasksOf(tracked.hooks ?? [])];
    router.requeues.cancel(name);
    this.#parts.registry.forget(name);
    // A run that waits for Synchronizations would wait for ever: woken, it starts from the
    // beginning.
    tracked.synchronization.wake();
    return ticks;
  }
}
