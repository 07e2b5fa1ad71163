import { expect, test } from 'vitest';
import { responseStatus } from '../../../../test/support/loopback-server.ts';
import { configMap, file, patchLab, target } from '../../../../test/support/patch-lab.ts';
import { accessOfOperation } from './object-patcher.ts';

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** `VERB RESOURCE` of a request, such as `update configmaps/status`. */
function needOf(method: string, path: string): string {
  return `${VERBS[method]} configmaps${path.endsWith('/status') ? '/status' : ''}`;
}

interface Trial {
  readonly outcome: string;
  readonly used: readonly string[];
  readonly access: readonly string[];
}

/** Applies an operation; with `isLimited` the server refuses all that the operation does not need by its own account. */
async function trial(operation: object, exists: boolean, isLimited: boolean): Promise<Trial> {
  const access = new Set<string>();
  const lab = await patchLab(({ method, path }, response) => {
    for (const { resource, verbs } of lab.access) for (const verb of verbs) access.add(`${verb} ${resource}`);
    if (!isLimited || access.has(needOf(method, path))) return false;
    responseStatus(response, 403, 'Forbidden');
    return true;
  });
  if (exists) lab.seed('a', { data: { old: '1' } });
  const outcome = await lab.apply(file(operation));
  const used = lab.server.requests.map(({ method, path }) => needOf(method, path));
  return { outcome, used, access: [...access].toSorted() };
}

const object = configMap('a', { data: { n: '1' } });
const jsonPatch = [{ op: 'remove', path: '/data' }];

test.each([
  { operation: 'Create', object },
  { operation: 'CreateIfNotExists', object },
  { operation: 'CreateOrUpdate', object },
  { operation: 'Delete', ...target },
  { operation: 'DeleteInBackground', ...target },
  { operation: 'DeleteNonCascading', ...target },
  { operation: 'JQPatch', ...target, jqFilter: 'x' },
  { operation: 'JQPatch', ...target, jqFilter: 'x', subresource: 'status' },
  { operation: 'MergePatch', ...target, mergePatch: { data: null } },
  { operation: 'JSONPatch', ...target, jsonPatch, subresource: 'status' },
])('$operation needs what it uses, whether the object exists or not: %j', async (operation) => {
  const missing = await trial(operation, false, false);
  const present = await trial(operation, true, false);
  expect(await trial(operation, false, true)).toEqual(missing);
  expect(await trial(operation, true, true)).toEqual(present);
  expect(missing.access).toEqual(present.access);
  expect([...new Set([...missing.used, ...present.used])].toSorted()).toEqual(present.access);
});

const CONFIG_MAPS = { group: '', plural: 'configmaps', isNamespaced: true };
const NODES = { group: '', plural: 'nodes', isNamespaced: false };

test('access is to one namespace, or to a cluster-scoped resource', () => {
  const deletion = { operation: 'DeleteInBackground' } as const;
  const node = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'a' };
  const inWeb = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'web', name: 'a' };
  expect(accessOfOperation({ ...deletion, target: inWeb }, CONFIG_MAPS)).toEqual([
    { group: '', resource: 'configmaps', namespace: 'web', verbs: ['delete'] },
  ]);
  expect(accessOfOperation({ ...deletion, target: node }, NODES)).toEqual([
    { group: '', resource: 'nodes', verbs: ['delete'] },
  ]);
});

test('an object that the server has no path for needs no access', () => {
  const create = { operation: 'Create' } as const;
  const withoutNamespace = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const nodeInWeb = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', namespace: 'web' } };
  expect(accessOfOperation({ ...create, object: withoutNamespace }, CONFIG_MAPS)).toEqual([]);
  expect(accessOfOperation({ ...create, object: nodeInWeb }, NODES)).toEqual([]);
});

test('an object with a generated name is only created', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-', namespace: 'web' } };
  expect(accessOfOperation({ operation: 'CreateOrUpdate', object }, CONFIG_MAPS)).toMatchObject([
    { verbs: ['create'] },
  ]);
});
