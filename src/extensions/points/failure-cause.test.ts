import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { causeInText, failureCause, namedObjects } from './failure-cause.ts';

/** As helm 3 and helm 4 wrote them. */
const INVALID =
  'cannot patch "web" with kind Deployment: Deployment.apps "web" is invalid: spec.selector: Invalid value: field is immutable';
const CONFLICT =
  'conflict occurred while applying object default/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas';

test.each([
  [INVALID, 'Invalid', 422],
  [CONFLICT, 'Conflict', 409],
  ['Operation cannot be fulfilled on deployments.apps "web": the object has been modified', 'Conflict', 409],
  ['failed to create resource: services "web" already exists', 'AlreadyExists', 409],
  ['secrets "web" is forbidden: User "x" cannot get resource "secrets"', 'Forbidden', 403],
  ['pods "web" is forbidden: exceeded quota: compute', 'Forbidden', 403],
  ['admission webhook "a.example.com" denied the request: not on a Sunday', 'BadRequest', 400],
  [
    'Internal error occurred: failed calling webhook "a": Post "https://a": dial tcp: connection refused',
    'InternalError',
    500,
  ],
  [
    'resource mapping not found for name: "web" namespace: "" from "": no matches for kind "Gadget" in version "a/v1"',
    'NotFound',
    404,
  ],
  ['namespaces "web" not found', 'NotFound', 404],
  ['the server is currently unable to handle the request', 'ServiceUnavailable', 503],
  ['etcdserver: request timed out', 'InternalError', 500],
  [
    'Kubernetes cluster unreachable: Get "https://10.0.0.1/version": dial tcp: i/o timeout',
    'Unreachable',
    null,
  ],
  ['client rate limiter Wait returned an error: context deadline exceeded', 'Unreachable', null],
  ['execution error at (web/templates/a.yaml:1:3): no value', 'Unknown', null],
  [
    'Cannot deploy release "web": other field managers changed fields that its chart sets (/Deployment/web: .spec.replicas (kubectl))',
    'Conflict',
    409,
  ],
])('causeInText() of %j is %s', (text, reason, status) => {
  expect(causeInText(text)).toEqual({ reason, status });
});

test('failureCause() takes the word of the API server where there is one', () => {
  const response = new KubeApiError('no', { status: 403, reason: 'Forbidden' });
  expect(failureCause(response)).toEqual({ reason: 'Forbidden', status: 403 });
  expect(failureCause(new KubeApiError('no', { status: 502, reason: '' }))).toEqual({
    reason: 'Unknown',
    status: 502,
  });
  expect(failureCause(new OperatorError('HELM_FAILED', 'x "a" is invalid: b'))).toMatchObject({
    reason: 'Invalid',
  });
});

function object(kind: string, name: string, namespace = 'default'): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace } };
}

test.each<[string, readonly KubeObject[], readonly string[]]>([
  [
    INVALID,
    [object('Deployment', 'web'), object('Service', 'web'), object('Deployment', 'db')],
    ['Deployment web'],
  ],
  [CONFLICT, [object('Deployment', 'web'), object('Deployment', 'we')], ['Deployment web']],
  ['services "web" already exists', [object('Service', 'web'), object('Deployment', 'web')], ['Service web']],
  [
    'networkpolicies.networking.k8s.io "web" is forbidden',
    [object('NetworkPolicy', 'web')],
    ['NetworkPolicy web'],
  ],
  [
    'configmaps "web-1" not found',
    [object('ConfigMap', 'web'), object('ConfigMap', 'web-1')],
    ['ConfigMap web-1'],
  ],
  ['configmaps "a.b" not found', [object('ConfigMap', 'a'), object('ConfigMap', 'a.b')], ['ConfigMap a.b']],
  [
    'failed to create resource: namespaces "team" not found',
    [object('ConfigMap', 'a', 'team'), object('ConfigMap', 'b'), object('Namespace', 'other')],
    ['ConfigMap a'],
  ],
  [
    'Cannot deploy release "web": cannot patch "db" with kind ConfigMap: ConfigMap "db" is invalid',
    [object('ConfigMap', 'web'), object('ConfigMap', 'db')],
    ['ConfigMap db'],
  ],
  [
    'Deployment.apps "web" is invalid: a && services "db" already exists',
    [
      object('Deployment', 'web'),
      object('Deployment', 'db'),
      object('Service', 'web'),
      object('Service', 'db'),
    ],
    ['Deployment web', 'Service db'],
  ],
  [
    'resource mapping not found for name: "web" namespace: "" from "": no matches for kind "Gadget" in version "a/v1"',
    [object('Gadget', 'web'), object('ConfigMap', 'web')],
    ['Gadget web'],
  ],
  [
    'the Deployment, which is named "web", is not to our taste',
    [object('Deployment', 'web')],
    ['Deployment web'],
  ],
  [
    'other field managers changed fields that its chart sets (/Deployment/web: .spec.replicas (kubectl))',
    [object('Deployment', 'web'), object('Deployment', 'we')],
    ['Deployment web'],
  ],
  ['timed out waiting for the condition', [object('Deployment', 'web')], []],
])('namedObjects() finds the objects that %j is about', (text, objects, expected) => {
  expect(namedObjects(text, objects).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
    expected,
  );
});
