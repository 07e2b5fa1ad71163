import type { KubeObject } from '../../kube/kube-object.ts';
import { hasCode, messageOf, OperatorError } from '../../lib/errors.ts';
import type { HostSet } from './customizations.ts';
import { chainPoints, type Point, type PointHost } from './point.ts';

/** The point for an object: with the extension of its module, with the operator-wide one behind that, or with none. A failure names the object. */
export function pointOf<Input, Result>(
  create: (host: PointHost | undefined) => Point<Input, Result>,
  hosts: HostSet | undefined,
  object: KubeObject,
): Point<Input, Result> {
  const found = hosts?.find(object.apiVersion ?? '', object.kind ?? '') ?? [];
  if (found.length === 0) return create(undefined);
  const point = chainPoints(found.map(create));
  return async (...args) => {
    try {
      return await point(...args);
    } catch (cause) {
      if (!hasCode(cause, 'EXTENSION_FAILED')) throw cause;
      throw new OperatorError('EXTENSION_FAILED', `${titleOf(object)}: ${messageOf(cause)}`, { cause });
    }
  };
}

/** How messages name an object. */
export function titleOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
}
