import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';

let lab: ApiLab;

beforeEach(async () => {
  lab = new ApiLab();
  lab.startControllers();
  lab.create('/api/v1/namespaces', { metadata: { name: 'team' } });
  await lab.settle();
});

test('a namespace is active, labelled with its name, and furnished', () => {
  expect(lab.get('/api/v1/namespaces/team').body).toMatchObject({
    metadata: { labels: { 'kubernetes.io/metadata.name': 'team' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
  expect(lab.get('/api/v1/namespaces/team/serviceaccounts/default').status).toBe(200);
  expect(lab.get('/api/v1/namespaces/team/configmaps/kube-root-ca.crt').status).toBe(200);
});

test('what every namespace has comes back when it is deleted', async () => {
  lab.call('DELETE', '/api/v1/namespaces/team/serviceaccounts/default');
  await lab.settle();
  expect(lab.get('/api/v1/namespaces/team/serviceaccounts/default').status).toBe(200);
});

test('a deleted namespace is emptied, then goes', async () => {
  lab.create('/api/v1/namespaces/team/secrets', { metadata: { name: 'a' } });
  const watch = lab.watch('/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dteam');

  expect(lab.call('DELETE', '/api/v1/namespaces/team').body).toMatchObject({
    kind: 'Namespace',
    status: { phase: 'Terminating' },
  });
  await lab.settle();

  expect(watch.titles).toEqual(['ADDED team', 'MODIFIED team', 'DELETED team']);
  expect(lab.get('/api/v1/secrets').body).toMatchObject({ items: [] });
});

test('a namespace waits for objects that finalizers hold', async () => {
  lab.create('/api/v1/namespaces/team/secrets', { metadata: { name: 'a', finalizers: ['x/y'] } });
  lab.call('DELETE', '/api/v1/namespaces/team');
  await lab.settle();
  expect(lab.get('/api/v1/namespaces/team').body).toMatchObject({ status: { phase: 'Terminating' } });
  lab.patch('/api/v1/namespaces/team/secrets/a', 'merge', { metadata: { finalizers: null } });
  await lab.settle();
  expect(lab.get('/api/v1/namespaces/team').status).toBe(404);
});

test('finalize removes the finalizer of a namespace', () => {
  const body = {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'team' },
    spec: { finalizers: ['kubernetes'] },
  };
  expect(lab.call('PUT', '/api/v1/namespaces/team/finalize', body).status).toBe(200);
});
