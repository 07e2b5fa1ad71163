import { isObject } from '../lib/json.ts';
import { type ApiResource, apiVersionOf, type KubeObject } from './kube-object.ts';

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
