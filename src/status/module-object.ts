/** The shape of Module objects: annotations, labels, finalizer, and how an object is created and parsed. */

import { fieldsOf, stringsOf } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { MODULE_API_VERSION, MODULE_GROUP, MODULE_RESOURCE } from './module-crd.ts';

/** Who the operator's own fields of objects are written as. */
export const FIELD_MANAGER = 'addon-operator';

/** Names the operator an object belongs to, as `<namespace>/<ConfigMap>`. */
export const OPERATOR_ANNOTATION = `${MODULE_GROUP}/operator`;
/** For selecting the objects of one operator. */
export const NAMESPACE_LABEL = `${MODULE_GROUP}/operator-namespace`;
/** An operation on a module that a user can request. */
export const OPERATION_ANNOTATION = `${MODULE_GROUP}/operation`;

/** Keeps the object of a module until the module's reconcile webhook has finalized it. */
export const HOOK_FINALIZER = `${MODULE_GROUP}/finalize-hook`;
/** The definition of the reconcile webhook in `module.yaml` at the last run, for when the module's directory is gone. */
export type FinalizerRelease = 'enabled' | 'deleting' | 'released' | 'not-held';

/** The HTTP hook in `module.yaml` when the module was run last, for when the module's directory is gone. */
export const HOOK_ANNOTATION = `${MODULE_GROUP}/hook`;

export const OPERATIONS = ['reconcile', 'force-reconcile', 'abort'] as const;
export type ModuleOperation = (typeof OPERATIONS)[number];

/** A Module, as others may use it. */
export interface ModuleObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** `<namespace>/<ConfigMap>` of its operator; undefined for an object without an owner. */
  readonly operator: string | undefined;
  /** Undefined also for an unknown operation. */
  readonly operation: ModuleOperation | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** It goes as soon as its finalizers are gone. */
  readonly isDeleting: boolean;
  /** As it is in the cluster, fields of others included. */
  readonly status: unknown;
}

/** Labels and annotations of objects that belong to the operator in a namespace with a ConfigMap. */
export function ownerMarks(namespace: string, operator: string) {
  return {
    labels: { 'app.kubernetes.io/managed-by': 'addon-operator', [NAMESPACE_LABEL]: namespace },
    annotations: { [OPERATOR_ANNOTATION]: operator },
  };
}

/** A new object of a module, as it is sent to be created. */
export function newModuleObject(module: string, namespace: string, operator: string) {
  const metadata = { name: module, ...ownerMarks(namespace, operator) };
  return { apiVersion: MODULE_API_VERSION, kind: MODULE_RESOURCE.kind, metadata };
}

/** Reads the object of a module from a response of the API server, which may have any shape. */
export function respondedObject(reply: unknown, module: string): KubeObject {
  const object = fieldsOf(reply);
  const metadata = fieldsOf(object['metadata']);
  return { ...object, metadata: { name: module, ...metadata } };
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
    finalizers: stringsOf(finalizers),
    isDeleting: metadata['deletionTimestamp'] !== undefined,
    status: object['status'],
  };
}
