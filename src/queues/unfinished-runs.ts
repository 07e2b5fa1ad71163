import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { oneLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import { isPartOfConverge, lifecycleBindingsOf } from '../hook-config/binding-kinds.ts';
import { fullName, title } from '../hooks/hook.ts';
import { FAILED_REQUESTS, type FinalFailure, type HookRuntime } from '../model/hook-runtime.ts';
import type { FailedHook } from '../status/module-causes.ts';
import type { FailedRun, UnfinishedRuns } from '../status/unfinished-text.ts';
import { allRuntimes, type BindingProblemsParts } from './binding-problems.ts';
import type { HeldRun } from './held-runs.ts';
import type { TaskRouter } from './task-router.ts';

interface UnfinishedRunsParts extends BindingProblemsParts {
  readonly router: { readonly held: Pick<TaskRouter['held'], 'all'> };
}

/** Global lifecycle hooks run again by themselves only in the next converge. */
const IN_CONVERGE: readonly string[] = lifecycleBindingsOf('global').filter(isPartOfConverge);

/**
 * Unfinished runs that are in no queue: delayed on the hook's request, debounced, or failed for
 * good. Status and explain list them, because `queue list` cannot.
 */
export function unfinishedRuns(
  operator: UnfinishedRunsParts,
  runtimes: readonly HookRuntime[] = allRuntimes(operator),
): UnfinishedRuns {
  const held = operator.router.held.all.filter(({ hook }) => runtimes.includes(hook));
  return {
    waiting: held.filter(({ cause }) => cause.type === 'unfinished').map(heldText),
    debounced: held.filter(({ cause }) => cause.type === 'debounced').map(heldText),
    failed: runtimes.flatMap((runtime) =>
      runtime.finalFailures.map((failure) => failedRun(runtime, failure)),
    ),
  };
}

/** A sentence about a run that waits outside of its queue. */
export function heldText({ hook: { hook }, queue, contexts, dueAtMs, cause }: HeldRun): string {
  const when = `at ${isoTime(dueAtMs)} in queue ${queue} (contexts: ${contexts})`;
  switch (cause.type) {
    case 'unfinished':
      return oneLine(`hook ${fullName(hook)} runs again ${when}: ${headlineOf(cause.reason)}`);
    case 'debounced':
      return `hook ${fullName(hook)} runs ${when}, unless further events come`;
  }
}

function failedRun(runtime: HookRuntime, failure: FinalFailure): FailedRun {
  const { owner } = runtime.hook;
  const module = owner.type === 'module' ? owner.module : '';
  const { hook, text, remedy } = failedHook(runtime, failure);
  return {
    text: oneLine(`${module === '' ? '' : `module ${module}, `}${text}`),
    remedy,
    isTriggerable: failure.isOfRequests !== true && !IN_CONVERGE.includes(failure.binding),
    module,
    hook,
    binding: failure.binding,
    since: isoTime(failure.atMs),
  };
}

/** A run that failed and is not retried, with a remedy. */
export function failedHook(
  { hook }: HookRuntime,
  { binding, error, atMs, isOfRequests }: FinalFailure,
): FailedHook {
  const what =
    isOfRequests === true
      ? `failed for ${FAILED_REQUESTS} requests in a row or more`
      : `failed permanently at ${isoTime(atMs)} and is not retried`;
  const next =
    isOfRequests === true
      ? 'it runs again for the next request'
      : IN_CONVERGE.includes(binding)
        ? 'it runs again in the next converge'
        : `then \`addon-operator hook trigger ${fullName(hook)} ${binding}\`, or wait for its next event`;
  return {
    hook: fullName(hook),
    text: `${title(hook)}, binding '${binding}' ${what}: ${headlineOf(error)}`,
    remedy: `correct the cause, ${next}`,
  };
}
