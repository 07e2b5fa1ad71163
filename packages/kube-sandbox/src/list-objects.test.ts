import { beforeEach, expect, test } from 'vitest';
import { ApiLab, type CallResult } from '../test/api-lab.ts';
import { listAt, stringAt } from './json-access.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
  for (const name of ['a', 'b', 'c', 'd', 'e']) create(name);
});

function create(name: string): void {
  lab.create(CONFIG_MAPS, { metadata: { name, labels: { [name]: 'x', all: 'yes' } } });
}

function names({ body }: CallResult): readonly string[] {
  return listAt(body, 'items').map((item) => stringAt(item, 'metadata', 'name'));
}

function continued({ body }: CallResult): string {
  return encodeURIComponent(stringAt(body, 'metadata', 'continue'));
}

test('a list has kind, revision and items without type', () => {
  const { body } = lab.get(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Da`);
  expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '6' } });
  expect(listAt(body, 'items')[0]).not.toHaveProperty('kind');
});

test('pages follow one another, and show what remains', () => {
  const first = lab.get(`${CONFIG_MAPS}?limit=2`);
  expect(names(first)).toEqual(['a', 'b']);
  expect(first.body).toMatchObject({ metadata: { remainingItemCount: 3 } });
  const second = lab.get(`${CONFIG_MAPS}?limit=2&continue=${continued(first)}`);
  expect(names(second)).toEqual(['c', 'd']);
  const third = lab.get(`${CONFIG_MAPS}?limit=2&continue=${continued(second)}`);
  expect(names(third)).toEqual(['e']);
  expect(third.body['metadata']).toEqual({ resourceVersion: '6' });
});

test('later pages show the state of the first, also after changes in between', () => {
  const first = lab.get(`${CONFIG_MAPS}?limit=2`);
  lab.call('DELETE', `${CONFIG_MAPS}/d`);
  create('cc');
  lab.patch(`${CONFIG_MAPS}/c`, 'merge', { data: { changed: 'yes' } });
  lab.call('DELETE', `${CONFIG_MAPS}/e`);
  create('e');

  const rest = lab.get(`${CONFIG_MAPS}?continue=${continued(first)}`);

  expect(names(rest)).toEqual(['c', 'd', 'e']);
  expect(listAt(rest.body, 'items')[0]).not.toHaveProperty('data');
  expect(rest.body).toMatchObject({ metadata: { resourceVersion: '6' } });
});

test('pages with a selector do not count what remains', () => {
  const first = lab.get(`${CONFIG_MAPS}?limit=2&labelSelector=all`);
  expect(names(first)).toEqual(['a', 'b']);
  expect(first.body['metadata']).not.toHaveProperty('remainingItemCount');
  expect(names(lab.get(`${CONFIG_MAPS}?labelSelector=all&continue=${continued(first)}`))).toEqual([
    'c',
    'd',
    'e',
  ]);
});

test('an exact revision shows the past', () => {
  lab.call('DELETE', `${CONFIG_MAPS}/a`);
  expect(names(lab.get(`${CONFIG_MAPS}?resourceVersion=6&resourceVersionMatch=Exact`))).toContain('a');
  expect(names(lab.get(`${CONFIG_MAPS}?resourceVersion=6&resourceVersionMatch=NotOlderThan`))).not.toContain(
    'a',
  );
  expect(names(lab.get(`${CONFIG_MAPS}?resourceVersion=6`))).not.toContain('a');
  expect(names(lab.get(`${CONFIG_MAPS}?resourceVersion=0&limit=2`))).toEqual(['b', 'c']);
});

test('a forgotten revision has expired, one of the future is too large', () => {
  for (let count = 0; count < 5000; count += 1)
    lab.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { count: String(count) } });
  expect(lab.get(`${CONFIG_MAPS}?resourceVersion=6&resourceVersionMatch=Exact`)).toMatchObject({
    status: 410,
    body: { reason: 'Expired' },
  });
  const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":6,"start":"default/b"}').toString('base64');
  expect(lab.get(`${CONFIG_MAPS}?continue=${token}`)).toMatchObject({
    status: 410,
    body: { reason: 'Expired' },
  });
  expect(lab.get(`${CONFIG_MAPS}?resourceVersion=99999`)).toMatchObject({
    status: 504,
    body: { reason: 'Timeout' },
  });
});

test.each([
  ['limit=x', 400],
  ['resourceVersion=abc', 400],
  ['continue=abc', 400],
  ['continue=abc&resourceVersion=5', 400],
  ['resourceVersionMatch=Exact', 422],
  ['resourceVersion=0&resourceVersionMatch=Exact', 422],
  ['resourceVersion=1&resourceVersionMatch=Sometimes', 400],
  ['labelSelector=a%3D%3D%3Db', 400],
  ['fieldSelector=data%3Dx', 400],
])('refuses %s with %i', (query, status) => {
  expect(lab.get(`${CONFIG_MAPS}?${query}`).status).toBe(status);
});

test('all namespaces are listed in order', () => {
  lab.create('/api/v1/namespaces', { metadata: { name: 'aaa' } });
  lab.create('/api/v1/namespaces/aaa/configmaps', { metadata: { name: 'z' } });
  expect(names(lab.get('/api/v1/configmaps?limit=2'))).toEqual(['z', 'a']);
});
