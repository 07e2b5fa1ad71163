import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

test.each([
  ['GET', '/healthz', 200],
  ['GET', '/readyz', 200],
  ['GET', '/livez', 200],
  ['GET', '/version', 200],
  ['GET', '/version?timeout=32s', 200],
  ['GET', '/nothing', 404],
  ['GET', '/api', 200],
  ['GET', '/api/v1', 200],
  ['GET', '/api/v2', 404],
  ['GET', '/apis', 200],
  ['GET', '/apis/apps', 200],
  ['GET', '/apis/apps/v1', 200],
  ['GET', '/apis/apps/v9', 404],
  ['GET', '/apis/none', 404],
  ['GET', '/openapi/v2', 200],
  ['GET', '/openapi/v2/api', 404],
  ['GET', '/openapi/v1', 404],
  ['GET', '/openapi/v3', 200],
  ['GET', '/openapi/v3/api/v1?hash=x', 200],
  ['GET', '/openapi/v3/apis/apps/v1', 200],
  ['GET', '/openapi/v3/apis/none/v1', 404],
  ['GET', '/api/v1/nothings', 404],
  ['GET', '/api/v1/configmaps', 200],
  ['GET', '/api/v1/configmaps/a', 404],
  ['GET', '/api/v1/namespaces/default/nodes', 404],
  ['POST', '/api/v1/configmaps', 405],
  ['POST', `${CONFIG_MAPS}/a`, 405],
  ['PUT', CONFIG_MAPS, 405],
  ['DELETE', '/api/v1/namespaces', 405],
  ['DELETE', '/api/v1/configmaps', 405],
  ['HEAD', CONFIG_MAPS, 405],
  ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 405],
  ['GET', `${CONFIG_MAPS}/a/status`, 404],
  ['GET', '/api/v1/namespaces/default/status', 200],
  ['DELETE', '/api/v1/namespaces/default/status', 405],
])('%s %s returns %i', (method, path, status) => {
  expect(lab.call(method, path).status).toBe(status);
});

test('a failure is a Status with message, reason and code', () => {
  expect(lab.get('/apis/apps/v1/namespaces/default/deployments/web').body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'deployments.apps "web" not found',
    reason: 'NotFound',
    details: { name: 'web', group: 'apps', kind: 'deployments' },
    code: 404,
  });
});

test('subresources that need a node return 501 for an object that exists, 404 for one that does not', () => {
  lab.create('/api/v1/namespaces/default/pods', {
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  for (const subresource of ['log', 'exec', 'attach', 'portforward', 'proxy/x/y']) {
    expect(lab.get(`/api/v1/namespaces/default/pods/a/${subresource}`)).toMatchObject({
      status: 501,
      body: { kind: 'Status', reason: 'NotImplemented' },
    });
  }
  expect(lab.get('/api/v1/namespaces/default/pods/b/log').status).toBe(404);
});

test('no user is refused anything', () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  expect(lab.create(path, review)).toMatchObject({
    status: 201,
    body: { kind: 'SelfSubjectAccessReview', ...review, status: { allowed: true } },
  });
  expect(lab.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}).body).toMatchObject({
    status: { userInfo: { username: 'sandbox' } },
  });
});

test('every token is valid until it expires', () => {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const review = (token: string) => lab.create(path, { spec: { token } }).body;
  const until = (exp: number): string => `a.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.c`;
  const soon = Math.floor(lab.clock.wallMs() / 1_000) + 60;
  for (const token of ['any', 'a.b.c', until(soon)])
    expect(review(token)).toMatchObject({
      kind: 'TokenReview',
      status: { authenticated: true, user: { username: 'sandbox' } },
    });
  for (const token of ['', until(soon - 61)])
    expect(review(token)).toMatchObject({ status: { user: {}, error: expect.any(String) as string } });
});

test('an unreadable response is refused', () => {
  expect(lab.get('/api/v1/nodes', 'application/vnd.kubernetes.protobuf')).toMatchObject({
    status: 406,
    body: { reason: 'NotAcceptable' },
  });
});

test('a defect is thrown, not dressed up as a refusal', () => {
  const broken = {
    ...lab.state,
    newUid: () => {
      throw new Error('defect');
    },
  };
  Object.assign(lab.state, broken);
  expect(() => lab.create(CONFIG_MAPS, { metadata: { name: 'a' } })).toThrow('defect');
});
