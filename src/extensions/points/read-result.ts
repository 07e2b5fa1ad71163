import type { KubeObject } from '../../kube/kube-object.ts';
import { boundedDelay } from '../../lib/bounded-time.ts';
import { OperatorError } from '../../lib/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { PointMethod } from '../../sdk/extension-points.ts';

const MAX_TEXT = 4_096;

/** The failure of an extension that gave something else than it has to. */
export function unusable(method: PointMethod, what: string): OperatorError {
  return new OperatorError('EXTENSION_FAILED', `Cannot use the result of ${method}(): ${what}`);
}

/** A Kubernetes object, the same kind and name as another one. */
export function readObject(method: PointMethod, value: unknown, like: KubeObject): KubeObject {
  if (!isObject(value) || !isObject(value['metadata']))
    throw unusable(method, 'it must be an object with apiVersion, kind and metadata');
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') throw unusable(method, 'it has no apiVersion');
  if (kind !== like.kind || metadata['name'] !== like.metadata.name)
    throw unusable(
      method,
      `it must remain ${String(like.kind)} "${like.metadata.name}", but is ${String(kind)} "${String(metadata['name'])}"`,
    );
  return { ...value, metadata: { ...metadata, name: like.metadata.name } };
}

/** A reason with the time to wait for, as checks give it. */
export function readDelay(
  method: PointMethod,
  { reason, retryAfterMs }: Readonly<Record<string, unknown>>,
): { readonly reason: string; readonly retryAfterMs: number } {
  if (typeof retryAfterMs !== 'number' || !(retryAfterMs > 0))
    throw unusable(method, 'retryAfterMs must be a number greater than zero');
  return { reason: readText(method, 'reason', reason), retryAfterMs: boundedDelay(retryAfterMs) };
}

/** A text that is not empty, cut to a size fit for a log. */
export function readText(method: PointMethod, field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw unusable(method, `${field} must be a string`);
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}
