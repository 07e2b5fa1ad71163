import { isObject } from '@addon-operator/json';

/** Any Kubernetes object, as raw JSON. Numbers beyond 2^53 are raw JSON (`parseJson` of `packages/json`). */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** One kind the API server serves. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural name, as in URLs. */
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
}

/** Built in, so that no discovery is needed. */
export const SECRETS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  shortNames: [],
  isNamespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
};

/** `v1` or `group/version`. */
export function apiVersionOf(resource: Pick<ApiResource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** URL path under which the resources of a group and version lie. */
export function groupVersionPath({ group, version }: Pick<ApiResource, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** URL path of a collection, or of one object in it when `name` is given. */
export function resourcePath(
  resource: Pick<ApiResource, 'group' | 'version' | 'plural'>,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  const parts = [groupVersionPath(resource)];
  if (namespace !== undefined && namespace !== '') parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(resource.plural);
  if (name !== undefined) parts.push(encodeURIComponent(name));
  if (subresource !== undefined && subresource !== '') parts.push(subresource);
  return parts.join('/');
}

/**
 * An item of a list or a watch as an object of its own, or undefined if it is none. Items of lists come without
 * `apiVersion` and `kind`; both are filled in.
 */
export function toKubeObject(value: unknown, resource: ApiResource): KubeObject | undefined {
  if (!isNamed(value)) return undefined;
  if (value['kind'] !== undefined && value['apiVersion'] !== undefined) return value;
  return { ...value, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function isNamed(value: unknown): value is KubeObject & Record<string, unknown> {
  return isObject(value) && isObject(value['metadata']) && typeof value['metadata']['name'] === 'string';
}

const DIGITS = /^[0-9]+$/;

/**
 * Whether version `a` of an object or a list is older than `b`. Versions that are not decimal numbers cannot be compared
 * and are never older.
 */
export function isOlderVersion(a: string, b: string): boolean {
  if (!DIGITS.test(a) || !DIGITS.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}
