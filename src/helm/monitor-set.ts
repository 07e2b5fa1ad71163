import type { ManifestObject } from './manifest-object.ts';
import { ResourceMonitor, type ResourceMonitorOptions } from './resource-monitor.ts';

/** The resource monitors of all modules: one for each module with a release, at most. */
export class MonitorSet {
  readonly #options: ResourceMonitorOptions;
  readonly #monitors = new Map<string, ResourceMonitor>();
  readonly #pauses = new Map<string, number>();

  constructor(options: ResourceMonitorOptions) {
    this.#options = options;
  }

  /** Watches `objects` from now on, instead of what was watched for the module before. */
  async restart(module: string, objects: readonly ManifestObject[]): Promise<void> {
    await this.stop(module);
    this.ensure(module, objects);
  }

  /** Starts a monitor if the module has none. */
  ensure(module: string, objects: readonly ManifestObject[]): void {
    if (this.#monitors.has(module)) return;
    const isPaused = (): boolean => (this.#pauses.get(module) ?? 0) > 0;
    this.#monitors.set(module, ResourceMonitor.start(module, objects, isPaused, this.#options));
  }

  /** Skips ticks of a module until the returned function is called; pauses add up. */
  pause(module: string): () => void {
    this.#pauses.set(module, (this.#pauses.get(module) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#pauses.set(module, (this.#pauses.get(module) ?? 1) - 1);
    };
  }

  /** `<namespace>/<Kind>/<name>` of each object watched for a module, sorted; undefined without a monitor. */
  resources(module: string): readonly string[] | undefined {
    return this.#monitors.get(module)?.resources;
  }

  async stop(module: string): Promise<void> {
    const monitor = this.#monitors.get(module);
    this.#monitors.delete(module);
    await monitor?.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#monitors.keys()].map((module) => this.stop(module)));
  }
}
