import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { stringAt, valueAt } from './json-access.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

function revision(): number {
  return lab.state.store.revision;
}

test('a create returns 201 with the fields that the server added', () => {
  const created = lab.create(`${CONFIG_MAPS}?fieldManager=me`, { metadata: { name: 'a' }, data: { x: 'y' } });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'uid-2',
      resourceVersion: '2',
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [
        {
          manager: 'me',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } },
        },
      ],
    },
    data: { x: 'y' },
  });
});

test('the field manager is the first word of the user agent when none is named', () => {
  const { body } = lab.call(
    'POST',
    CONFIG_MAPS,
    { metadata: { name: 'a' }, data: { a: 'b' } },
    { userAgent: 'helm/3.17 (x)' },
  );
  expect(valueAt(body, 'metadata', 'managedFields', 0, 'manager')).toBe('helm');
});

test('a name is made from generateName', () => {
  const { body } = lab.create(CONFIG_MAPS, { metadata: { generateName: 'run-' } });
  expect(body).toMatchObject({ metadata: { name: 'run-bbbbb', generateName: 'run-' } });
  expect(lab.create(CONFIG_MAPS, { metadata: { generateName: 'run-' } }).status).toBe(409);
});

test('a dry run returns the same as a real request and changes nothing', () => {
  const before = revision();
  expect(lab.create(`${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'a' } }).status).toBe(201);
  lab.create(CONFIG_MAPS, { metadata: { name: 'b' }, data: { x: '1' } });
  expect(lab.patch(`${CONFIG_MAPS}/b?dryRun=All`, 'merge', { data: { x: '2' } }).body).toMatchObject({
    data: { x: '2' },
  });
  expect(lab.call('DELETE', `${CONFIG_MAPS}/b?dryRun=All`).status).toBe(200);
  expect(lab.get(`${CONFIG_MAPS}/b`).body).toMatchObject({ data: { x: '1' } });
  expect(revision()).toBe(before + 1);
  expect(lab.create(`${CONFIG_MAPS}?dryRun=Some`, { metadata: { name: 'a' } }).status).toBe(400);
});

test('an update that changes nothing keeps the revision', () => {
  lab.create(CONFIG_MAPS, { metadata: { name: 'a' }, data: { x: '1' } });
  const before = revision();
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { x: '1' } });
  lab.call('PUT', `${CONFIG_MAPS}/a`, { metadata: { name: 'a' }, data: { x: '1' } });
  expect(revision()).toBe(before);
});

test('a stale resourceVersion conflicts, none overwrites', () => {
  lab.create(CONFIG_MAPS, { metadata: { name: 'a' } });
  const stale = { metadata: { name: 'a', resourceVersion: '1' }, data: { x: '2' } };
  expect(lab.call('PUT', `${CONFIG_MAPS}/a`, stale)).toMatchObject({
    status: 409,
    body: { reason: 'Conflict' },
  });
  expect(lab.call('PUT', `${CONFIG_MAPS}/a`, { metadata: { name: 'a' }, data: { x: '2' } }).status).toBe(200);
});

test('a PUT creates Leases and roles, but no ConfigMaps', () => {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/leader';
  expect(lab.call('PUT', lease, { metadata: { name: 'leader' }, spec: {} }).status).toBe(201);
  expect(lab.call('PUT', lease, { metadata: { name: 'other' }, spec: {} }).status).toBe(400);
  expect(lab.call('PUT', `${CONFIG_MAPS}/a`, { metadata: { name: 'a' } }).status).toBe(404);
});

test('unknown fields warn, are refused under Strict, and are never kept', () => {
  const body = { metadata: { name: 'a', odd: 1 }, datta: {} };
  const warned = lab.create(CONFIG_MAPS, body);
  expect(warned.warnings).toEqual(['unknown field "metadata.odd"', 'unknown field "datta"']);
  expect(warned.body).not.toHaveProperty('datta');
  expect(lab.create(`${CONFIG_MAPS}?fieldValidation=Strict`, body)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('strict decoding error: unknown field "metadata.odd"') },
  });
  expect(
    lab.create(`${CONFIG_MAPS}?fieldValidation=Ignore`, { ...body, metadata: { name: 'b' } }).warnings,
  ).toEqual([]);
  expect(lab.create(`${CONFIG_MAPS}?fieldValidation=Maybe`, body).status).toBe(400);
});

test('spec changes are counted, status and metadata changes are not', () => {
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  };
  lab.create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  const generation = (): unknown => valueAt(lab.get(`${DEPLOYMENTS}/web`).body, 'metadata', 'generation');
  lab.patch(`${DEPLOYMENTS}/web`, 'merge', { metadata: { labels: { x: 'y' } } });
  lab.patch(`${DEPLOYMENTS}/web/status`, 'merge', { status: { replicas: 1 } });
  expect(generation()).toBe(1);
  lab.patch(`${DEPLOYMENTS}/web`, 'merge', { spec: { replicas: 2 } });
  expect(generation()).toBe(2);
});

test('the status is changed through its subresource only, and nothing else through that', () => {
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  };
  lab.create(DEPLOYMENTS, { metadata: { name: 'web' }, spec, status: { replicas: 7 } });
  lab.patch(`${DEPLOYMENTS}/web`, 'merge', { status: { replicas: 8 } });
  expect(lab.get(`${DEPLOYMENTS}/web`).body['status']).toEqual({});
  lab.patch(`${DEPLOYMENTS}/web/status`, 'merge', { status: { replicas: 9 }, spec: { replicas: 5 } });
  expect(lab.get(`${DEPLOYMENTS}/web`).body).toMatchObject({
    spec: { replicas: 1 },
    status: { replicas: 9 },
  });
});

test('the status of a node is kept when it is created, as that of a kubelet, and not when it is changed', () => {
  const node = { metadata: { name: 'a' }, status: { allocatable: { cpu: '2' } } };
  expect(lab.create('/api/v1/nodes', node).body).toMatchObject({ status: { allocatable: { cpu: '2' } } });
  lab.patch('/api/v1/nodes/a', 'merge', {
    metadata: { labels: { a: 'b' } },
    status: { allocatable: { cpu: '9' } },
  });
  expect(lab.get('/api/v1/nodes/a').body).toMatchObject({
    metadata: { labels: { a: 'b' } },
    status: { allocatable: { cpu: '2' } },
  });
  expect(lab.create('/api/v1/nodes', { metadata: { name: 'b' } }).body).toMatchObject({ status: {} });
});

test('a scale is read, patched and replaced', () => {
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
  };
  lab.create(DEPLOYMENTS, { metadata: { name: 'web' }, spec });
  const path = `${DEPLOYMENTS}/web/scale`;
  expect(lab.get(path).body).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 1 },
    status: { selector: 'a=b' },
  });
  expect(lab.patch(path, 'merge', { spec: { replicas: 3 } }).body).toMatchObject({ spec: { replicas: 3 } });
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web' },
    spec: { replicas: 4 },
  };
  expect(lab.call('PUT', path, scale).status).toBe(200);
  expect(lab.get(`${DEPLOYMENTS}/web`).body).toMatchObject({
    spec: { replicas: 4 },
    metadata: { generation: 3 },
  });
  expect(lab.patch(path, 'merge', { spec: { replicas: -1 } }).status).toBe(422);
  expect(lab.patch(path, 'merge', { metadata: { resourceVersion: '1' }, spec: { replicas: 1 } }).status).toBe(
    409,
  );
});

test('a deletion returns a Status, for some kinds the object', () => {
  lab.create(CONFIG_MAPS, { metadata: { name: 'a' } });
  expect(lab.call('DELETE', `${CONFIG_MAPS}/a`).body).toMatchObject({
    kind: 'Status',
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: 'uid-2' },
  });
  lab.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'a' } });
  expect(lab.call('DELETE', '/api/v1/namespaces/default/serviceaccounts/a').body).toMatchObject({
    kind: 'ServiceAccount',
  });
});

test('finalizers hold a deleted object until the last is gone', () => {
  lab.create(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x/y'] } });
  const deleted = lab.call('DELETE', `${CONFIG_MAPS}/a`, { propagationPolicy: 'Background' });
  expect(stringAt(deleted.body, 'metadata', 'deletionTimestamp')).toBe('2026-01-01T00:00:00Z');
  expect(lab.get(`${CONFIG_MAPS}/a`).status).toBe(200);
  expect(lab.patch(`${CONFIG_MAPS}/a`, 'merge', { metadata: { finalizers: null } }).status).toBe(200);
  expect(lab.get(`${CONFIG_MAPS}/a`).status).toBe(404);
});

test('a collection is deleted by selector', () => {
  for (const name of ['a', 'b']) lab.create(CONFIG_MAPS, { metadata: { name, labels: { name } } });
  expect(lab.call('DELETE', `${CONFIG_MAPS}?labelSelector=name%3Da`).status).toBe(200);
  expect(lab.get(CONFIG_MAPS).body).toMatchObject({ items: [{ metadata: { name: 'b' } }] });
});

test('a namespace under deletion takes nothing new', () => {
  lab.create('/api/v1/namespaces', { metadata: { name: 'old' } });
  lab.call('DELETE', '/api/v1/namespaces/old');
  expect(lab.create('/api/v1/namespaces/old/configmaps', { metadata: { name: 'a' } })).toMatchObject({
    status: 403,
    body: { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } },
  });
  expect(lab.create('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } })).toMatchObject({
    status: 404,
    body: { message: 'namespaces "none" not found' },
  });
});

test('numbers beyond 2^53 are kept as they were written', () => {
  const crd = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
  lab.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const path = '/apis/example.com/v1/things';
  lab.create(
    path,
    '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"big":12345678901234567890}}',
  );
  lab.patch(`${path}/a`, 'merge', { spec: { small: 1 } });
  expect(lab.get(`${path}/a`).text).toContain('"big":12345678901234567890');
});
