import type { SharedReflectors } from '../kube/reflector-sink.ts';
import type { WebhookRunDeps } from '../operator/webhook-run.ts';
import { createAdmission, type WebhookSwitch } from './admission-part.ts';
import { createConversion } from './conversion-part.ts';
import { WebhookServers, type WebhookServersOptions } from './webhook-server.ts';

/** Puts the webhooks of hooks together; nothing is served before the first hook needs it. */
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
