import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { RecordingTracer } from '../../../../test/support/recording-tracer.ts';
import { KubeApiError, type KubeRequest } from '../kube-client.ts';
import { tracedRequests } from './traced-requests.ts';

const { signal } = new AbortController();
const PATH = '/api/v1/namespaces/shop/configmaps/web';

function lab(reply: (request: KubeRequest) => Promise<unknown>) {
  const clock = new FakeClock();
  const tracer = new RecordingTracer();
  tracer.nowMs = () => clock.steadyMs();
  const span = tracer.start({ name: 'patch objects', traceId: 'f'.repeat(32) });
  const requests = tracedRequests({ request: reply }, clock, span);
  return { clock, requests, root: () => tracer.spans[0]?.all, children: () => tracer.spans.slice(1) };
}

test('quick requests are only counted on the span of the operations', async () => {
  const { requests, root, children } = lab(() => Promise.resolve({ kind: 'ConfigMap' }));
  expect(await requests.request({ method: 'GET', path: PATH }, signal)).toEqual({ kind: 'ConfigMap' });
  await requests.request({ method: 'PUT', path: PATH }, signal);
  expect(root()).toEqual({ 'addon_operator.requests': 2, 'addon_operator.requests_ms': 0 });
  expect(children()).toEqual([]);
});

test('a slow request has a span, with its object and without its body', async () => {
  const { clock, requests, root, children } = lab(async () => {
    await clock.advance(100);
    return undefined;
  });
  await requests.request({ method: 'PATCH', path: PATH, body: { data: { password: 's3cret' } } }, signal);
  expect(root()?.['addon_operator.requests_ms']).toBe(100);
  expect(children()).toMatchObject([
    {
      name: 'kube patch configmaps',
      kind: 'client',
      beganMs: 0,
      endMs: 100,
      error: undefined,
      all: { 'k8s.namespace.name': 'shop', 'addon_operator.object.name': 'web' },
    },
  ]);
  expect(JSON.stringify(children()[0]?.all)).not.toContain('s3cret');
});

test('a failed request has a span with its status, and each repetition its number', async () => {
  const conflict = new KubeApiError('changed meanwhile', { status: 409, reason: 'Conflict' });
  const { requests, children } = lab(() => Promise.reject(conflict));
  const post = { method: 'POST', path: '/apis/apps/v1/deployments' } as const;
  await expect(requests.request(post, signal)).rejects.toBe(conflict);
  await expect(requests.request(post, signal)).rejects.toBe(conflict);
  expect(children().map(({ name, error }) => [name, error])).toEqual([
    ['kube post deployments', 'changed meanwhile'],
    ['kube post deployments', 'changed meanwhile'],
  ]);
  const attributes = children().map(({ all }) => all);
  expect(attributes.map((all) => all['http.response.status_code'])).toEqual([409, 409]);
  expect(attributes.map((all) => all['http.request.resend_count'])).toEqual([undefined, 1]);
});

test.each([
  ['/api/v1/namespaces/shop', 'namespaces', undefined, 'shop'],
  ['/apis/apps/v1/namespaces/shop/deployments/web/status', 'deployments', 'shop', 'web'],
  ['/apis/example.com/v1/things/a', 'things', undefined, 'a'],
  ['/version', '/version', undefined, undefined],
])('%s is about %s', async (path, resource, namespace, name) => {
  const { requests, children } = lab(() => Promise.reject(new Error('no')));
  await expect(requests.request({ method: 'GET', path }, signal)).rejects.toThrow('no');
  expect(children()[0]?.name).toBe(`kube get ${resource}`);
  expect(children()[0]?.all['k8s.namespace.name']).toBe(namespace);
  expect(children()[0]?.all['addon_operator.object.name']).toBe(name);
});
