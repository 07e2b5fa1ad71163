import type { LookupOptions } from '@addon-operator/helm/object-lookup';
import { type ApiCause, KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { conflictText, fieldConflicts } from './conflicts.ts';

const signal = new AbortController().signal;
const CONFIG_MAPS = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: [],
  isNamespaced: true,
  verbs: [],
};

function desired(name: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: '', fields: { data: { x: '1' } } };
}

function cause(message: string, reason = 'FieldManagerConflict'): ApiCause {
  return { reason, field: '.data.x', message };
}

function refusal(causes: readonly ApiCause[]): KubeApiError {
  return new KubeApiError('no', { status: 409, reason: 'Conflict', causes });
}

function server(response: (name: string) => unknown): {
  readonly options: LookupOptions;
  readonly requests: KubeRequest[];
} {
  const requests: KubeRequest[] = [];
  const request = async (sent: KubeRequest): Promise<unknown> => {
    requests.push(sent);
    const responded = await Promise.resolve(response(sent.path.split('/').at(-1) ?? ''));
    if (responded instanceof Error) throw responded;
    return responded;
  };
  const kube = { request, stream: () => Promise.reject(new Error('not used')) };
  return { requests, options: { kube, namespace: 'ops', find: () => Promise.resolve(CONFIG_MAPS) } };
}

test('fieldConflicts() names the fields of others, with one request for each object, and changes nothing', async () => {
  const { options, requests } = server((name) =>
    name === 'b' ? refusal([cause('conflict with "kubectl-edit" using v1')]) : {},
  );
  const found = await fieldConflicts([desired('a'), desired('b')], options, signal);
  expect(found.map(conflictText)).toEqual(['/ConfigMap/b: .data.x (kubectl-edit)']);
  expect(requests.map(({ path, query }) => [path, query?.['dryRun'], query?.['force']])).toEqual([
    ['/api/v1/namespaces/ops/configmaps/a', 'All', 'false'],
    ['/api/v1/namespaces/ops/configmaps/b', 'All', 'false'],
  ]);
});

test.each([
  ['what helm wrote itself', refusal([cause('conflict with "helm" using v1')])],
  ['a refusal for another reason', refusal([cause('it is bad', 'FieldValueInvalid')])],
  ['an object of a namespace that is not there', new KubeApiError('no', { status: 404, reason: 'NotFound' })],
])('fieldConflicts() takes %s for no conflict', async (_what, response) => {
  const { options } = server(() => response);
  expect(await fieldConflicts([desired('a')], options, signal)).toEqual([]);
});

test('fieldConflicts() reports when the server cannot be reached, and ends when the signal aborts', async () => {
  const down = new Error('down');
  await expect(fieldConflicts([desired('a')], server(() => down).options, signal)).rejects.toBe(down);
  const { options, requests } = server(() => ({}));
  const aborted = AbortSignal.abort(new Error('enough'));
  await expect(fieldConflicts([desired('a')], options, aborted)).rejects.toThrow('enough');
  expect(requests).toEqual([]);
});
