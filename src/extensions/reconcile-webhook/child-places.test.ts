import { OperatorError } from '@addon-operator/base/errors';
import type { ApiResource, KubeObject } from '@addon-operator/kube-client/kube-object';
import { describe, expect, test } from 'vitest';
import { ChildPlaces, type ChildPlacesOptions } from './child-places.ts';

const never = new AbortController().signal;
const NAMESPACED: Readonly<Record<string, boolean>> = {
  ConfigMap: true,
  Namespace: false,
  ClusterRole: false,
};

function object(kind: string, name: string, namespace?: string): KubeObject {
  const apiVersion = kind === 'ClusterRole' ? 'rbac.authorization.k8s.io/v1' : 'v1';
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

function listOf(kind: string, ...items: readonly KubeObject[]): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name: 'all' }, items };
}

async function find(_apiVersion: string, kind: string): Promise<ApiResource> {
  const isNamespaced = NAMESPACED[kind];
  if (isNamespaced === undefined) throw new OperatorError('KUBE_KIND_UNKNOWN', `no ${kind}`);
  const names = { group: '', version: 'v1', kind, plural: kind, singular: kind };
  return await Promise.resolve({ ...names, shortNames: [], isNamespaced, verbs: [] });
}

interface Case extends Partial<Pick<ChildPlacesOptions, 'allowed'>> {
  readonly children: readonly KubeObject[];
  readonly rendered?: readonly KubeObject[];
  readonly deployed?: readonly KubeObject[];
}

async function check({ children, rendered = [], deployed = [], allowed = [] }: Case): Promise<void> {
  const deployedObjects = async () => await Promise.resolve(deployed);
  const places = new ChildPlaces({ namespace: 'addons', allowed, find, deployed: deployedObjects });
  await places.check('web', rendered, children, never);
}

describe('check() accepts', () => {
  test.each<[string, Case]>([
    ['what has no namespace written and is of a namespaced kind', { children: [object('ConfigMap', 'a')] }],
    ['what is in the namespace of the release', { children: [object('ConfigMap', 'a', 'addons')] }],
    [
      'what is in a namespace that the chart creates',
      {
        rendered: [object('Namespace', 'shop')],
        children: [object('Namespace', 'shop'), object('ConfigMap', 'a', 'shop')],
      },
    ],
    [
      'what the chart has anywhere',
      {
        rendered: [object('ClusterRole', 'a'), object('ConfigMap', 'b', 'kube-system')],
        children: [object('ClusterRole', 'a'), object('ConfigMap', 'b', 'kube-system')],
      },
    ],
    [
      'what the chart has in a list',
      { rendered: [object('ClusterRole', 'a')], children: [listOf('List', object('ClusterRole', 'a'))] },
    ],
    ['a kind that is not served, which helm refuses', { children: [object('Gadget', 'a')] }],
    [
      'an unknown kind that the chart has',
      {
        rendered: [object('Gadget', 'a')],
        children: [object('Gadget', 'a', 'addons'), object('Gadget', 'a')],
      },
    ],
    [
      'what the release owns already',
      {
        deployed: [object('Namespace', 'old'), object('ConfigMap', 'b', 'other')],
        children: [object('Namespace', 'old'), object('ConfigMap', 'b', 'other')],
      },
    ],
    ['a namespace of the setting', { allowed: ['other'], children: [object('ConfigMap', 'a', 'other')] }],
    ['any namespace for *', { allowed: ['*'], children: [object('ConfigMap', 'a', 'kube-system')] }],
    ['objects of the cluster for Cluster', { allowed: ['Cluster'], children: [object('ClusterRole', 'a')] }],
  ])('%s', async (_title, given) => {
    await expect(check(given)).resolves.toBeUndefined();
  });
});

describe('check() refuses', () => {
  test.each<[string, Case, string]>([
    [
      'an object of the cluster',
      { children: [object('Namespace', 'kube-system')] },
      'Namespace/kube-system (cluster-scoped)',
    ],
    [
      'an object of the cluster with a namespace written into it',
      { children: [object('Namespace', 'kube-system', 'addons')] },
      'Namespace/kube-system (cluster-scoped)',
    ],
    ['another namespace', { children: [object('ConfigMap', 'a', 'other')] }, 'ConfigMap/other/a'],
    [
      'another namespace that has the name of an object of the release',
      { rendered: [object('ConfigMap', 'a')], children: [object('ConfigMap', 'a', 'other')] },
      'ConfigMap/other/a',
    ],
    [
      'a namespace in which the chart only has an object',
      { rendered: [object('ConfigMap', 'a', 'other')], children: [object('ConfigMap', 'b', 'other')] },
      'ConfigMap/other/b',
    ],
    [
      'items of a list, whatever its kind and depth',
      { children: [listOf('List', listOf('ConfigMap', object('Namespace', 'kube-system')))] },
      'Namespace/kube-system (cluster-scoped)',
    ],
    [
      'a namespace whose object the webhook adds itself',
      {
        deployed: [object('Namespace', 'other')],
        children: [object('Namespace', 'other'), object('ConfigMap', 'a', 'other')],
      },
      'ConfigMap/other/a',
    ],
    [
      'an object of the cluster for *',
      { allowed: ['*'], children: [object('ClusterRole', 'a')] },
      'ClusterRole.rbac.authorization.k8s.io/a (cluster-scoped)',
    ],
    [
      'another namespace for Cluster',
      { allowed: ['Cluster'], children: [object('ConfigMap', 'a', 'other')] },
      'ConfigMap/other/a',
    ],
  ])('%s', async (_title, given, named) => {
    await expect(check(given)).rejects.toMatchObject({
      code: 'HOOK_OUTPUT_INVALID',
      message: expect.stringContaining(`neither in the chart nor in the release: ${named}. If`),
    });
  });
});

test('check() names the entries that the setting lacks', async () => {
  const children = [object('ConfigMap', 'a', 'other'), object('ClusterRole', 'b')];
  await expect(check({ children })).rejects.toThrow('add other,Cluster to --http-hook-child-namespaces');
});
