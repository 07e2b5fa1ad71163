import type { DriftMode } from './drift-policy.ts';

/** An object that is not as helm applied it. */
export interface DriftedObject {
  /** `<namespace>/<Kind>/<name>`, the namespace as the manifest has it. */
  readonly resource: string;
  /** JSON pointers into the object in the cluster, sorted. */
  readonly fields: readonly string[];
  /** Field managers that changed it, the last one first; may be empty. */
  readonly changedBy: readonly string[];
  /** When it was noticed, in ms since the epoch. */
  readonly sinceMs: number;
  readonly remedy: /** Nobody changes it back. */
    | { readonly type: 'none' }
    /** It is changed back when the module is no longer paused. */
    | { readonly type: 'held' }
    /** It was changed back too often lately: not before `dueMs` on the steady clock, which is `untilMs` on the wall clock. */
    | { readonly type: 'delayed'; readonly dueMs: number; readonly untilMs: number }
    /** The server refused the change: it is tried again then. */
    | { readonly type: 'refused'; readonly untilMs: number };
}

/** Drift of the objects of one module. */
export interface DriftReport {
  readonly mode: DriftMode;
  /** By resource. */
  readonly objects: readonly DriftedObject[];
  /** Objects that could not be compared, by resource; absent without any. */
  readonly uncompared?: readonly UncomparedObject[];
}

/** An object that could not be compared with what helm applied, and will not be before it changes again or can be watched. */
export interface UncomparedObject {
  /** `<namespace>/<Kind>/<name>`. */
  readonly resource: string;
  readonly error: string;
}

/** What is worth counting. */
export type DriftEvent = {
  readonly type: 'drifted' | 'healed';
  readonly module: string;
  readonly resource: string;
};
