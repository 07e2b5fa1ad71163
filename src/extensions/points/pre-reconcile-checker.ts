import type { KubeObject } from '../../kube/kube-object.ts';
import { isObject } from '../../lib/json.ts';
import { block, type PreReconcileResult, proceed } from '../../sdk/extension-results.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readDelay, readObject, unusable } from './read-result.ts';

const METHOD = 'preReconcileCheck';

/** Decides whether an object may be applied now. */
export function createPreReconcileChecker(
  host: PointHost | undefined,
): Point<KubeObject, PreReconcileResult> {
  return createPoint(
    {
      method: METHOD,
      readInput: (given, object) => readObject(METHOD, given, object),
      readResult: (returned) => {
        if (!isObject(returned) || typeof returned['proceed'] !== 'boolean')
          throw unusable(METHOD, 'it must be created by proceed() or block()');
        if (returned['proceed']) return proceed();
        const { reason, retryAfterMs } = readDelay(METHOD, returned);
        return block(reason, retryAfterMs);
      },
    },
    host,
  );
}
