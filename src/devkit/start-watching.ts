import { OperatorError } from '@addon-operator/base/errors';
import type { HookRuntime } from '../model/hook-runtime.ts';

/**
 * Starts the watches of a hook for its author. The operator goes on without an object on which a jqFilter fails; an author
 * is better served by the failure.
 *
 * @throws what `HookRuntime.startMonitors` throws; OperatorError JQ_RUNTIME when a jqFilter fails on an object
 */
export async function startWatching(runtime: HookRuntime, signal: AbortSignal): Promise<void> {
  await runtime.startMonitors(signal);
  for (const { index } of runtime.hook.config.kubernetes)
    for (const { error } of runtime.health(index).filterFailures)
      throw new OperatorError('JQ_RUNTIME', `${error}; the operator would leave this object out`);
}
