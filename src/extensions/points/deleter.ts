import type { KubeObject } from '../../kube/kube-object.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readObject } from './read-result.ts';

const METHOD = 'delete';

/** Takes part when an object is deleted. */
export function createDeleter(host: PointHost | undefined): Point<KubeObject, void> {
  return createPoint<KubeObject, void>(
    {
      method: METHOD,
      readInput: (given, object) => readObject(METHOD, given, object),
      readResult: () => undefined,
    },
    host,
  );
}
