import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import type { RetryHead } from '../status/queue-retry.ts';

/** Retries the first task of the queue that a form names in its field `queue`. */
export function queueRetryResponse(retry: RetryHead, form: URLSearchParams): RouteResponse {
  const queue = form.get('queue') ?? '';
  if (queue === '') return errorResponse(400, 'REQUEST_INVALID', "'queue' parameter is required");
  const outcome = retry(queue);
  switch (outcome.type) {
    case 'retried':
      return textResponse(`${outcome.task} in queue ${queue} is retried now\n`);
    case 'unknown':
      return errorResponse(404, 'REQUEST_REFUSED', outcome.reason);
    case 'refused':
      return errorResponse(409, 'REQUEST_REFUSED', `nothing is retried: ${outcome.reason}`);
  }
}
