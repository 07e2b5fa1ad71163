import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import { ResourceMonitor, type ResourceMonitorOptions } from '@addon-operator/helm/resource-monitor';
import { canonicalJson } from '@addon-operator/json';
import { type DriftMode, type DriftPolicy, type DriftReport, NO_DRIFT_POLICY } from './drift/drift-policy.ts';
import type { DriftOptions, DriftWatch } from './drift/module-drift.ts';

interface MonitorSetOptions extends ResourceMonitorOptions {
  /** The mode of modules without a wish of their own. */
  readonly driftMode: DriftMode;
  readonly startDrift: (
    options: DriftOptions,
  ) => Pick<DriftWatch, 'drifted' | 'uncompared' | 'recheck' | 'stop'>;
}

interface Monitored {
  readonly monitor: ResourceMonitor;
  readonly policy: DriftPolicy;
  readonly mode: DriftMode;
  /** Undefined while drift is off for the module. */
  readonly drift: ReturnType<MonitorSetOptions['startDrift']> | undefined;
}

/**
 * The monitors of all releases: one per module, which polls for missing objects, and optionally a
 * watch for drift. The driver starts them after each deployment, and pauses them while hooks and
 * helm change objects.
 */
export class MonitorSet {
  readonly #options: MonitorSetOptions;
  readonly #modules = new Map<string, Monitored>();
  readonly #pauses = new Map<string, number>();

  constructor(options: MonitorSetOptions) {
    this.#options = options;
  }

  /** Watches `objects` from now on, in place of the previous ones. */
  async restart(module: string, objects: readonly ManifestObject[], policy = NO_DRIFT_POLICY): Promise<void> {
    await this.stop(module);
    this.#start(module, objects, policy);
  }

  /** Starts a monitor if the module has none, or one with another policy. */
  async ensure(module: string, objects: readonly ManifestObject[], policy = NO_DRIFT_POLICY): Promise<void> {
    const known = this.#modules.get(module);
    if (known !== undefined && canonicalJson(known.policy) === canonicalJson(policy)) return;
    await this.restart(module, objects, policy);
  }

  /** Pauses the monitor of a module until the returned function is called; pauses add up. */
  pause(module: string): () => void {
    this.#pauses.set(module, (this.#pauses.get(module) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#pauses.set(module, (this.#pauses.get(module) ?? 1) - 1);
      // Drift that was seen during the pause is compared now.
      this.#modules.get(module)?.drift?.recheck();
    };
  }

  /** `<namespace>/<Kind>/<name>` of each object watched for a module, sorted; undefined without a monitor. */
  resources(module: string): readonly string[] | undefined {
    return this.#modules.get(module)?.monitor.resources;
  }

  /** Drift of the objects of a module; undefined without a monitor. */
  drift(module: string): DriftReport | undefined {
    const known = this.#modules.get(module);
    if (known === undefined) return undefined;
    const { mode, drift } = known;
    const uncompared = drift?.uncompared ?? [];
    return { mode, objects: drift?.drifted ?? [], ...(uncompared.length > 0 && { uncompared }) };
  }

  /** Called when pauses change, so that corrections may continue. */
  recheckDrift(): void {
    for (const { drift } of this.#modules.values()) drift?.recheck();
  }

  async stop(module: string): Promise<void> {
    // Removed at once, so that a restart during the stop starts a new monitor.
    const known = this.#modules.get(module);
    this.#modules.delete(module);
    await Promise.all([known?.monitor.stop(), known?.drift?.stop()]);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#modules.keys()].map((module) => this.stop(module)));
  }

  #start(module: string, objects: readonly ManifestObject[], policy: DriftPolicy): void {
    const { driftMode, startDrift } = this.#options;
    const isPaused = (): boolean => (this.#pauses.get(module) ?? 0) > 0;
    const monitor = ResourceMonitor.start(module, objects, isPaused, this.#options);
    const mode = policy.mode ?? driftMode;
    const onAbsent = (): void => monitor.lookNow();
    const drift = mode === 'off' ? undefined : startDrift({ module, policy, mode, isPaused, onAbsent });
    this.#modules.set(module, { monitor, policy, mode, drift });
  }
}
