import { expect, test } from 'vitest';
import { responseStatus } from '../../../../test/support/loopback-server.ts';
import {
  collection,
  configMap,
  file,
  loseFirstResponse,
  patchLab,
  target,
  timeOutFirst,
} from '../../../../test/support/patch-lab.ts';

test('Create posts the object, kind and version filled in, and fails on one that exists', async () => {
  const { apply, calls, objects } = await patchLab();
  const operation = {
    operation: 'Create',
    object: { kind: 'cm', metadata: { name: 'a', namespace: 'web' } },
  };
  expect(await apply(file(operation))).toBe('applied');
  expect(objects.get(`${collection}/a`)).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  expect(await apply(file(operation))).toContain(
    'OperatorError: 1 of 1 object patch operations failed: operation 1: Create object cm/web/a: The API server refused POST /api/v1/namespaces/web/configmaps: 409 AlreadyExists',
  );
  expect(calls()).toEqual([`POST ${collection}`, `POST ${collection}`]);
});

test('CreateIfNotExists leaves an object that exists as it is', async () => {
  const { apply, calls, objects, seed } = await patchLab();
  seed('a', { data: { old: '1' } });
  expect(await apply(file({ operation: 'CreateIfNotExists', object: configMap('a') }))).toBe('applied');
  expect(objects.get(`${collection}/a`)?.['data']).toEqual({ old: '1' });
  expect(calls()).toEqual([`POST ${collection}`]);
});

test('CreateOrUpdate creates, or replaces the whole object', async () => {
  const { apply, calls, objects, seed } = await patchLab();
  expect(await apply(file({ operation: 'CreateOrUpdate', object: configMap('new') }))).toBe('applied');
  seed('a', { data: { old: '1' } });
  expect(
    await apply(file({ operation: 'CreateOrUpdate', object: configMap('a', { data: { n: '2' } }) })),
  ).toBe('applied');
  expect(objects.get(`${collection}/a`)?.['data']).toEqual({ n: '2' });
  expect(calls()).toEqual([
    `POST ${collection}`,
    `POST ${collection}`,
    `GET ${collection}/a`,
    `PUT ${collection}/a`,
  ]);
});

test('CreateOrUpdate starts again when the object is changed or deleted between its requests', async () => {
  let puts = 0;
  const { apply, objects, seed } = await patchLab((request) => {
    if (request.method !== 'PUT') return false;
    puts += 1;
    if (puts === 1) seed('a', { data: { other: 'x' } });
    if (puts === 2) objects.delete(`${collection}/a`);
    return false;
  });
  seed('a');
  expect(
    await apply(file({ operation: 'CreateOrUpdate', object: configMap('a', { data: { n: '2' } }) })),
  ).toBe('applied');
  expect(puts).toBe(2);
  expect(objects.get(`${collection}/a`)?.['data']).toEqual({ n: '2' });
});

test('CreateOrUpdate fails after many conflicts in a row', async () => {
  const { apply, calls, seed } = await patchLab((request, response) => {
    if (request.method === 'PUT') responseStatus(response, 409, 'Conflict');
    return request.method === 'PUT';
  });
  seed('a');
  expect(await apply(file({ operation: 'CreateOrUpdate', object: configMap('a') }))).toContain(
    '409 Conflict',
  );
  expect(calls().filter((call) => call.startsWith('PUT'))).toHaveLength(6);
});

test.each(['Create', 'CreateIfNotExists', 'CreateOrUpdate'])(
  '%s has one effect when its response is lost',
  async (operation) => {
    const { apply, objects } = await patchLab(loseFirstResponse('POST'));
    expect(await apply(file({ operation, object: configMap('a', { data: { n: '1' } }) }))).toBe('applied');
    expect(objects.size).toBe(1);
  },
);

test.each(['Create', 'CreateIfNotExists', 'CreateOrUpdate'])(
  '%s is repeated after a time-out without effect',
  async (operation) => {
    const { apply, calls, objects } = await patchLab(timeOutFirst('POST'));
    expect(await apply(file({ operation, object: configMap('a') }))).toBe('applied');
    expect(objects.size).toBe(1);
    expect(calls().filter((call) => call.startsWith('POST'))).toHaveLength(2);
  },
);

test.each([
  ['other data', { data: { n: 'theirs' } }],
  ['no data', {}],
  ['a text in place of data', { data: 'theirs' }],
  ['a list in place of data', { data: ['theirs'] }],
])('Create does not take an object with %s for its own after a time-out', async (_what, theirs) => {
  const { apply, seed } = await patchLab(timeOutFirst('POST'));
  seed('a', theirs);
  expect(
    await apply(file({ operation: 'Create', object: configMap('a', { data: { n: 'ours' } }) })),
  ).toContain('an existing object with this name differs');
});

