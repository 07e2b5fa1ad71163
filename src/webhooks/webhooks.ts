/**
 * Connects hooks that have admission or conversion bindings with the API server. `app/build-operator.ts` creates it, and
 * the operator calls `set` when hooks are enabled or disabled. Each kind has a server of its own (`webhook-server.ts`),
 * started with the first hook that needs it. Registration is written to the cluster only when the server is ready, so the
 * API server never calls an address where nothing listens.
 */

import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import PQueue from 'p-queue';
import { runForWebhook, type WebhookRunDeps } from '../hook-runs/webhook-run.ts';
import { title } from '../hooks/hook.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { type AdmissionHook, AdmissionWebhooks } from './admission/admission-webhooks.ts';
import { WebhookConfigurations } from './admission/webhook-configurations.ts';
import { type ConversionHook, ConversionWebhooks } from './conversion/conversion-webhooks.ts';
import { keepCrdConversion } from './conversion/crd-conversion.ts';
import { WebhookServers, type WebhookServersOptions, webhookTargetOf } from './webhook-server.ts';

/**
 * Puts the webhooks of hooks together; nothing is served before the first hook needs it. Requests do not pass the queues: the
 * API server waits for a few seconds only, so `hook-runs/webhook-run.ts` runs their hooks at once.
 */
export function createWebhooks(
  options: WebhookServersOptions,
  reflectors: SharedReflectors,
  runDeps: WebhookRunDeps,
): WebhookSwitch {
  const servers = new WebhookServers(options);
  const admission = createAdmission(options, servers, runDeps);
  const conversion = createConversion(options, reflectors, servers, runDeps);
  return {
    async set(runtimes, isEnabled, signal) {
      await admission.set(runtimes, isEnabled, signal);
      await conversion.set(runtimes, isEnabled, signal);
    },
  };
}

/** Switches the webhooks of one kind on and off, for all hooks that have some. */
interface WebhookSwitch {
  /** Resolves when the cluster knows it. Without a hook left, what earlier daemons registered is removed as well. */
  set(runtimes: readonly HookRuntime[], isEnabled: boolean, signal: AbortSignal): Promise<void>;
}

/** Puts the admission webhooks together; nothing is served before the first hook needs it. */
function createAdmission(
  { settings, host, kube, stop }: WebhookServersOptions,
  servers: WebhookServers,
  runDeps: WebhookRunDeps,
): WebhookSwitch {
  const { clock, random, log } = host;
  const target = webhookTargetOf(settings, 'validating');
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
    runs: new PQueue({ concurrency: settings.webhookMaxRuns }),
    clock,
    random,
    log,
    stop,
  });
  // The same hook must give the same object, since `add` and `remove` compare identities.
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

/** Runs the hook directly, without a queue; its other effects are applied as after any run. */
function admissionHook(runtime: HookRuntime, runDeps: WebhookRunDeps): AdmissionHook {
  const { hook } = runtime;
  return {
    title: title(hook),
    bindings: hook.config.admission,
    respond: async (binding, review, caller, signal) => {
      const reason = { type: 'admission', binding, review } as const;
      const effects = await runForWebhook(runDeps, runtime, { reason, caller }, signal);
      return effects.admission;
    },
  };
}

/** Puts the conversion webhooks together; nothing is served before the first hook needs it. */
function createConversion(
  { settings, host, kube, stop }: WebhookServersOptions,
  reflectors: SharedReflectors,
  servers: WebhookServers,
  runDeps: WebhookRunDeps,
): WebhookSwitch {
  const { clock, random, log } = host;
  const target = webhookTargetOf(settings, 'conversion');
  const webhooks = new ConversionWebhooks({
    open: (signal) => servers.open('conversion', (request, gone) => webhooks.handle(request, gone), signal),
    keep: (crdName, certificates, onTried, signal) =>
      keepCrdConversion(
        crdName,
        { kube, reflectors, clock, random, log, target, certificates },
        onTried,
        signal,
      ),
    runs: new PQueue({ concurrency: settings.webhookMaxRuns }),
    clock,
    log,
    stop,
  });
  // The same hook must give the same object, since `add` and `remove` compare identities.
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

/** As {@link admissionHook}, for one step of a conversion. */
function conversionHook(runtime: HookRuntime, runDeps: WebhookRunDeps): ConversionHook {
  const { hook } = runtime;
  return {
    title: title(hook),
    bindings: hook.config.conversion,
    convert: async (binding, rule, review, caller, signal) => {
      const reason = { type: 'conversion', binding, rule, review } as const;
      const effects = await runForWebhook(runDeps, runtime, { reason, caller }, signal);
      return effects.conversion;
    },
  };
}
