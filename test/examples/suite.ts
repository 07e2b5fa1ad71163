import type { Backend } from '../support/world.ts';
import { batchHookTests } from './batch-hook.ts';
import { configValuesFromAHookTests } from './config-values-from-a-hook.ts';
import { continuousReconcileTests } from './continuous-reconcile.ts';
import { debounceTests } from './debounce.ts';
import { deployNotifierTests } from './deploy-notifier.ts';
import { enabledScriptTests } from './enabled-script.ts';
import { errorClassifierTests } from './error-classifier.ts';
import { hookMetricsTests } from './hook-metrics.ts';
import { httpHookTests } from './http-hook.ts';
import { inProcessHookTests } from './in-process-hook.ts';
import { kubernetesEventHookTests } from './kubernetes-event-hook.ts';
import { moduleWithValuesFromAHookTests } from './module-with-values-from-a-hook.ts';
import { namedQueuesTests } from './named-queues.ts';
import { reconcileWebhookTests } from './reconcile-webhook.ts';
import { retriesTests } from './retries.ts';
import { scheduleHookTests } from './schedule-hook.ts';
import { secretReferenceTests } from './secret-reference.ts';
import { signedModuleTests } from './signed-module.ts';
import { startupHookTests } from './startup-hook.ts';
import { symlinkedModuleTests } from './symlinked-module.ts';
import { valuesSchemaTests } from './values-schema.ts';

/** Every example, on one API server. Each backend runs all of them. */
export function exampleTests(backend: () => Backend): void {
  startupHookTests(backend);
  scheduleHookTests(backend);
  kubernetesEventHookTests(backend);
  moduleWithValuesFromAHookTests(backend);
  configValuesFromAHookTests(backend);
  enabledScriptTests(backend);
  valuesSchemaTests(backend);
  secretReferenceTests(backend);
  symlinkedModuleTests(backend);
  namedQueuesTests(backend);
  retriesTests(backend);
  debounceTests(backend);
  hookMetricsTests(backend);
  inProcessHookTests(backend);
  httpHookTests(backend);
  batchHookTests(backend);
  reconcileWebhookTests(backend);
  deployNotifierTests(backend);
  errorClassifierTests(backend);
  continuousReconcileTests(backend);
  signedModuleTests(backend);
}
