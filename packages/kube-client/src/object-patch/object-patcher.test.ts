import { expect, test } from 'vitest';
import { responseJson, responseStatus } from '../../../../test/support/loopback-server.ts';
import {
  collection,
  configMap,
  file,
  type Intercept,
  patchLab,
  target,
} from '../../../../test/support/patch-lab.ts';

test.each([
  ['DeleteInBackground', 'Background'],
  ['DeleteNonCascading', 'Orphan'],
])('%s requests propagation %s and does not wait', async (operation, propagationPolicy) => {
  const { apply, calls, objects, seed, server } = await patchLab();
  seed('a');
  expect(await apply(file({ operation, ...target }))).toBe('applied');
  expect(objects.size).toBe(0);
  expect(calls()).toEqual([`DELETE ${collection}/a`]);
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
    kind: 'DeleteOptions',
    propagationPolicy,
  });
});

/** Deletions are accepted, and the object stays, held by a finalizer. */
const hold: Intercept = (request, response) => {
  if (request.method !== 'DELETE') return false;
  responseJson(response, 200, {
    kind: 'ConfigMap',
    metadata: { uid: 'uid-1', finalizers: ['acme.io/hold'] },
  });
  return true;
};

test('Delete waits until the object is gone', async () => {
  let gets = 0;
  const { apply, clock, objects, seed, server } = await patchLab((request, response) => {
    if (request.method === 'GET') gets += 1;
    if (gets === 3) objects.clear();
    return hold(request, response);
  });
  seed('a');
  expect(await apply(file({ operation: 'Delete', ...target }))).toBe('applied');
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ propagationPolicy: 'Foreground' });
  expect(clock.steadyMs()).toBe(3_000);
});

test('Delete fails after 20 s and names the finalizers', async () => {
  const { apply, calls, clock, seed } = await patchLab(hold);
  seed('a', { metadata: { name: 'a', finalizers: ['acme.io/hold'] } });
  expect(await apply(file({ operation: 'Delete', ...target }))).toContain(
    'operation 1: Delete object cm/web/a: The object still exists 20 s after its deletion; it waits for its finalizers: acme.io/hold',
  );
  expect(clock.steadyMs()).toBe(20_000);
  expect(calls()).toHaveLength(21);
});

test('Delete takes a new object of the same name for none of its business', async () => {
  const { apply, clock, objects, seed } = await patchLab((request, response) => {
    if (request.method !== 'GET') return hold(request, response);
    objects.clear();
    seed('a');
    return false;
  });
  seed('a');
  expect(await apply(file({ operation: 'Delete', ...target }))).toBe('applied');
  expect(clock.steadyMs()).toBe(1_000);
});

test.each(['Delete', 'DeleteInBackground', 'DeleteNonCascading'])(
  '%s of a missing object is no failure',
  async (operation) => {
    const { apply, warnings } = await patchLab();
    expect(await apply(file({ operation, ...target }))).toBe('applied');
    expect(warnings).toEqual([]);
  },
);

test('a deletion that the server refuses has failed', async () => {
  const { apply } = await patchLab((_request, response) => {
    responseStatus(response, 403, 'Forbidden', 'no');
    return true;
  });
  expect(await apply(file({ operation: 'DeleteInBackground', ...target }))).toContain('403 Forbidden');
});

test('MergePatch and JSONPatch send their patch to the object or its subresource', async () => {
  const { apply, seed, server } = await patchLab();
  seed('a');
  const jsonPatch = [{ op: 'remove', path: '/data' }];
  expect(
    await apply(
      file(
        { operation: 'MergePatch', ...target, mergePatch: { data: { n: null } } },
        { operation: 'JSONPatch', ...target, subresource: '/status', jsonPatch },
      ),
    ),
  ).toBe('applied');
  expect(server.requests.map(({ path, headers, body }) => [path, headers['content-type'], body])).toEqual([
    [`${collection}/a`, 'application/merge-patch+json', '{"data":{"n":null}}'],
    [`${collection}/a/status`, 'application/json-patch+json', JSON.stringify(jsonPatch)],
  ]);
});

test('MergePatch is repeated on a conflict', async () => {
  let patches = 0;
  const { apply, seed } = await patchLab((request, response) => {
    patches += request.method === 'PATCH' ? 1 : 0;
    if (patches === 1) responseStatus(response, 409, 'Conflict');
    return patches === 1;
  });
  seed('a');
  expect(await apply(file({ operation: 'MergePatch', ...target, mergePatch: { x: 1 } }))).toBe('applied');
  expect(patches).toBe(2);
});

