import { Buffer } from 'node:buffer';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseJson } from '@addon-operator/json';
import { withDeadline } from '@addon-operator/kube-client/deadline';
import { type GateObservation, readQueryResult } from './evaluate-gate.ts';

/** A query has its own time-out in Prometheus (2 min by default); a gate is asked again soon. */
const TIMEOUT_MS = 10_000;
/** A gate needs one number: a query that returns so many series is a mistake. */
const MAX_BODY_BYTES = 1024 * 1024;

export interface QueryOptions {
  readonly clock: SteadyClock;
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends an instant query to the Prometheus API. Redirects are not followed, since they could lead to
 * another host. No response, a refusal and an unreadable response are `unknown` with the reason.
 *
 * @param url base address, as in the gate
 * @throws only the reason of the signal
 */
export async function queryPrometheus(
  { url, promql }: { readonly url: string; readonly promql: string },
  { clock, timeoutMs = TIMEOUT_MS }: QueryOptions,
  signal: AbortSignal,
): Promise<GateObservation> {
  try {
    const target = new URL(`${url.replace(/\/+$/, '')}/api/v1/query`);
    // fetch refuses such an address too, with the password in its message.
    if (target.username !== '' || target.password !== '')
      return {
        type: 'unknown',
        reason: `the address of Prometheus at ${target.host} must not have a password`,
      };
    target.searchParams.set('query', promql);
    const error = (): Error => new OperatorError('ABORTED', `no response within ${timeoutMs} ms`);
    const { response, body } = await withDeadline(
      { clock, limitMs: timeoutMs, error },
      signal,
      async (limited) => {
        const received = await fetch(target, { redirect: 'manual', signal: limited });
        return { response: received, body: await readBody(received) };
      },
    );
    if (response.ok) return readQueryResult(parseJson(body));
    // 400 and 422 have a JSON body that says what is wrong with the query.
    const refusal = response.headers.get('content-type')?.includes('json') === true ? body : undefined;
    if (refusal !== undefined) return readQueryResult(parseJson(refusal));
    return {
      type: 'unknown',
      reason: `Prometheus at ${target.host} responds with status ${response.status}`,
    };
  } catch (error) {
    signal.throwIfAborted();
    return { type: 'unknown', reason: `Prometheus cannot be queried: ${reasonOf(error)}` };
  }
}

/** fetch says only that it failed; the cause has the reason. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return messageOf(cause ?? error);
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) throw new Error(`its response is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
