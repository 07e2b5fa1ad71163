import type { KubeObject } from '../../kube/kube-object.ts';
import { isObject } from '../../lib/json.ts';
import { notReady, type PostReconcileResult, ready } from '../../sdk/extension-results.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readDelay, readObject, unusable } from './read-result.ts';

const METHOD = 'postReconcileCheck';

/** Decides whether an object that was applied is ready. */
export function createPostReconcileChecker(
  host: PointHost | undefined,
): Point<KubeObject, PostReconcileResult> {
  return createPoint(
    {
      method: METHOD,
      readInput: (given, object) => readObject(METHOD, given, object),
      readResult: (returned) => {
        if (!isObject(returned) || typeof returned['ready'] !== 'boolean')
          throw unusable(METHOD, 'it must be created by ready() or notReady()');
        if (returned['ready']) return ready();
        const { reason, retryAfterMs } = readDelay(METHOD, returned);
        return notReady(reason, retryAfterMs);
      },
    },
    host,
  );
}
