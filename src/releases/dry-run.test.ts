import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { parseYaml } from '@addon-operator/yaml';
import { expect, test } from 'vitest';
import type { DriverContext } from './driver-context.ts';
import { type KindKey, refusedObjects } from './dry-run.ts';

const signal = new AbortController().signal;
const NO_KINDS: ReadonlySet<KindKey> = new Set();

/** A context of which only the parts of a dry run are there. */
function server(response: (name: string) => unknown, unserved: readonly string[] = []) {
  const requests: KubeRequest[] = [];
  const request = async (sent: KubeRequest): Promise<unknown> => {
    requests.push(sent);
    const responded = await Promise.resolve(response(sent.path.split('/').at(-1) ?? ''));
    if (responded instanceof Error) throw responded;
    return responded;
  };
  const find = async (apiVersion: string, kind: string) => {
    if (unserved.includes(kind)) throw new OperatorError('KUBE_KIND_UNKNOWN', 'no');
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return await Promise.resolve({ group, version, plural: `${kind.toLowerCase()}s`, isNamespaced: true });
  };
  const context = {
    kube: { request },
    discovery: { find },
    clock: systemClock,
    namespace: 'ops',
    readYaml: (text: string) => parseYaml(text, { source: 'x', booleans: 'yaml-1.1' }).value,
  } as unknown as DriverContext;
  return { context, requests };
}

const object = (kind: string, name: string, more = '', apiVersion = 'v1'): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}${more}}\n`;

async function refused(
  context: DriverContext,
  documents: readonly string[],
  brought: ReadonlySet<KindKey> = NO_KINDS,
) {
  return await refusedObjects(
    context,
    { release: 'web', manifest: documents.join('---\n') },
    brought,
    signal,
  );
}

const status = (code: number, message = 'no'): KubeApiError =>
  new KubeApiError(message, { status: code, reason: '' });

test('each object is applied as a dry run, and refused ones have the message of the server', async () => {
  const { context, requests } = server((name) => (name === 'b' ? status(422, 'spec.x: immutable') : {}));
  const documents = [object('ConfigMap', 'a'), object('ConfigMap', 'b', ', namespace: shop')];
  expect(await refused(context, documents)).toEqual([
    { object: 'shop/ConfigMap/b', reason: 'spec.x: immutable' },
  ]);
  expect(requests.map(({ method, path, query }) => [method, path, query?.['dryRun']])).toEqual([
    ['PATCH', '/api/v1/namespaces/ops/configmaps/a', 'All'],
    ['PATCH', '/api/v1/namespaces/shop/configmaps/b', 'All'],
  ]);
});

test.each([400, 403, 404, 413, 422])('status %i is a finding', async (code) => {
  const { context } = server(() => status(code));
  expect(await refused(context, [object('ConfigMap', 'a')])).toHaveLength(1);
});

test.each<readonly [string, Error]>([
  ['an API server that is away', new OperatorError('KUBE_UNREACHABLE', 'connection refused')],
  ...[401, 409, 429, 500, 503].map((code) => [`status ${code}`, status(code)] as const),
  ['a webhook without dry run', status(400, 'admission webhook "a" does not support dry run')],
])('%s is no finding', async (_name, error) => {
  const { context } = server(() => error);
  expect(await refused(context, [object('ConfigMap', 'a')])).toEqual([]);
});

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec: {group: example.com, names: {kind: Gadget, plural: gadgets}}
`;

test('objects of kinds and namespaces that the same content brings are skipped', async () => {
  const { context, requests } = server(() => ({}), ['Gadget', 'Widget', 'Nothing']);
  const documents = [
    CRD,
    object('Gadget', 'a', '', 'example.com/v1'),
    object('Widget', 'a', '', 'example.com/v1'),
    object('Namespace', 'shop'),
    object('ConfigMap', 'a', ', namespace: shop'),
    object('Nothing', 'a', '', 'example.com/v1'),
  ];
  expect(await refused(context, documents, new Set<KindKey>(['example.com/Widget']))).toEqual([
    { object: '/Nothing/a', reason: 'the API server does not serve Nothing of example.com/v1' },
  ]);
  expect(requests.map(({ path }) => path.split('/').at(-2))).toEqual([
    'customresourcedefinitions',
    'namespaces',
  ]);
});

test('a dry run ends with the reason of its signal', async () => {
  const { context, requests } = server(() => ({}));
  const aborted = AbortSignal.abort(new Error('enough'));
  const manifest = object('ConfigMap', 'a');
  await expect(refusedObjects(context, { release: 'web', manifest }, NO_KINDS, aborted)).rejects.toThrow(
    'enough',
  );
  expect(requests).toEqual([]);
});
