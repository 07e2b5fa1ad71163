import { title } from '../hooks/hook.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { HookRuntime } from '../operator/hook-runtime.ts';
import { runForWebhook, type WebhookRunDeps } from '../operator/webhook-run.ts';
import { type AdmissionHook, AdmissionWebhooks } from './admission/admission-webhooks.ts';
import { WebhookConfigurations } from './admission/webhook-configurations.ts';
import { targetOf, type WebhookServers, type WebhookServersOptions } from './webhook-server.ts';

/** Switches the webhooks of one kind on and off, for all hooks that have some. */
export interface WebhookSwitch {
  /** Resolves when the cluster knows it. Without a hook left, what earlier daemons registered is removed as well. */
  set(runtimes: readonly HookRuntime[], isEnabled: boolean, signal: AbortSignal): Promise<void>;
}

/** Puts the admission webhooks together; nothing is served before the first hook needs it. */
export function createAdmission(
  { settings, host, kube, stop }: WebhookServersOptions,
  servers: WebhookServers,
  runDeps: WebhookRunDeps,
): WebhookSwitch {
  const { clock, random, log } = host;
  const target = targetOf(settings, 'validating');
  const webhooks = new AdmissionWebhooks({
    configurations: new WebhookConfigurations({
      kube,
      name: `${settings.validatingConfigurationName}-hooks`,
      target,
      clock,
      random,
      log,
    }),
    target,
    ownState: {
      namespace: settings.namespace,
      configMap: settings.configMapName,
      secret: settings.webhookSecretName,
    },
    open: (signal) => servers.open('validating', (request, gone) => webhooks.handle(request, gone), signal),
    runs: new Semaphore(settings.webhookMaxRuns),
    clock,
    random,
    log,
    stop,
  });
  const hooks = new WeakMap<HookRuntime, AdmissionHook>();
  const hookOf = (runtime: HookRuntime): AdmissionHook => {
    const known = hooks.get(runtime) ?? admissionHook(runtime, runDeps);
    hooks.set(runtime, known);
    return known;
  };
  return {
    set: (runtimes, isEnabled, signal) =>
      isEnabled ? webhooks.add(runtimes.map(hookOf), signal) : webhooks.remove(runtimes.map(hookOf), signal),
  };
}

function admissionHook(runtime: HookRuntime, runDeps: WebhookRunDeps): AdmissionHook {
  const { hook } = runtime;
  return {
    title: title(hook),
    bindings: hook.config.admission,
    ask: async (binding, review, signal) => {
      const effects = await runForWebhook(runDeps, runtime, { type: 'admission', binding, review }, signal);
      return effects.admission;
    },
  };
}
