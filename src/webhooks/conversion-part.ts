import { title } from '../hooks/hook.ts';
import type { SharedReflectors } from '../kube/reflector-sink.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { HookRuntime } from '../operator/hook-runtime.ts';
import { runForWebhook, type WebhookRunDeps } from '../operator/webhook-run.ts';
import type { WebhookSwitch } from './admission-part.ts';
import { type ConversionHook, ConversionWebhooks } from './conversion/conversion-webhooks.ts';
import { keepCrdConversion } from './conversion/crd-conversion.ts';
import { targetOf, type WebhookServers, type WebhookServersOptions } from './webhook-server.ts';

/** Puts the conversion webhooks together; nothing is served before the first hook needs it. */
export function createConversion(
  { settings, host, kube, stop }: WebhookServersOptions,
  reflectors: SharedReflectors,
  servers: WebhookServers,
  runDeps: WebhookRunDeps,
): WebhookSwitch {
  const { clock, random, log } = host;
  const target = targetOf(settings, 'conversion');
  const webhooks = new ConversionWebhooks({
    open: (signal) => servers.open('conversion', (request, gone) => webhooks.handle(request, gone), signal),
    keep: (crdName, certificates, onTried, signal) =>
      keepCrdConversion(
        crdName,
        { kube, reflectors, clock, random, log, target, certificates },
        onTried,
        signal,
      ),
    runs: new Semaphore(settings.webhookMaxRuns),
    clock,
    log,
    stop,
  });
  const hooks = new WeakMap<HookRuntime, ConversionHook>();
  const hookOf = (runtime: HookRuntime): ConversionHook => {
    const known = hooks.get(runtime) ?? conversionHook(runtime, runDeps);
    hooks.set(runtime, known);
    return known;
  };
  return {
    set: async (runtimes, isEnabled, signal) => {
      if (isEnabled) await webhooks.add(runtimes.map(hookOf), signal);
      else webhooks.remove(runtimes.map(hookOf));
    },
  };
}

function conversionHook(runtime: HookRuntime, runDeps: WebhookRunDeps): ConversionHook {
  const { hook } = runtime;
  return {
    title: title(hook),
    bindings: hook.config.conversion,
    convert: async (binding, rule, review, signal) => {
      const reason = { type: 'conversion', binding, rule, review } as const;
      const effects = await runForWebhook(runDeps, runtime, reason, signal);
      return effects.conversion;
    },
  };
}
