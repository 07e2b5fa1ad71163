import { beforeEach, expect, test } from 'vitest';
import { ApiLab, type CallResult } from '../test/api-lab.ts';
import { listAt, stringAt, valueAt } from './json-access.ts';

const PATH = '/api/v1/namespaces/default/configmaps/a';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

function apply(manager: string, data: object, query = ''): CallResult {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
  return lab.patch(`${PATH}?fieldManager=${manager}${query}`, 'apply', body);
}

function managers(): readonly string[] {
  return listAt(lab.get(PATH).body, 'metadata', 'managedFields').map(
    (entry) => `${stringAt(entry, 'operation')} ${stringAt(entry, 'manager')}`,
  );
}

function data(): unknown {
  return lab.get(PATH).body['data'];
}

test('an apply creates, then changes nothing when nothing is new', async () => {
  expect(apply('helm', { a: '1' }).status).toBe(201);
  await lab.clock.advance(5000);
  const again = apply('helm', { a: '1' });
  expect(again.status).toBe(200);
  expect(valueAt(again.body, 'metadata', 'resourceVersion')).toBe('2');
});

test('what a manager no longer applies goes, unless another owns it', () => {
  apply('helm', { a: '1', b: '2' });
  apply('other', { b: '2' });
  apply('helm', { c: '3' });
  expect(data()).toEqual({ b: '2', c: '3' });
  expect(managers()).toEqual(['Apply other', 'Apply helm']);
});

test('what a client wrote in between stays', () => {
  apply('helm', { a: '1' });
  lab.patch(`${PATH}?fieldManager=kubectl-patch`, 'merge', { data: { c: '3' } });
  apply('helm', { b: '2' });
  expect(data()).toEqual({ b: '2', c: '3' });
  expect(managers()).toEqual(['Apply helm', 'Update kubectl-patch']);
});

test('fields of others conflict, unless forced', () => {
  apply('helm', { a: '1' });
  lab.patch(`${PATH}?fieldManager=kubectl-patch`, 'merge', { data: { a: '2' } });

  const refused = apply('helm', { a: '1' });

  expect(refused).toMatchObject({
    status: 409,
    body: {
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "kubectl-patch" using v1: .data.a',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] },
    },
  });
  expect(apply('helm', { a: '1' }, '&force=true').status).toBe(200);
  expect(managers()).toEqual(['Apply helm']);
});

test('several conflicts are listed by manager', () => {
  apply('one', { a: '1', b: '1' });
  expect(apply('two', { a: '2', b: '2' }).body['message']).toBe(
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b',
  );
});

test('the same value can have several owners, those that changed nothing are not dated', () => {
  apply('one', { a: '1' });
  expect(apply('two', { a: '1' }).status).toBe(200);
  expect(managers()).toEqual(['Apply two', 'Apply one']);
});

test('an applied status loses what its manager leaves out, and keeps what others said', () => {
  const path = '/api/v1/namespaces/team/status';
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  const condition = { type: 'Odd', status: 'True', reason: 'So', message: '' };
  lab.patch('/api/v1/namespaces/team?fieldManager=x', 'apply', body);
  lab.patch(`${path}?fieldManager=y`, 'apply', { ...body, status: { phase: 'Active' } });
  lab.patch(`${path}?fieldManager=x`, 'apply', { ...body, status: { conditions: [condition] } });
  lab.patch(`${path}?fieldManager=x`, 'apply', { ...body, status: {} });
  const { status } = lab.get('/api/v1/namespaces/team').body as { readonly status: object };
  expect(status).toMatchObject({ phase: 'Active' });
  expect(status).not.toHaveProperty('conditions');
});

test('a status is applied on its own', () => {
  lab.create('/api/v1/namespaces', { metadata: { name: 'team' } });
  const body = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', labels: { a: 'b' } },
    status: { phase: 'Odd' },
  };
  lab.patch('/api/v1/namespaces/team/status?fieldManager=x', 'apply', body);
  lab.patch('/api/v1/namespaces/team?fieldManager=x', 'apply', { ...body, status: { phase: 'Ignored' } });
  expect(lab.get('/api/v1/namespaces/team').body).toMatchObject({
    metadata: { labels: { a: 'b' } },
    status: { phase: 'Odd' },
  });
});

test('an object without managers is taken to have been written before', () => {
  lab.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' }, data: { a: '1' } });
  lab.patch(PATH, 'json', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }]);
  expect(managers()).toEqual([]);
  lab.patch(`${PATH}?fieldManager=later`, 'merge', { data: { b: '2' } });
  expect(managers()).toEqual([]);
  apply('helm', { b: '2' });
  expect(managers()).toEqual(['Apply helm', 'Update before-first-apply']);
});

test('kubectl takes over from its own client-side apply', () => {
  const configuration = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { a: '1', b: '2' },
  };
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(configuration) };
  lab.create('/api/v1/namespaces/default/configmaps?fieldManager=kubectl-client-side-apply', {
    ...configuration,
    metadata: { name: 'a', annotations },
  });
  expect(apply('other', { a: '9' }).status).toBe(409);
  expect(apply('kubectl', { a: '9' }).status).toBe(200);
  const annotation = stringAt(
    lab.get(PATH).body,
    'metadata',
    'annotations',
    Object.keys(annotations)[0] ?? '',
  );
  expect(JSON.parse(annotation)).toMatchObject({ data: { a: '9' } });
  lab.patch(`${PATH}?fieldManager=kubectl-edit`, 'merge', { data: { b: 'changed' } });
  expect(apply('kubectl', { a: '9', b: '3' }).status).toBe(409);
});

test('refuses an apply without manager, type or the right name', () => {
  const named = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  expect(lab.patch(PATH, 'apply', named)).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
  expect(lab.patch(`${PATH}?fieldManager=x`, 'apply', { metadata: { name: 'a' } }).status).toBe(400);
  expect(lab.patch(`${PATH}?fieldManager=x`, 'apply', { ...named, metadata: { name: 'b' } }).status).toBe(
    400,
  );
  const withManagers = { ...named, metadata: { name: 'a', managedFields: [] } };
  expect(lab.patch(`${PATH}?fieldManager=x`, 'apply', withManagers).status).toBe(400);
});

test('takes YAML, as the content type says', () => {
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1"}\n';
  expect(lab.patch(`${PATH}?fieldManager=x`, 'apply', yaml).status).toBe(201);
  expect(lab.patch(`${PATH}?fieldManager=x`, 'apply', 'a: [').status).toBe(400);
});

test('merges list elements by key, and takes out those that are gone from the configuration', () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/web';
  const deployment = (containers: readonly object[]): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
    },
  });
  lab.patch(
    `${path}?fieldManager=helm`,
    'apply',
    deployment([
      { name: 'main', image: 'x' },
      { name: 'old', image: 'x' },
    ]),
  );
  lab.patch(`${path}?fieldManager=mesh`, 'apply', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { template: { spec: { containers: [{ name: 'proxy', image: 'y' }] } } },
  });
  lab.patch(`${path}?fieldManager=helm`, 'apply', deployment([{ name: 'main', image: 'z' }]));
  const containers = listAt(lab.get(path).body, 'spec', 'template', 'spec', 'containers');
  expect(containers).toMatchObject([
    { name: 'main', image: 'z' },
    { name: 'proxy', image: 'y' },
  ]);
});
