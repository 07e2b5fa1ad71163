import type { JsonObject } from '../lib/json.ts';
import type { Module } from '../modules/module.ts';

export interface ReleaseInCluster {
  readonly name: string;
  readonly revision: number;
  /** Whether a daemon of ours made it. */
  readonly isOwned: boolean;
}

/** What the operator asks of helm. The release of a module has the module's name. */
export interface Releases {
  /** Brings the release to the chart and the values; does nothing where that is so already. */
  deploy(module: Module, values: JsonObject, signal: AbortSignal): Promise<void>;
  exists(name: string, signal: AbortSignal): Promise<boolean>;
  /** A release that is gone already is fine. */
  uninstall(name: string, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<readonly ReleaseInCluster[]>;
  /** Until the returned function is called, nobody looks whether objects of the release are missing. */
  pauseMonitor(module: string): () => void;
  stopMonitor(module: string): Promise<void>;
}
