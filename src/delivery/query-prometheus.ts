import { Buffer } from 'node:buffer';
import { messageOf } from '@addon-operator/base/errors';
import { parseJson } from '@addon-operator/json';
import { type GateObservation, readQueryResult } from './evaluate-gate.ts';

/** A query has its own time-out in Prometheus (2 min by default); a gate is asked again soon. */
const TIMEOUT_MS = 10_000;
/** A gate needs one number: a query that returns so many series is a mistake. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Sends an instant query to the Prometheus API. Redirects are not followed, since they could lead to
 * another host. No response, a refusal and an unreadable response are `unknown` with the reason.
 *
 * @param url base address, as in the gate
 * @throws only the reason of the signal
 */
export async function queryPrometheus(
  { url, promql }: { readonly url: string; readonly promql: string },
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
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
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(target, { redirect: 'manual', signal: limited });
    const body = await readBody(response);
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
