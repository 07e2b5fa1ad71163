import type { HookLoader } from '../hooks/load-hooks.ts';
import type { Redactor } from '../lib/redactor.ts';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { Settings } from '../settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';

/** What the operator is built from. */
export interface BuildOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  readonly metrics: OperatorMetrics;
  readonly hookMetrics: HookMetrics;
  readonly configMap: ConfigMapStore;
  readonly loader: HookLoader;
  /** The mirror of modules in the cluster; undefined where there is none. */
  readonly objects: ModuleObjects | undefined;
  /** Keeps texts of Secrets out of what people get to read. */
  readonly redactor: Redactor;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
  /** Called when an attempt of a task begins, and when it ends. */
  readonly onTask: () => void;
  /** What is started later is entered here. */
  readonly running: AsyncDisposableStack;
  /** Nothing is run, and nothing is written to the cluster. */
  readonly isInspection?: true;
}
