import type { ApiResource, KubeObject } from './kube-object.ts';

/** Which objects a reflector follows: one collection, narrowed on the server. */
export interface Selection {
  readonly resource: ApiResource;
  /** Absent: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string;
  /** Selector as in the query, for instance `app=web,tier!=db`. */
  readonly labelSelector?: string;
  /** Selector as in the query, for instance `metadata.name=web`. */
  readonly fieldSelector?: string;
  /** Only `metadata` of the objects is requested. Default false. */
  readonly isMetadataOnly?: boolean;
}

/** A change since the last call of the sink. */
export type ReflectorEvent =
  | { readonly type: 'Added' | 'Modified'; readonly key: string; readonly object: KubeObject }
  | {
      readonly type: 'Deleted';
      readonly key: string;
      /** Undefined when the deletion was noticed only by the object's absence from a list. */
      readonly object: KubeObject | undefined;
    };

/**
 * Receives one complete state, page by page, and then every change to it. Calls never overlap: the next one is made when
 * the promise of the last one has settled.
 */
export interface ReflectorSink {
  /** Takes a part of the initial state. Rejecting makes the subscription fail with that error. */
  stage(objects: readonly KubeObject[]): Promise<void>;
  /** Forgets what was staged: the list starts again. */
  discard(): void;
  /** The staged objects are the whole state at one resource version. */
  commit(): void;
  apply(event: ReflectorEvent): Promise<void>;
  /** A complete list was compared with the state, and every difference was applied. */
  relisted?(): void;
  /** The server confirmed the state: by a list, an opened watch, a change or a bookmark. */
  confirmed?(): void;
  /** A list or a watch failed: until {@link ReflectorSink.confirmed} the state may be out of date. */
  failed?(error: unknown): void;
}

/** Reflectors shared by all bindings that select the same objects. */
export interface SharedReflectors {
  /**
   * Passes the complete current state to `sink`, resolves, and then passes every change until `signal` aborts. After a
   * lost connection the changes are computed from a new list: intermediate states may be missing, the last one never is.
   *
   * @throws KubeApiError or OperatorError KUBE_UNREACHABLE when the first list fails; nothing is retried then
   * @throws what `sink.stage` threw
   * @throws `signal.reason` when the signal aborts before the state is complete
   */
  subscribe(selection: Selection, sink: ReflectorSink, signal: AbortSignal): Promise<void>;
}

/** Name of an object within a selection: `namespace/name`, with an empty namespace for cluster-scoped objects. */
export function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}