test('JQPatch writes the result, from a fresh read after a conflict', async () => {
  let puts = 0;
  const { apply, calls, objects, seed } = await patchLab((request) => {
    puts += request.method === 'PUT' ? 1 : 0;
    if (request.method === 'PUT' && puts === 1) seed('a', { label: 'theirs' });
    return false;
  });
  seed('a');
  expect(await apply(file({ operation: 'JQPatch', ...target, jqFilter: 'ours' }))).toBe('applied');
  expect(objects.get(`${collection}/a`)).toMatchObject({ label: 'theirs', data: { word: 'ours' } });
  expect(calls().map((call) => call.split(' ')[0])).toEqual(['GET', 'PUT', 'GET', 'PUT']);
});

test('JQPatch reads the object and writes the subresource', async () => {
  const { apply, calls, seed } = await patchLab();
  seed('a');
  expect(await apply(file({ operation: 'JQPatch', ...target, subresource: 'status', jqFilter: 'x' }))).toBe(
    'applied',
  );
  expect(calls()).toEqual([`GET ${collection}/a`, `PUT ${collection}/a/status`]);
});

test('JQPatch writes nothing when nothing changes', async () => {
  const { apply, calls, seed } = await patchLab();
  seed('a');
  expect(await apply(file({ operation: 'JQPatch', ...target, jqFilter: '.' }))).toBe('applied');
  expect(calls()).toEqual([`GET ${collection}/a`]);
});

test.each([
  ['one two', 'it gave 2 results'],
  ['null', 'it gave something else'],
])('JQPatch refuses the results of %j', async (jqFilter, problem) => {
  const { apply, seed } = await patchLab();
  seed('a');
  const message = await apply(file({ operation: 'JQPatch', ...target, jqFilter }));
  expect(message).toContain('Filter object cm/web/a: failed to convert filterResult');
  expect(message).toContain(problem);
});

test.each([
  { operation: 'JQPatch', jqFilter: 'x' },
  { operation: 'MergePatch', mergePatch: { x: 1 } },
  { operation: 'JSONPatch', jsonPatch: [{ op: 'remove', path: '/a' }] },
])('$operation fails on a missing object unless it is to be ignored', async (patch) => {
  const { apply } = await patchLab();
  expect(await apply(file({ ...patch, ...target }))).toContain('404 NotFound');
  expect(await apply(file({ ...patch, ...target, ignoreMissingObject: true }))).toBe('applied');
});

test('apply() runs later operations after a failed one and reports every failure', async () => {
  const { apply, objects } = await patchLab();
  const message = await apply(
    file(
      { operation: 'MergePatch', ...target, mergePatch: { x: 1 } },
      { operation: 'Create', object: configMap('b') },
      { operation: 'Delete', kind: 'Box', name: 'x' },
    ),
  );
  expect([...objects.keys()]).toEqual([`${collection}/b`]);
  expect(message).toContain('2 of 3 object patch operations failed: operation 1: Filter object cm/web/a: ');
  expect(message).toContain("; operation 3: Delete object Box/x: kind 'Box' is not supported by cluster");
});

test('apply() keeps exact numbers', async () => {
  const { apply, server } = await patchLab();
  const text =
    '{"operation":"Create","object":{"kind":"cm","metadata":{"name":"a","namespace":"web"},"n":9007199254740993}}';
  expect(await apply(text)).toBe('applied');
  expect(server.requests[0]?.body).toContain('"n":9007199254740993');
});

test('apply() warns when a namespace is missing for a namespaced kind', async () => {
  const { apply, calls, warnings } = await patchLab();
  expect(await apply(file({ operation: 'DeleteInBackground', kind: 'cm', name: 'a' }))).toBe('applied');
  const object = { kind: 'cm', metadata: { name: 'a' } };
  expect(await apply(file({ operation: 'Create', namespace: 'web', object }))).toContain('405');
  expect(calls()).toEqual(['DELETE /api/v1/configmaps/a', 'POST /api/v1/configmaps']);
  expect(warnings.map((each) => each['message'])).toEqual(
    Array.from({ length: 2 }, () => 'object patch names no namespace for a namespaced kind'),
  );
});

test.each([1, 2])('apply() of %i operations stops at once on abort, with its reason', async (count) => {
  const controller = new AbortController();
  const { apply, calls } = await patchLab(() => {
    controller.abort(new Error('stop'));
    return true;
  });
  const operation = { operation: 'DeleteInBackground', ...target };
  expect(await apply(file(...Array.from({ length: count }, () => operation)), controller.signal)).toBe(
    'Error: stop',
  );
  expect(calls()).toHaveLength(1);
});
