/**
 * Debug requests about hooks: abort a run, trigger a binding, record runs. Names are accepted with or without the module
 * in front; an ambiguous or unknown name gets a response that lists the candidates.
 */

import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { Recorder } from '../recordings/recorder.ts';
import type { AbortHook } from '../status/hook-abort.ts';
import type { TriggerHook } from '../status/hook-trigger.ts';
import type { RetryHead } from '../status/queue-retry.ts';

/** Ends a run, ends the wait for the next attempt, or queues a run. */
export interface TaskCommands {
  readonly abortHook: AbortHook;
  readonly retryHead: RetryHead;
  readonly triggerHook: TriggerHook;
}

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

/** Queues a run of a hook as a form says it: `hook`, `binding`, and optionally `object`. */
export function hookTriggerResponse(trigger: TriggerHook, form: URLSearchParams): RouteResponse {
  const [hook, binding] = [form.get('hook') ?? '', form.get('binding') ?? ''];
  if (hook === '' || binding === '')
    return errorResponse(400, 'REQUEST_INVALID', "'hook' and 'binding' parameters are required");
  const outcome = trigger({ hook, binding, object: form.get('object') || undefined });
  if (outcome.type === 'refused') return errorResponse(409, 'REQUEST_REFUSED', outcome.reason);
  const { queue, ahead } = outcome;
  const tasks = ahead === 0 ? '' : ` after ${ahead} ${ahead === 1 ? 'task' : 'tasks'}`;
  return textResponse(`hook ${hook} runs for ${binding} in queue ${queue}${tasks}\n`);
}

/**
 * Sends each run of hooks as a line of JSON until the client goes away. The form has `hook` for each hook, none for all, and
 * `secrets=true` to leave secrets unmasked. With `failed=true` the runs that failed and were kept are sent in place of those that
 * come.
 */
export function hookRecordResponse(
  {
    recorder,
    hooks,
  }: {
    readonly recorder: Pick<Recorder, 'serve' | 'sendFailed' | 'keptFailures'>;
    readonly hooks: () => readonly string[];
  },
  form: URLSearchParams,
): RouteResponse {
  const known = hooks();
  const wanted: string[] = [];
  for (const name of form.getAll('hook')) {
    // A name without its module means the hooks of that name in all modules.
    const found = known.filter((each) => each === name || each.slice(each.indexOf('/') + 1) === name);
    if (found.length === 0)
      return errorResponse(404, 'REQUEST_REFUSED', `there is no hook ${name}${didYouMean(name, known)}`);
    wanted.push(...found);
  }
  const lines = { ...textResponse(''), contentType: 'application/x-ndjson' };
  if (form.get('failed') === 'true') {
    // An empty list would look as if no run had failed.
    if (recorder.keptFailures === 0)
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        'the operator keeps no runs that failed: start it with --record-failed 20',
      );
    return { ...lines, stream: async (sink) => recorder.sendFailed(sink, wanted) };
  }
  const wishes = { hooks: wanted, hasSecrets: form.get('secrets') === 'true' };
  return { ...lines, stream: (sink, signal) => recorder.serve(sink, wishes, signal) };
}
