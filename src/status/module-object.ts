import type { KubeObject } from '../kube/kube-object.ts';
import { MODULE_GROUP } from './module-crd.ts';

/** Names the operator an object belongs to, as `<namespace>/<ConfigMap>`. */
export const OPERATOR_ANNOTATION = `${MODULE_GROUP}/operator`;
/** For selecting the objects of one operator. */
export const NAMESPACE_LABEL = `${MODULE_GROUP}/operator-namespace`;
/** What a user asks to be done with a module. */
export const OPERATION_ANNOTATION = `${MODULE_GROUP}/operation`;

const OPERATIONS = ['reconcile', 'force-reconcile', 'abort'] as const;
export type ModuleOperation = (typeof OPERATIONS)[number];

/** A Module, as others may use it. */
export interface ModuleObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** `<namespace>/<ConfigMap>` of its operator; undefined for an object that nobody has claimed. */
  readonly operator: string | undefined;
  /** Undefined also for a word that is no operation. */
  readonly operation: ModuleOperation | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** It goes as soon as its finalizers are gone. */
  readonly isDeleting: boolean;
  /** As it is in the cluster, fields of others included. */
  readonly status: unknown;
}

/** Reads what the API server sent. */
export function readModuleObject({ metadata, ...object }: KubeObject): ModuleObject {
  const { name, uid = '', resourceVersion = '', annotations = {} } = metadata;
  const { generation, finalizers } = metadata;
  const word = annotations[OPERATION_ANNOTATION];
  return {
    name,
    uid,
    resourceVersion,
    generation: typeof generation === 'number' ? generation : 1,
    operator: annotations[OPERATOR_ANNOTATION],
    operation: OPERATIONS.find((operation) => operation === word),
    annotations,
    finalizers: Array.isArray(finalizers) ? finalizers.filter((item) => typeof item === 'string') : [],
    isDeleting: metadata['deletionTimestamp'] !== undefined,
    status: object['status'],
  };
}
