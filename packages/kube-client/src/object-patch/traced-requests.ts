import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Span } from '@addon-operator/base/trace';
import { KubeApiError, type KubeClient, type KubeRequest } from '../kube-client.ts';

/** A request that is as slow as this has a span of its own; quick ones are only counted. */
const SLOW_MS = 100;

/** Totals over all requests of one span. */
interface Sent {
  /** How often each request was sent. */
  readonly attempts: Map<string, number>;
  count: number;
  totalMs: number;
}

/**
 * Sends requests, and shows on the span of the operations how many there were and what they took together: most of them are
 * not worth a span each.
 */
export function tracedRequests(
  kube: Pick<KubeClient, 'request'>,
  clock: SteadyClock,
  span: Span,
): Pick<KubeClient, 'request'> {
  const sent: Sent = { attempts: new Map(), count: 0, totalMs: 0 };
  return {
    request: async (request, signal) => {
      const startMs = clock.steadyMs();
      try {
        const response = await kube.request(request, signal);
        note(span, sent, request, { startMs, endMs: clock.steadyMs() });
        return response;
      } catch (error) {
        note(span, sent, request, { startMs, endMs: clock.steadyMs(), error });
        throw error;
      }
    },
  };
}

/** Adds a request to the totals; a failed or slow one also gets a span of its own. */
function note(
  span: Span,
  sent: Sent,
  { method, path }: KubeRequest,
  { startMs, endMs, error }: { readonly startMs: number; readonly endMs: number; readonly error?: unknown },
): void {
  const key = `${method} ${path}`;
  const repetition = sent.attempts.get(key) ?? 0;
  sent.attempts.set(key, repetition + 1);
  sent.count += 1;
  sent.totalMs += endMs - startMs;
  span.set({ 'addon_operator.requests': sent.count, 'addon_operator.requests_ms': sent.totalMs });
  if (error === undefined && endMs - startMs < SLOW_MS) return;
  const { resource, namespace, name } = partsOf(path);
  const attributes = {
    'http.request.method': method,
    'http.response.status_code': error instanceof KubeApiError ? error.status : undefined,
    'http.request.resend_count': repetition > 0 ? repetition : undefined,
    'k8s.namespace.name': namespace,
    'addon_operator.object.name': name,
  };
  const child = span.child({
    name: `kube ${method.toLowerCase()} ${resource}`,
    kind: 'client',
    startMs,
    attributes,
  });
  child.end({ endMs, ...(error !== undefined && { error: messageOf(error) }) });
}

/** `/api/v1/namespaces/x` is a namespace object, so the namespace needs a part behind it. */
const OBJECT_PATH =
  /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?/;

/** Resource, namespace and name in the path of a request. */
function partsOf(path: string): {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
} {
  const { resource = path, namespace, name } = OBJECT_PATH.exec(path)?.groups ?? {};
  return { resource, namespace, name };
}
