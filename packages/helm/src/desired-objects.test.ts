import { expect, test } from 'vitest';
import { desiredObjects } from './desired-objects.ts';

const IDENTITY = { release: 'web', namespace: 'ns' };
const OF_HELM = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'ns' },
};

function desired(...objects: readonly unknown[]) {
  return desiredObjects(
    objects.map((object) => JSON.stringify(object)),
    (text) => JSON.parse(text) as unknown,
    IDENTITY,
  );
}

const map = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...rest,
});

test('desiredObjects() adds what helm writes onto each object', () => {
  const object = map('a', { metadata: { name: 'a', namespace: 'other', labels: { app: 'web' } } });
  expect(desired(object).objects).toEqual([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'a',
      namespace: 'other',
      fields: {
        ...object,
        metadata: { ...object.metadata, ...OF_HELM, labels: { app: 'web', ...OF_HELM.labels } },
      },
    },
  ]);
});

test('desiredObjects() unfolds lists and leaves out hooks, nulls and what has no name', () => {
  const { objects } = desired(
    null,
    { apiVersion: 'v1', kind: 'List', items: [map('a', { data: { x: null, y: ['1', { z: null }] } })] },
    map('hook', { metadata: { name: 'hook', annotations: { 'helm.sh/hook': 'pre-install' } } }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'b-' } },
  );
  expect(objects.map(({ name }) => name)).toEqual(['a']);
  expect(objects[0]?.fields['data']).toEqual({ y: ['1', {}] });
});

test('desiredObjects() writes the texts of a Secret as its data', () => {
  const secret = { ...map('a'), kind: 'Secret', data: { a: 'YQ==' }, stringData: { b: 'b' } };
  expect(desired(secret).objects[0]?.fields).toMatchObject({ data: { a: 'YQ==', b: 'Yg==' } });
  expect(desired(secret).objects[0]?.fields).not.toHaveProperty('stringData');
});

test('desiredObjects() reports what cannot be read and goes on', () => {
  const read = (text: string): unknown => {
    if (text === 'bad') throw new Error('line 1: a key occurs twice');
    return JSON.parse(text) as unknown;
  };
  const { objects, problems } = desiredObjects(['bad', JSON.stringify(map('a'))], read, IDENTITY);
  expect(objects).toHaveLength(1);
  expect(problems).toEqual(['line 1: a key occurs twice']);
});

test('desiredObjects() leaves the rules of an aggregated ClusterRole to the controller that fills them', () => {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'a' },
    rules: [],
  };
  const aggregationRule = { clusterRoleSelectors: [] };
  const [plain, aggregated] = desired(role, { ...role, aggregationRule }).objects;
  expect(plain?.fields).toHaveProperty('rules');
  expect(aggregated?.fields).toMatchObject({ aggregationRule });
  expect(aggregated?.fields).not.toHaveProperty('rules');
});
