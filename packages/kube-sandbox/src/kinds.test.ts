import { expect, test } from 'vitest';
import { KindRegistry } from './kind-registry.ts';
import { apiVersionOf, BUILT_IN_KINDS, storageOf } from './kinds.ts';

test('every built-in kind has a URL of its own, and all but Events a place', () => {
  const urls = BUILT_IN_KINDS.map((kind) => `${apiVersionOf(kind)}/${kind.plural}`);
  expect(new Set(urls).size).toBe(urls.length);
  const storages = BUILT_IN_KINDS.filter(({ group }) => group !== 'events.k8s.io').map(storageOf);
  expect(new Set(storages).size).toBe(storages.length);
});

test('the kinds that charts commonly have are there', () => {
  const names = BUILT_IN_KINDS.map((kind) => `${apiVersionOf(kind)} ${kind.kind}`);
  expect(names).toEqual(
    expect.arrayContaining([
      'v1 ConfigMap',
      'v1 ServiceAccount',
      'apps/v1 StatefulSet',
      'batch/v1 CronJob',
      'networking.k8s.io/v1 Ingress',
      'policy/v1 PodDisruptionBudget',
      'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
      'autoscaling/v2 HorizontalPodAutoscaler',
      'storage.k8s.io/v1 StorageClass',
      'coordination.k8s.io/v1 Lease',
      'discovery.k8s.io/v1 EndpointSlice',
      'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration',
      'apiextensions.k8s.io/v1 CustomResourceDefinition',
    ]),
  );
});

test('the registry finds kinds by URL, by object and by storage, custom ones while they are served', () => {
  const registry = new KindRegistry();
  const [template] = BUILT_IN_KINDS;
  if (template === undefined) throw new Error('no kinds');
  const custom = {
    ...template,
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
    isCustom: true,
  };

  registry.setCustomKinds('widgets.example.com', [custom]);

  expect(registry.find('example.com', 'v1', 'widgets')).toBe(custom);
  expect(registry.ofObject('example.com/v1', 'Widget')).toBe(custom);
  expect(registry.ofObject('v1', 'Widget')).toBeUndefined();
  expect(registry.ofStorage('example.com/widgets')).toBe(custom);
  expect(registry.hasGroup('example.com', 'v1')).toBe(true);
  expect(registry.hasGroup('example.com', 'v2')).toBe(false);
  registry.setCustomKinds('widgets.example.com', []);
  expect(registry.hasGroup('example.com')).toBe(false);
  expect(registry.find('', 'v1', 'configmaps')?.kind).toBe('ConfigMap');
});