test.each([
  ['an empty map', { data: {} }, {}],
  ['an empty list', { data: { list: [] } }, { data: {} }],
  ['empty maps in a map', { data: { a: { b: {} }, c: {} } }, {}],
  ['an empty text, false and 0', { data: { text: '', flag: false, number: 0 } }, { data: {} }],
  ['null for what the server sets', { data: { at: null } }, { data: { at: '2026-01-01T00:00:00Z' } }],
  ['null', { data: null }, {}],
])(
  'Create knows its object after a lost response, when the API server does not store %s',
  async (_what, ours, stored) => {
    const { apply, seed } = await patchLab(timeOutFirst('POST'));
    seed('a', stored);
    expect(await apply(file({ operation: 'Create', object: configMap('a', ours) }))).toBe('applied');
  },
);

test.each([
  ['a map', { data: { a: {} } }, { data: { a: 'x' } }],
  ['a map with content', { data: { a: { b: { c: 'x' } } } }, { data: { a: {} } }],
  ['a list with content', { data: { a: ['x'] } }, { data: {} }],
  ['an empty list', { data: { a: [] } }, { data: { a: ['x'] } }],
  ['an empty text', { data: { a: '' } }, { data: { a: 'x' } }],
  ['false', { data: { a: false } }, { data: { a: true } }],
  ['0', { data: { a: 0 } }, { data: { a: 1 } }],
])(
  'Create does not take an object for its own that has something else than %s',
  async (_what, ours, theirs) => {
    const { apply, seed } = await patchLab(timeOutFirst('POST'));
    seed('a', theirs);
    expect(await apply(file({ operation: 'Create', object: configMap('a', ours) }))).toContain(
      'an existing object with this name differs',
    );
  },
);

test.each([
  ['Create', 'posts again', '409 AlreadyExists'],
  ['CreateIfNotExists', 'succeeds', 'applied'],
])('%s %s after a lost response, when it may not read the object', async (operation, _does, outcome) => {
  const lose = loseFirstResponse('POST');
  const { apply, calls, objects } = await patchLab((request, response) => {
    if (request.method !== 'GET') return lose(request, response);
    responseStatus(response, 403, 'Forbidden');
    return true;
  });
  expect(await apply(file({ operation, object: configMap('a') }))).toContain(outcome);
  expect(objects.size).toBe(1);
  expect(calls().map((call) => call.split(' ')[0])).toEqual(['POST', 'GET', 'POST']);
});

test('JQPatch and CreateOrUpdate read again before they repeat a PUT', async () => {
  const first = await patchLab(loseFirstResponse('PUT'));
  first.seed('a');
  expect(await first.apply(file({ operation: 'JQPatch', ...target, jqFilter: 'x' }))).toBe('applied');
  expect(first.calls().map((call) => call.split(' ')[0])).toEqual(['GET', 'PUT', 'GET']);

  const second = await patchLab(timeOutFirst('PUT'));
  second.seed('a');
  expect(await second.apply(file({ operation: 'CreateOrUpdate', object: configMap('a') }))).toBe('applied');
  expect(second.calls().map((call) => call.split(' ')[0])).toEqual([
    'POST',
    'GET',
    'PUT',
    'POST',
    'GET',
    'PUT',
  ]);
});

test('JQPatch fails when the response to its write is lost twice', async () => {
  const { apply, calls, seed } = await patchLab(({ method }, response) => {
    if (method !== 'PUT') return false;
    responseStatus(response, 504, 'Timeout');
    return true;
  });
  seed('a');
  expect(await apply(file({ operation: 'JQPatch', ...target, jqFilter: 'x' }))).toContain('504');
  expect(calls().map((call) => call.split(' ')[0])).toEqual(['GET', 'PUT', 'GET', 'PUT']);
});

test.each([
  ['a list with further items', { list: [1, 2, 3] }, { list: [1, 2] }, 'differs from the requested one'],
  ['a field of null that the server leaves out', {}, { list: null }, 'applied'],
])('Create after a time-out compares an object with %s', async (_what, existing, wanted, outcome) => {
  const { apply, seed } = await patchLab(timeOutFirst('POST'));
  seed('a', existing);
  expect(await apply(file({ operation: 'Create', object: configMap('a', wanted) }))).toContain(outcome);
});
