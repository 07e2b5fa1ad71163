import type { Logger } from '@addon-operator/base/log';
import type { RunReason } from '../hooks/binding-context.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import { taskLogger } from './handlers/hook-run.ts';
import { type HookEffects, type HookExecution, hookLabels } from './hook-execution.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { ModuleRegistry } from './module-registry.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import { causedBy } from './task-origin.ts';
import type { TaskRouter } from './task-router.ts';
import type { TaskTraces } from './task-traces.ts';
import { type HookTask, hookTask } from './tasks.ts';

export interface WebhookRunDeps {
  readonly execution: Pick<HookExecution, 'run'>;
  readonly metrics: Pick<OperatorMetrics, 'hookResult'>;
  readonly log: Logger;
  readonly traces: Pick<TaskTraces, 'newEvent'>;
  readonly registry: Pick<ModuleRegistry, 'discovery'>;
  readonly router: Pick<TaskRouter, 'queueModuleRun' | 'queueConverge' | 'restartConverge'>;
}

/** Requests are answered at once: they never wait in a queue. */
const NO_QUEUE = '';

/**
 * Runs a hook for a request to one of its webhooks. Like an event, it asks for what changed values call for.
 *
 * @throws OperatorError when the hook or its outputs fail; the run is not repeated
 * @throws `signal.reason` on abort, once the hook and its children are gone
 */
export async function runForWebhook(
  deps: WebhookRunDeps,
  runtime: HookRuntime,
  reason: Extract<RunReason, { type: 'admission' | 'conversion' }>,
  signal: AbortSignal,
): Promise<HookEffects> {
  const { execution, metrics, log } = deps;
  const run = hookTask({
    hook: runtime,
    binding: reason.binding.type,
    reasons: [reason],
    allowFailure: false,
    trigger: 'Webhook',
    activation: '',
    ...deps.traces.newEvent(() => ({ type: reason.type })),
  });
  await runtime.waitForTurn(signal);
  const labels = hookLabels(run, NO_QUEUE);
  try {
    const effects = await execution.run(run, NO_QUEUE, taskLogger(log, run, NO_QUEUE), signal);
    metrics.hookResult(labels, 'success');
    followUp(deps, run, effects);
    return effects;
  } catch (error) {
    rethrowAbort(error, signal);
    metrics.hookResult(labels, 'error');
    throw error;
  }
}

function followUp({ registry, router }: WebhookRunDeps, run: HookTask, effects: HookEffects): void {
  if (run.type === 'ModuleHookRun') {
    if (effects.areValuesChanged)
      router.queueModuleRun(run.module, 'Webhook-Change-ModuleValues', causedBy(run));
  } else if (effects.areFlagsChanged && registry.discovery !== undefined) {
    router.restartConverge('ReloadAllModules', 'ReloadAll-After-GlobalHookDynamicUpdate', causedBy(run));
  } else if (effects.areValuesChanged) {
    router.queueConverge('GlobalValuesChanged', 'Webhook-Change-GlobalValues', causedBy(run));
  }
}
