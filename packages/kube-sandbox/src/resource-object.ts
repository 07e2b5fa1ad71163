import type { Fields } from './json-access.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: Fields;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** A Kubernetes object whose metadata has been checked; everything else is plain JSON. Never changed in place. */
export interface ResourceObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** The metadata fields that exist, in the order in which the API prints them. */
export const META_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** `object` with other metadata; undefined removes a field. */
export function withMeta(
  object: ResourceObject,
  changes: { readonly [Field in keyof ObjectMeta]?: ObjectMeta[Field] | undefined },
): ResourceObject {
  const merged: Record<string, unknown> = { ...object.metadata, ...changes };
  const metadata: Record<string, unknown> = {};
  for (const field of META_FIELDS) if (merged[field] !== undefined) metadata[field] = merged[field];
  return { ...object, metadata: { ...metadata, name: object.metadata.name } };
}

/** Name of an object among those of its kind: `namespace/name`, `/name` for one without namespace. */
export function objectKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}
