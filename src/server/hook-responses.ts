import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import type { AbortHook } from '../status/hook-abort.ts';

/** Ends runs of a hook as a form says it: `hook`, and optionally `queue` and `drop=true`. */
export function hookAbortResponse(abort: AbortHook, form: URLSearchParams): RouteResponse {
  const hook = form.get('hook') ?? '';
  if (hook === '') return errorResponse(400, 'REQUEST_INVALID', "'hook' parameter is required");
  const isDropped = form.get('drop') === 'true';
  const outcome = abort({ hook, queue: form.get('queue') || undefined, isDropped });
  switch (outcome.type) {
    case 'aborted':
      return textResponse(
        `${outcome.runs === 1 ? 'the run' : `${outcome.runs} runs`} of hook ${hook} ${outcome.runs === 1 ? 'is' : 'are'} aborted; the task is ${isDropped ? 'dropped' : 'retried as after a failure'}\n`,
      );
    case 'not-running': {
      const others =
        outcome.running.length === 0 ? 'no hook runs' : `these run: ${outcome.running.join(', ')}`;
      return errorResponse(404, 'REQUEST_REFUSED', `hook ${hook} does not run; ${others}`);
    }
    case 'ambiguous':
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        `several hooks have this name: name one of ${outcome.names.join(', ')}`,
      );
    case 'not-droppable':
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        `the task of hook ${hook} cannot be dropped, because others wait for it: abort the run without --drop`,
      );
  }
}
