import { NO_SPAN, type Span } from '@addon-operator/base/trace';
import type { TaskQueue } from '@addon-operator/task-queue';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { stageOf } from '../model/module-state.ts';
import type { Releases } from '../model/releases.ts';
import type { Task } from '../model/tasks.ts';
import type { TrackedModule } from '../model/tracked-module.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToHelm } from '../values/visible-values.ts';

/** The parts that a preparation uses. */
export interface DeploymentPreparationParts {
  readonly registry: ModuleRegistry;
  readonly values: ValuesStore;
  readonly releases: Releases;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
}

/**
 * Starts the rendering of charts before a deployment needs the result. Helm then starts while hooks and other modules run. A preparation that turns out wrong is discarded by the
 * driver.
 */
export class DeploymentPreparation {
  readonly #parts: DeploymentPreparationParts;

  constructor(parts: DeploymentPreparationParts) {
    this.#parts = parts;
  }

  /**
   * Prepares a new module while the hooks before helm run. Other runs mostly find no change, so
   * they are not prepared.
   */
  first({ module }: TrackedModule, span: Span, signal: AbortSignal): void {
    if (!this.#parts.registry.deployed.has(module.name)) this.#prepare(module, span, signal);
  }

  /**
   * Prepares a module whose values were edited, before enabled scripts and hooks decide about them.
   */
  edited(name: ModuleName, span: Span, signal: AbortSignal): void {
    const tracked = this.#parts.registry.tracked.get(name);
    if (tracked !== undefined && stageOf(tracked.state).type === 'ready')
      this.#prepare(tracked.module, span, signal);
  }

  /** Prepares the next module of a converge while helm applies this one. */
  next(queue: TaskQueue<Task>, signal: AbortSignal): void {
    const next = queue.entries[1]?.task;
    if (next?.type !== 'ModuleRun' || this.#parts.registry.deployed.has(next.module)) return;
    const module = this.#parts.registry.tracked.get(next.module)?.module;
    if (module !== undefined) this.#prepare(module, next.root?.span ?? NO_SPAN, signal);
  }

  #prepare(module: TrackedModule['module'], span: Span, signal: AbortSignal): void {
    const { values, releases, configMapContent } = this.#parts;
    if (module.chart === 'none' || configMapContent().maintenance.has(module.key)) return;
    const start = async (): Promise<void> => {
      values.checkForHelm(module.name);
      await releases.prepare(module, visibleToHelm(values, module.name), span, signal);
    };
    // Errors are ignored: the deployment itself reports invalid values.
    start().catch(() => undefined);
  }
}
