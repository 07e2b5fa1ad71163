import type { KubeObject } from '../../kube/kube-object.ts';
import type { HostSet } from './customizations.ts';
import { chainPoints, type Point, type PointHost } from './point.ts';

/** The point for an object: with the extension of its module, with the operator-wide one behind that, or with none. */
export function pointOf<Input, Result>(
  create: (host: PointHost | undefined) => Point<Input, Result>,
  hosts: HostSet | undefined,
  object: KubeObject,
): Point<Input, Result> {
  const found = hosts?.find(object.apiVersion ?? '', object.kind ?? '') ?? [];
  return found.length === 0 ? create(undefined) : chainPoints(found.map(create));
}

/** How messages name an object. */
export function titleOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
}
