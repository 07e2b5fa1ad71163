// The objects of a release as the page, the API and `module objects` show them.

/**
 * `ready` by the rules of kstatus. `missing`: the API server has no such object. `not-permitted`: the operator may not read
 * this kind. `unknown`: it could not be read, or the kind is not served.
 */
export type ObjectState = 'ready' | 'not-ready' | 'missing' | 'not-permitted' | 'unknown';

/** An Event about an object or its pods. */
export interface ObjectEvent {
  /** When it happened last. */
  readonly at: string;
  /** `Normal` or `Warning`. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** How often. */
  readonly count: number;
}

/** One object; never its data. Strings are empty where there is nothing. */
export interface ReleaseObjectView {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
  readonly state: ObjectState;
  /** Why it is not ready, or not known. */
  readonly reason: string;
  readonly createdAt: string | null;
  /** JSON pointers of fields that others changed; empty without drift detection. */
  readonly drift: readonly string[];
  /** Of the last hour, the newest first, at most five. */
  readonly events: readonly ObjectEvent[];
  /** The command that prints the logs of its pods; empty for an object without pods. */
  readonly logs: string;
  /** The command that describes it. */
  readonly describe: string;
}

export interface ReleaseObjects {
  /** Problems first, then in the order of the manifest. */
  readonly objects: readonly ReleaseObjectView[];
  /** Why Events are not shown; empty if they are. */
  readonly eventsProblem: string;
}
