import { parseJson } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { childKey, formFactorOf, keyedChildren, requestBody } from './request-body.ts';

const SERVICE: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'a' } };
const KNATIVE: KubeObject = { ...SERVICE, apiVersion: 'serving.knative.dev/v1' };
const ROLE: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'web' },
};

test.each([
  [SERVICE, 'Service/a/web'],
  [KNATIVE, 'Service.serving.knative.dev/a/web'],
  [ROLE, 'ClusterRole.rbac.authorization.k8s.io/web'],
])('childKey() distinguishes kinds and places: %j', (object, key) => {
  expect(childKey(object)).toBe(key);
});

test('keyedChildren() loses no object', () => {
  expect(Object.keys(keyedChildren([SERVICE, KNATIVE, SERVICE, SERVICE]))).toEqual([
    'Service/a/web',
    'Service.serving.knative.dev/a/web',
    'Service/a/web#2',
    'Service/a/web#3',
  ]);
});

test('formFactorOf() is ksvc with a Service of Knative, and with no other', () => {
  expect(formFactorOf([ROLE, KNATIVE])).toBe('ksvc');
  expect(formFactorOf([SERVICE])).toBe('deployment');
  expect(formFactorOf([])).toBe('deployment');
});

test('requestBody() has exactly the elements of the hooks API, and numbers as they are', () => {
  const child = parseJson('{"kind":"A","metadata":{"name":"a"},"big":12345678901234567890}') as KubeObject;
  const object: KubeObject = { kind: 'Module', metadata: { name: 'web' }, status: { phase: 'Init' } };
  expect(requestBody({ phase: 'pre-reconcile', object, children: [child] })).toBe(
    '{"formFactor":"deployment","phase":"pre-reconcile","object":{"kind":"Module","metadata":{"name":"web"},' +
      '"status":{"phase":"Init"}},"children":{"A/a":{"kind":"A","metadata":{"name":"a"},"big":12345678901234567890}}}',
  );
});
