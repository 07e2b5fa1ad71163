import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { listAt, stringAt } from './json-access.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
  lab.startControllers();
});

function create(name: string, owners: readonly string[] = [], extra: object = {}): string {
  const ownerReferences = owners.map((uid) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'o',
    uid,
    ...extra,
  }));
  return stringAt(lab.create(CONFIG_MAPS, { metadata: { name, ownerReferences } }).body, 'metadata', 'uid');
}

function names(): readonly string[] {
  const items = listAt(
    lab.get(`${CONFIG_MAPS}?fieldSelector=metadata.name!%3Dkube-root-ca.crt`).body,
    'items',
  );
  return items.map((item) => stringAt(item, 'metadata', 'name'));
}

async function remove(name: string, propagationPolicy: string): Promise<void> {
  lab.call('DELETE', `${CONFIG_MAPS}/${name}`, { propagationPolicy });
  await lab.settle();
}

test('what an object owns goes after it, at any depth', async () => {
  const owner = create('owner');
  const child = create('child', [owner]);
  create('grandchild', [child]);
  await remove('owner', 'Background');
  expect(names()).toEqual([]);
});

test('an object stays while one of its owners does', async () => {
  const first = create('first');
  const second = create('second');
  create('child', [first, second]);
  await remove('first', 'Background');
  expect(names()).toEqual(['child', 'second']);
});

test('an object whose owner never was is taken away', async () => {
  create('lost', ['no-such-uid']);
  await lab.settle();
  expect(names()).toEqual([]);
});

test('in the foreground the owner goes last', async () => {
  const owner = create('owner');
  create('child', [owner], { blockOwnerDeletion: true });
  lab.patch(`${CONFIG_MAPS}/child`, 'merge', { metadata: { finalizers: ['x/y'] } });
  await remove('owner', 'Foreground');
  expect(names()).toEqual(['child', 'owner']);
  lab.patch(`${CONFIG_MAPS}/child`, 'merge', { metadata: { finalizers: null } });
  await lab.settle();
  expect(names()).toEqual([]);
});

test('orphaned objects stay, without the reference', async () => {
  const owner = create('owner');
  create('child', [owner]);
  await remove('owner', 'Orphan');
  expect(names()).toEqual(['child']);
  expect(lab.get(`${CONFIG_MAPS}/child`).body['metadata']).not.toHaveProperty('ownerReferences');
});

test('refuses a policy that there is not', () => {
  create('a');
  expect(lab.call('DELETE', `${CONFIG_MAPS}/a`, { propagationPolicy: 'Sideways' }).status).toBe(422);
  expect(lab.call('DELETE', `${CONFIG_MAPS}/a?orphanDependents=true&propagationPolicy=Orphan`).status).toBe(
    400,
  );
});

test('preconditions protect from deleting another object of the same name', () => {
  create('a');
  expect(lab.call('DELETE', `${CONFIG_MAPS}/a`, { preconditions: { uid: 'other' } }).status).toBe(409);
  expect(lab.call('DELETE', `${CONFIG_MAPS}/a`, { preconditions: { resourceVersion: '1' } }).status).toBe(
    409,
  );
  expect(names()).toEqual(['a']);
});
