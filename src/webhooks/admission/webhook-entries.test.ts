import { expect, test } from 'vitest';
import type { AdmissionBinding, AdmissionRule } from '../../hook-config/admission-binding.ts';
import { stopsEverything, webhookEntry } from './webhook-entries.ts';

const RULE: AdmissionRule = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
  operations: ['*'],
};
const BINDING: AdmissionBinding = {
  type: 'kubernetesValidating',
  name: 'a.example.com',
  failurePolicy: 'Fail',
  sideEffects: 'None',
  timeoutSeconds: 10,
  snapshotsFrom: [],
};
const PLACE = {
  target: { type: 'service', namespace: 'ns', name: 'svc' },
  ca: 'PEM',
  ownState: { namespace: 'ns', configMap: 'addon-operator', secret: 'certs' },
} as const;

test('an entry has the fields of the contract', () => {
  const objectSelector = { matchLabels: { a: 'b' } };
  const matchConditions = [{ name: 'c', expression: 'true' }];
  const binding = { ...BINDING, rules: [RULE], objectSelector, matchConditions };
  expect(webhookEntry(binding, PLACE)).toEqual({
    name: 'a.example.com',
    rules: [RULE],
    objectSelector,
    matchConditions,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 10,
    matchPolicy: 'Equivalent',
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: {
      service: { namespace: 'ns', name: 'svc', path: '/hooks/a-example-com' },
      caBundle: 'UEVN',
    },
  });
});

test('without rules there are none', () => {
  expect(webhookEntry(BINDING, PLACE)).not.toHaveProperty('rules');
});

test.each([
  [{ apiGroups: [''], resources: ['configmaps'] }, true],
  [{ apiGroups: ['', 'apps'], resources: ['pods', 'secrets'] }, true],
  [{ apiGroups: ['*'], resources: ['*'] }, true],
  [{ apiGroups: [''], resources: ['pods'] }, false],
  [{ apiGroups: ['apps'], resources: ['*'] }, false],
])('with %j the own objects of the daemon are spared: %s', (part, isSpared) => {
  const { matchConditions } = webhookEntry({ ...BINDING, rules: [{ ...RULE, ...part }] }, PLACE);
  expect(matchConditions !== undefined).toBe(isSpared);
});

test('only a webhook for everything with failurePolicy Fail stops everything', () => {
  const rules = [{ ...RULE, apiGroups: ['*'], resources: ['*'] }];
  expect(stopsEverything({ ...BINDING, rules })).toBe(true);
  expect(stopsEverything({ ...BINDING, rules, failurePolicy: 'Ignore' })).toBe(false);
  expect(stopsEverything({ ...BINDING, rules: [RULE] })).toBe(false);
  expect(stopsEverything({ ...BINDING, rules: [{ ...RULE, apiGroups: ['*'], resources: ['*/*'] }] })).toBe(
    true,
  );
});
