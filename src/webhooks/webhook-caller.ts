import type { SteadyClock } from '@addon-operator/base/clock';
import { parseTraceparent } from '@addon-operator/base/trace';
import type { WebhookRequest } from '@addon-operator/http-server/tls-server';
import type { WebhookCaller } from '../hook-runs/webhook-run.ts';

/** When a request came, and the span of the client that sent it. */
export function callerOf({ traceparent = '' }: WebhookRequest, clock: SteadyClock): WebhookCaller {
  return { atMs: clock.steadyMs(), span: parseTraceparent(traceparent) };
}
