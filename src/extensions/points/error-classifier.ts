import type { KubeObject } from '../../kube/kube-object.ts';
import { isObject } from '../../lib/json.ts';
import type { DeployError } from '../../sdk/extension-points.ts';
import { type ErrorDetails, errorDetails } from '../../sdk/extension-results.ts';
import { createPoint, type Point, type PointHost } from './point.ts';
import { readText, unusable } from './read-result.ts';

const METHOD = 'classifyError';

/** A failed deployment, over an object of the release. */
export type ReleaseError = Omit<DeployError, 'object'> & { readonly object: KubeObject };

/** What is known of a failure whichever object it was over. */
export type ReleaseCause = Pick<ReleaseError, 'status' | 'reason' | 'message'>;

/** Decides whether a deployment that failed is tried again. */
export function createErrorClassifier(host: PointHost | undefined): Point<ReleaseError, ErrorDetails> {
  return createPoint(
    {
      method: METHOD,
      readInput: (given, error) => {
        if (!isObject(given)) throw unusable(METHOD, 'next() must be called with the error');
        const { code, status, reason, message } = given;
        if (status !== null && typeof status !== 'number')
          throw unusable(METHOD, 'status must be a number or null');
        return {
          code: readText(METHOD, 'code', code),
          status,
          reason: readText(METHOD, 'reason', reason),
          message: readText(METHOD, 'message', message),
          object: error.object,
        };
      },
      readResult: (returned) => {
        if (!isObject(returned)) throw unusable(METHOD, 'it must be created by errorDetails()');
        const { classification, code, message } = returned;
        if (classification !== 'retryable' && classification !== 'fatal')
          throw unusable(METHOD, 'classification must be "retryable" or "fatal"');
        return errorDetails(
          classification,
          readText(METHOD, 'code', code),
          readText(METHOD, 'message', message),
        );
      },
    },
    host,
  );
}

/**
 * What is done without extensions: the server not reached, 408, 409, 429 and 5xx are retryable, other refusals fatal.
 *
 * @param isFatalAllowed false has everything tried again, as the lifecycle has it
 */
export function classifyByStatus(error: ReleaseCause, isFatalAllowed: boolean): ErrorDetails {
  const { status, reason, message } = error;
  const isRefusal = status !== null && status >= 400 && status < 500;
  const isFatal = isFatalAllowed && isRefusal && ![408, 409, 429].includes(status);
  return errorDetails(isFatal ? 'fatal' : 'retryable', reason, message);
}
