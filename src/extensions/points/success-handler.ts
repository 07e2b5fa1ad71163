import type { KubeObject } from '../../kube/kube-object.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readObject } from './read-result.ts';

const METHOD = 'onSuccess';

/** Follows up on an object that was applied for the first time. */
export function createSuccessHandler(host: PointHost | undefined): Point<KubeObject, void> {
  return createPoint<KubeObject, void>(
    {
      method: METHOD,
      readInput: (given, object) => readObject(METHOD, given, object),
      readResult: () => undefined,
    },
    host,
  );
}
