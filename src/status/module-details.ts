/** Data for the pages of one module: layered values, hook patches, snapshots, hooks, revisions, watches. */

import type { Json } from '@addon-operator/json';
import type { RunView } from '../journal/run-view.ts';

/** Where a value comes from, the strongest first: a patch of a hook, the ConfigMap, values files, a default of a schema. */
export type ValueLayer = 'hook' | 'config-map' | 'files' | 'default';

/** One value that is no map, or an empty map. References to Secrets are as they are written. */
export interface LayeredValue {
  /** JSON pointer below the section. */
  readonly pointer: string;
  readonly value: Json;
  readonly layer: ValueLayer;
  /** Name of the hook that set it; empty for other layers. */
  readonly hook: string;
  /** Values of weaker layers in its place, the strongest first. */
  readonly below: readonly { readonly layer: ValueLayer; readonly value: Json }[];
}

/** One operation on values that is kept in memory. */
export interface HookPatchView {
  readonly hook: string;
  readonly op: string;
  /** JSON pointer, with the name of the section in front. */
  readonly path: string;
  /** Null for a removal. */
  readonly value: Json;
}

/** The snapshots of one hook. */
export interface HookSnapshots {
  readonly hook: string;
  readonly bindings: readonly BindingSnapshot[];
}

export interface BindingSnapshot {
  readonly binding: string;
  readonly kind: string;
  readonly queue: string;
  /** Objects in the snapshot. */
  readonly count: number;
  /** Events since the operator started. */
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  /** Why it may be out of date; null while it is not. */
  readonly problem: string | null;
  /** The first 200 objects. */
  readonly items: readonly SnapshotItemView[];
  /** Objects that are not listed. */
  readonly more: number;
}

export interface SnapshotItemView {
  /** Names are empty where the binding keeps filter results only. */
  readonly namespace: string;
  readonly name: string;
  /** The part that the hook receives: the result of the filter, or the object; `***` for a Secret, null if it is too large. */
  readonly content: unknown;
  /** Length of the content as JSON. */
  readonly length: number;
}

/** One hook with what runs it. */
export interface HookView {
  readonly name: string;
  /** How it is run: `executable`, `in-process` or `http`. */
  readonly transport: string;
  /** For how long it has been running; null while it does not. */
  readonly runningMs: number | null;
  readonly bindings: readonly HookBindingView[];
  /** The last five runs, the newest first. */
  readonly runs: readonly RunView[];
}

/** Strings are empty, and others null, where there is nothing. */
export interface HookBindingView {
  /** `schedule`, `kubernetes`, `beforeHelm` and so on. */
  readonly type: string;
  readonly name: string;
  /** The queue of the runs; that of the module run for lifecycle bindings. */
  readonly queue: string;
  /** Of a lifecycle binding. */
  readonly order: number | null;
  readonly crontab: string;
  /** The next tick of the crontab. */
  readonly nextAt: string | null;
  /** The kind of the watched objects. */
  readonly kind: string;
  readonly allowFailure: boolean;
}

/** One revision of a helm release. */
export interface RevisionView {
  readonly revision: number;
  /** Helm's own. */
  readonly status: string;
  /** The outcome: `running`, `replaced`, `failed`, `rolled-back` or `unfinished`. */
  readonly outcome: string;
  /** Why it failed or was rolled back, or what it is a rollback to; empty for others. */
  readonly reason: string;
  /** Of the module, else of its chart; empty if neither is known. */
  readonly version: string;
  /** Digest of the files of the module; null where it is not recorded. */
  readonly files: string | null;
  /** Whether the section of the ConfigMap is recorded. */
  readonly hasSection: boolean;
  readonly deployedAt: string | null;
  /** `<name>-<version>`; empty if the record cannot be read. */
  readonly chart: string;
  /** The description that helm stored, or why the record cannot be read. */
  readonly description: string;
}

/** One version of a module that a source delivered. */
export interface VersionView {
  readonly version: string;
  /** Of its manifest. */
  readonly digest: string;
  /** The newest of the helm release that was deployed while it ran; null without one. */
  readonly revision: number | null;
  readonly at: string;
  readonly outcome: string;
  readonly reason: string;
  readonly hasValues: boolean;
}

/** One watch of a binding. */
export interface WatchView {
  /** Empty for a global hook. */
  readonly module: string;
  readonly hook: string;
  readonly binding: string;
  readonly kind: string;
  /** Since the API server last confirmed the state; null before the first list. */
  readonly ageMs: number | null;
  /** Why it cannot be opened; null while it is open. */
  readonly problem: string | null;
}
