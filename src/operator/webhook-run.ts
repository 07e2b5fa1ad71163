import type { RunReason } from '../hooks/binding-context.ts';
import { taskLogger } from './handlers/hook-run.ts';
import { type HookEffects, hookLabels } from './hook-execution.ts';
import type { HookRuntime } from './hook-runtime.ts';
import type { Operator } from './operator.ts';
import { rethrowAbort } from './rethrow-abort.ts';
import { causedBy } from './task-origin.ts';
import { type HookTask, hookTask } from './tasks.ts';

/** Requests are answered at once: they never wait in a queue. */
const NO_QUEUE = '';

/**
 * Runs a hook for a request to one of its webhooks. Like an event, it asks for what changed values call for.
 *
 * @throws OperatorError when the hook or its outputs fail; the run is not repeated
 * @throws `signal.reason` on abort, once the hook and its children are gone
 */
export async function runForWebhook(
  operator: Operator,
  runtime: HookRuntime,
  reason: Extract<RunReason, { type: 'admission' | 'conversion' }>,
  signal: AbortSignal,
): Promise<HookEffects> {
  const { execution, metrics } = operator.deps;
  const run = hookTask({
    hook: runtime,
    binding: reason.binding.type,
    reasons: [reason],
    allowFailure: false,
    trigger: 'Webhook',
    activation: '',
    eventId: operator.deps.newEventId(),
  });
  await runtime.waitForTurn(signal);
  const labels = hookLabels(run, NO_QUEUE);
  try {
    const effects = await execution.run(run, NO_QUEUE, taskLogger(operator, run, NO_QUEUE), signal);
    metrics.hookResult(labels, 'success');
    followUp(operator, run, effects);
    return effects;
  } catch (error) {
    rethrowAbort(error, signal);
    metrics.hookResult(labels, 'error');
    throw error;
  }
}

function followUp(operator: Operator, run: HookTask, effects: HookEffects): void {
  if (run.type === 'ModuleHookRun') {
    if (effects.areValuesChanged)
      operator.router.queueModuleRun(run.module, 'Webhook-Change-ModuleValues', causedBy(run));
  } else if (effects.areFlagsChanged && operator.registry.discovery !== undefined) {
    operator.router.restartConverge(
      'ReloadAllModules',
      'ReloadAll-After-GlobalHookDynamicUpdate',
      causedBy(run),
    );
  } else if (effects.areValuesChanged) {
    operator.router.queueConverge('GlobalValuesChanged', 'Webhook-Change-GlobalValues', causedBy(run));
  }
}
