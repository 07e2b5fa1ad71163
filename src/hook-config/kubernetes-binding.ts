/** The kubernetes binding as `events/kubernetes` watches it, and the events and snapshots that it produces. */

import type { KubeObject } from '@addon-operator/kube-client/kube-object';

export type WatchEventType = 'Added' | 'Modified' | 'Deleted';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '==' | 'Equals' | '!=' | 'NotEquals';
  readonly value: string;
}

/** Which objects a kubernetes binding watches, and what of them it keeps. */
export interface KubernetesBindingSpec {
  readonly name: string;
  /** `v1` or `group/version`; without it the server's preferred version of the kind. */
  readonly apiVersion?: string;
  /** Kind, plural or short name, in any case. */
  readonly kind: string;
  /** Names of objects; absent or empty = all. */
  readonly nameSelector?: readonly string[];
  readonly labelSelector?: LabelSelector;
  readonly fieldSelector?: readonly FieldRequirement[];
  /** A label selector, where given, makes the name selector void. */
  readonly namespace?: { readonly nameSelector?: readonly string[]; readonly labelSelector?: LabelSelector };
  readonly jqFilter?: string;
  /** False: only the filter result of an object is kept, and the object is missing in contexts and snapshots. */
  readonly keepFullObjects: boolean;
  /** Which events run the hook; the snapshot follows all of them. */
  readonly executeOnEvents: readonly WatchEventType[];
}

/** One object of a snapshot as a hook sees it. `filterResult` is present iff the binding has a jqFilter. */
export interface SnapshotItem {
  readonly object?: KubeObject;
  readonly filterResult?: unknown;
}

/** A change of one watched object. `item` holds its last known state when it was deleted. */
export interface KubernetesEvent {
  readonly watchEvent: WatchEventType;
  /** Names the object among those of its binding. */
  readonly key: string;
  readonly item: SnapshotItem;
}
