import { stringOf } from '@addon-operator/json';
/** One object that an operation addresses. */
export interface ObjectTarget {
  /** Undefined: the preferred version of the kind. */
  readonly apiVersion: string | undefined;
  /** Kind, plural or short name. */
  readonly kind: string;
  /** Empty: a cluster-scoped request. */
  readonly namespace: string;
  readonly name: string;
}

/** An object to be created; it has a name or a generateName. */
export interface NewObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface CreateOperation {
  readonly operation: 'Create' | 'CreateIfNotExists' | 'CreateOrUpdate';
  readonly object: NewObject;
}

export interface DeleteOperation {
  readonly operation: 'Delete' | 'DeleteInBackground' | 'DeleteNonCascading';
  readonly target: ObjectTarget;
}

interface Patching {
  readonly target: ObjectTarget;
  /** For instance `status`; undefined: the object itself. */
  readonly subresource: string | undefined;
  /** A missing object is no failure. */
  readonly ignoreMissingObject: boolean;
}

export interface JqPatchOperation extends Patching {
  readonly operation: 'JQPatch';
  readonly jqFilter: string;
}

export interface MergePatchOperation extends Patching {
  readonly operation: 'MergePatch';
  readonly mergePatch: Readonly<Record<string, unknown>>;
}

export interface ObjectJsonPatch extends Patching {
  readonly operation: 'JSONPatch';
  readonly jsonPatch: readonly unknown[];
}

/** One operation on one object of the cluster, as a hook requests it. */
export type PatchOperation =
  | CreateOperation
  | DeleteOperation
  | JqPatchOperation
  | MergePatchOperation
  | ObjectJsonPatch;

/** For instance `Create object v1/ConfigMap/default/name`. */
export function describeOperation(operation: PatchOperation): string {
  switch (operation.operation) {
    case 'Create':
    case 'CreateIfNotExists':
    case 'CreateOrUpdate':
      return `Create object ${pathOf(targetOf(operation.object))}`;
    case 'Delete':
    case 'DeleteInBackground':
    case 'DeleteNonCascading':
      return `Delete object ${pathOf(operation.target)}`;
    case 'JQPatch':
    case 'MergePatch':
    case 'JSONPatch':
      return `Filter object ${pathOf(operation.target)}`;
  }
}

/** The target of an object to be created; `name` is empty where the server generates it. */
export function targetOf(object: NewObject): ObjectTarget {
  const { namespace, name } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    namespace: stringOf(namespace),
    name: stringOf(name),
  };
}

function pathOf({ apiVersion, kind, namespace, name }: ObjectTarget): string {
  return [apiVersion, kind, namespace, name].filter((part) => part !== undefined && part !== '').join('/');
}
