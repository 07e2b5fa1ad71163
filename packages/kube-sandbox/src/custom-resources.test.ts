import { expect, test } from 'vitest';
import { compareVersions, kindsOfDefinition } from './custom-resources.ts';
import type { ResourceObject } from './resource-object.ts';

test('versions are ordered as discovery does', () => {
  const versions = [
    'foo1',
    'v1',
    'v10',
    'v2',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo10',
  ];
  expect(versions.toSorted((left, right) => compareVersions(right, left))).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ]);
});

const definition: ResourceObject = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      { name: 'v1', served: true, subresources: { status: {} } },
      { name: 'v2', served: false },
    ],
  },
};

test('a definition brings one kind for each served version', () => {
  expect(kindsOfDefinition(definition)).toMatchObject([
    {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      plural: 'widgets',
      listKind: 'WidgetList',
      isNamespaced: false,
      isCustom: true,
      hasStatus: true,
      columns: [{ name: 'Age', jsonPath: '.metadata.creationTimestamp' }],
    },
  ]);
});

test('a definition that is about to go brings none', () => {
  const metadata = { ...definition.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(kindsOfDefinition({ ...definition, metadata })).toEqual([]);
});
