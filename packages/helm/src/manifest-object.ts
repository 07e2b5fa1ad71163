import { fieldsOf, isObject } from '@addon-operator/json';
import type { ManifestDocument } from './manifest-document.ts';

/** Identity of an object in a rendered manifest. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** As written in the manifest; empty if it is not written there. */
  readonly namespace: string;
}

const HOOK_ANNOTATION = 'helm.sh/hook';

/** Whether helm runs the object as a hook, outside of the release. */
export function isHook(object: Readonly<Record<string, unknown>>): boolean {
  const metadata = fieldsOf(object['metadata']);
  return isObject(metadata['annotations']) && HOOK_ANNOTATION in metadata['annotations'];
}

/** Whether the object is a list of objects (`List`, `ConfigMapList`…), which helm applies one by one. */
export function isList(object: Readonly<Record<string, unknown>>): boolean {
  const { kind } = object;
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(object['items']);
}

/** The objects of a release: lists unfolded, hooks and documents without an object left out. */
export function releaseObjects(documents: readonly ManifestDocument[]): ManifestObject[] {
  return (
    documents
      .flatMap(({ object }) => (object === undefined || isHook(object) ? [] : unfolded(object)))
      .map(identityOf)
      // An object without a name cannot be looked up.
      .filter(({ kind, name }) => kind !== '' && name !== '')
  );
}

/** The objects in a list, lists in it unfolded too; of anything else just that. */
export function unfolded(
  object: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  if (!isList(object)) return [object];
  const { items } = object;
  return Array.isArray(items) ? items.filter(isObject).flatMap(unfolded) : [];
}

/** Which object it is; parts that are not there are empty. */
export function identityOf(object: Readonly<Record<string, unknown>>): ManifestObject {
  const metadata = fieldsOf(object['metadata']);
  return {
    apiVersion: scalarText(object['apiVersion']),
    kind: scalarText(object['kind']),
    name: scalarText(metadata['name']),
    namespace: scalarText(metadata['namespace']),
  };
}

/** For people and metrics: `<namespace>/<Kind>/<name>`. */
export function objectTitle(object: ManifestObject): string {
  return `${object.namespace}/${object.kind}/${object.name}`;
}

/** Equal texts for the same object in one release. */
export function objectKey(object: ManifestObject): string {
  return `${object.apiVersion}/${objectTitle(object)}`;
}

function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
