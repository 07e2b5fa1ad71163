import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { Span, SpanContext } from '@addon-operator/base/trace';
import { kindFactsOf } from '../hook-config/binding-kinds.ts';
import { tracedEvent, type WebhookReason } from '../hooks/binding-context.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { causedBy } from '../model/task-origin.ts';
import { type HookTask, hookTask } from '../model/tasks.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { TaskTraces } from '../queues/task-traces.ts';
import type { HookEffects } from './apply-outputs.ts';
import type { HookExecution } from './hook-execution.ts';
import { hookLabels } from './hook-labels.ts';
import { taskLogger } from './hook-run.ts';
import { rethrowAbort } from './rethrow-abort.ts';

export interface WebhookRunDeps {
  readonly execution: Pick<HookExecution, 'run'>;
  readonly metrics: Pick<OperatorMetrics, 'hookResult'>;
  readonly log: Logger;
  readonly traces: Pick<TaskTraces, 'beginRequest' | 'newEvent'>;
  readonly registry: Pick<ModuleRegistry, 'discovery'>;
  readonly router: Pick<TaskRouter, 'queueModuleRun' | 'queueConverge' | 'restartConverge'>;
}

/** The client that sent a request, as traces show it. */
export interface WebhookCaller {
  /** When the request arrived, on the steady clock. */
  readonly atMs: number;
  /** The span of the client; undefined if it sent none. */
  readonly span: SpanContext | undefined;
}

export interface RunForWebhook {
  readonly reason: WebhookReason;
  readonly caller: WebhookCaller;
}

/** A client waits for the response, so the run is in no queue. */
const NO_QUEUE = '';

/**
 * Runs a hook for a request to one of its webhooks. Changed values and flags have the same
 * consequences as after an event.
 *
 * @throws OperatorError when the hook or its outputs fail; the run is not repeated
 * @throws `signal.reason` on abort, after the hook and its children have ended
 */
export async function runForWebhook(
  deps: WebhookRunDeps,
  runtime: HookRuntime,
  { reason, caller }: RunForWebhook,
  signal: AbortSignal,
): Promise<HookEffects> {
  const { execution, metrics, log, traces } = deps;
  const origin = traces.newEvent(() => tracedEvent(reason) ?? { type: reason.type }, caller.atMs);
  const span = traces.beginRequest(origin, reason.type, caller.span);
  const run = hookTask({
    hook: runtime,
    binding: reason.binding.type,
    reasons: [reason],
    allowFailure: false,
    trigger: 'Webhook',
    activation: '',
    ...origin,
  });
  const labels = hookLabels(run, NO_QUEUE);
  try {
    await runtime.waitForTurn(signal);
    const effects = await execution.run(within(run, span), NO_QUEUE, taskLogger(log, run, NO_QUEUE), signal);
    span.end();
    metrics.hookResult(labels, 'success');
    followUp(deps, run, effects);
    return effects;
  } catch (error) {
    span.end({ error: messageOf(error) });
    // The response comes first: the queued work does not delay the client.
    rethrowAbort(error, signal);
    metrics.hookResult(labels, 'error');
    throw error;
  }
}

/** The description of the request for its trace. */
function within(run: HookTask, span: Span): HookTask {
  const { root } = run;
  const { context } = span;
  if (root === undefined || context === undefined) return run;
  if (context.traceId === root.span.context?.traceId) return { ...run, root: { ...root, span } };
  return { ...run, merged: [context] };
}

/** Queues the runs that changed values and flags need, as after an event. */
function followUp({ registry, router }: WebhookRunDeps, run: HookTask, effects: HookEffects): void {
  const { changeTriggers: triggers } = kindFactsOf(run.binding);
  if (run.type === 'ModuleHookRun') {
    if (effects.areValuesChanged && triggers !== undefined)
      router.queueModuleRun(run.module, triggers.module, causedBy(run));
  } else if (effects.areFlagsChanged && registry.discovery !== undefined) {
    router.restartConverge('ReloadAllModules', 'ReloadAll-After-GlobalHookDynamicUpdate', causedBy(run));
  } else if (effects.areValuesChanged && triggers !== undefined) {
    router.queueConverge('GlobalValuesChanged', triggers.global, causedBy(run));
  }
}
