/**
 * Keeps a certificate current: loads it once at the start, which must succeed, then every 30 s in the background. A later
 * failure is logged, and the last certificate stays in use.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type {
  ServingCertificate,
  WebhookCertificates,
} from '@addon-operator/http-server/webhook-certificates';
import { CertificateSlot } from '@addon-operator/http-server/webhook-certificates';

export interface CertificateSourceOptions {
  /** Gives the certificate that is to be used now, and renews it where that is our task. */
  readonly load: (signal: AbortSignal) => Promise<ServingCertificate>;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

/** Certificates that are looked after. */
export interface CertificateSource {
  readonly certificates: WebhookCertificates;
  /** Looks for another certificate every 30 s until the signal aborts; then it resolves. */
  run(signal: AbortSignal): Promise<void>;
}

const CHECK_MS = 30_000;

/**
 * Loads the first certificate, and those that replace it. While a later one cannot be loaded, the last one stays in use.
 *
 * @throws what `load` throws for the first one
 */
export async function openCertificateSource(
  { load, clock, log }: CertificateSourceOptions,
  signal: AbortSignal,
): Promise<CertificateSource> {
  const slot = new CertificateSlot(await load(signal));
  return {
    certificates: slot,
    async run(stop) {
      while (!stop.aborted) {
        try {
          await clock.sleep(CHECK_MS, stop);
          const next = await load(stop);
          if (slot.replace(next))
            log.info(
              { expires: new Date(next.expiresMs).toISOString() },
              'certificate of webhooks is replaced',
            );
        } catch (error) {
          if (!stop.aborted) log.warn(errorFields(error), 'cannot check the certificate of webhooks');
        }
      }
    },
  };
}
