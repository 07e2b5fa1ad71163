import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { Discovery } from './discovery.ts';
import { KubeApiError, type KubeClient, type KubeRequest } from './kube-client.ts';
import type { ApiResource } from './kube-object.ts';

const never = new AbortController().signal;

type Responses = Record<string, unknown>;

/** An API server of fixed documents; a path without one responds with 404, an Error is thrown. */
function setUp(responses: Responses) {
  const clock = new FakeClock();
  const paths: string[] = [];
  const kube: Pick<KubeClient, 'request'> = {
    async request(request: KubeRequest, signal: AbortSignal) {
      paths.push(request.path);
      await settle();
      signal.throwIfAborted();
      const response = responses[request.path];
      if (response instanceof Error) throw response;
      if (response === undefined) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
      return response;
    },
  };
  const stream = (): never => {
    throw new Error('discovery opens no streams');
  };
  const discovery = new Discovery({ kube: { ...kube, stream }, clock, log: silentLogger });
  return { discovery, clock, paths };
}

const verbs = ['get', 'list'];

function aggregated(kind: string, resource: string, more: Responses = {}): unknown {
  return { resource, responseKind: { kind }, scope: 'Namespaced', singularResource: '', verbs, ...more };
}

function aggregatedResponses(): Responses {
  return {
    '/api': {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: {},
          versions: [
            {
              version: 'v1',
              resources: [
                aggregated('ConfigMap', 'configmaps', { shortNames: ['cm'], singularResource: 'configmap' }),
                aggregated('Namespace', 'namespaces', { scope: 'Cluster', shortNames: ['ns'] }),
                aggregated('Event', 'events'),
                aggregated('Binding', 'bindings', { verbs: [] }),
              ],
            },
          ],
        },
      ],
    },
    '/apis': {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'events.k8s.io' },
          versions: [{ version: 'v1', resources: [aggregated('Event', 'events')] }],
        },
        {
          metadata: { name: 'acme.io' },
          versions: [
            { version: 'v2', resources: [aggregated('Box', 'boxes', { singularResource: 'carton' })] },
            { version: 'v1', resources: [aggregated('Box', 'boxes'), aggregated('Lid', 'lids')] },
          ],
        },
      ],
    },
  };
}

function plainResponses(): Responses {
  return {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': {
      kind: 'APIResourceList',
      resources: [
        {
          name: 'configmaps',
          singularName: 'configmap',
          kind: 'ConfigMap',
          namespaced: true,
          verbs,
          shortNames: ['cm'],
        },
        {
          name: 'namespaces',
          singularName: 'namespace',
          kind: 'Namespace',
          namespaced: false,
          verbs,
          shortNames: ['ns'],
        },
        { name: 'namespaces/status', kind: 'Namespace', namespaced: false, verbs },
        { name: 'events', kind: 'Event', namespaced: true, verbs },
        { name: 'bindings', kind: 'Binding', namespaced: true, verbs: [] },
      ],
    },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        { name: 'events.k8s.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
        {
          name: 'acme.io',
          versions: [{ version: 'v1' }, { version: 'v2' }],
          preferredVersion: { version: 'v2' },
        },
      ],
    },
    '/apis/events.k8s.io/v1': { resources: [{ name: 'events', kind: 'Event', namespaced: true, verbs }] },
    '/apis/acme.io/v2': {
      resources: [{ name: 'boxes', singularName: 'carton', kind: 'Box', namespaced: true, verbs }],
    },
    '/apis/acme.io/v1': {
      resources: [
        { name: 'boxes', kind: 'Box', namespaced: true, verbs },
        { name: 'lids', kind: 'Lid', namespaced: true, verbs },
      ],
    },
  };
}

const documents: readonly (readonly [string, () => Responses])[] = [
  ['aggregated', aggregatedResponses],
  ['plain', plainResponses],
];

const cases: readonly (readonly [string | undefined, string, string])[] = [
  ['v1', 'ConfigMap', '/v1/configmaps'],
  [undefined, 'configmap', '/v1/configmaps'],
  ['', 'CONFIGMAPS', '/v1/configmaps'],
  [undefined, 'cm', '/v1/configmaps'],
  [undefined, 'event', '/v1/events'],
  ['events.k8s.io/v1', 'Event', 'events.k8s.io/v1/events'],
  [undefined, 'box', 'acme.io/v2/boxes'],
  ['acme.io/v1', 'box', 'acme.io/v1/boxes'],
  [undefined, 'lid', 'acme.io/v1/lids'],
  [undefined, 'carton', 'acme.io/v2/boxes'],
];

for (const [style, responses] of documents) {
  test.each(cases)(`find(%j, %j) gives %s from ${style} discovery`, async (apiVersion, kind, expected) => {
    const { discovery } = setUp(responses());
    const found = await discovery.find(apiVersion, kind, never);
    expect(`${found.group}/${found.version}/${found.plural}`).toBe(expected);
  });

  test.each([
    [undefined, 'Binding'],
    ['v2', 'ConfigMap'],
    ['apps/v1', 'ConfigMap'],
    [undefined, ''],
    [undefined, 'namespaces/status'],
  ])(`find(%j, %j) finds nothing in ${style} discovery`, async (apiVersion, kind) => {
    const { discovery } = setUp(responses());
    await expect(discovery.find(apiVersion, kind, never)).rejects.toMatchObject({
      code: 'KUBE_KIND_UNKNOWN',
      message: expect.stringContaining(
        `apiVersion '${apiVersion ?? ''}', kind '${kind}' is not supported by cluster`,
      ),
    });
  });

  test(`apiVersions() lists versions and kinds from ${style} discovery`, async () => {
    const { discovery } = setUp(responses());
    expect(await discovery.apiVersions(never)).toEqual([
      'acme.io/v1',
      'acme.io/v1/Box',
      'acme.io/v1/Lid',
      'acme.io/v2',
      'acme.io/v2/Box',
      'events.k8s.io/v1',
      'events.k8s.io/v1/Event',
      'v1',
      'v1/ConfigMap',
      'v1/Event',
      'v1/Namespace',
    ]);
  });

  test(`find() knows scope and names from ${style} discovery`, async () => {
    const { discovery } = setUp(responses());
    expect(await discovery.find('v1', 'Namespace', never)).toMatchObject({
      kind: 'Namespace',
      isNamespaced: false,
      shortNames: ['ns'],
      verbs,
    });
    expect(await discovery.find('v1', 'cm', never)).toMatchObject({ isNamespaced: true });
  });
}

test.each([
  ['', 'configmap', true],
  ['acme.io', 'BOX', true],
  ['acme.io', 'lid', true],
  ['', 'box', false],
  ['acme.io', 'boxes', false],
  ['new.io', 'thing', false],
])('resourcesWithoutKind() of group %j and kind %j: served is %j', async (group, kind, isServed) => {
  for (const [, responses] of documents) {
    const { discovery } = setUp(responses());
    const without = await discovery.resourcesWithoutKind({ group, kind }, never);
    expect(without?.map((resource) => resource.kind)).toEqual(
      isServed ? undefined : ['ConfigMap', 'Namespace', 'Event', 'Event', 'Box', 'Lid'],
    );
  }
});

test('resourcesWithoutKind() looks again for a missing kind, and finds nothing wrong while its API server is away', async () => {
  const responses = plainResponses();
  const { discovery, clock } = setUp(responses);
  const wanted = { group: 'acme.io', kind: 'Crate' };
  expect(await discovery.resourcesWithoutKind(wanted, never)).toBeDefined();
  delete responses['/apis/acme.io/v1'];
  await clock.advance(5_000);
  expect(await discovery.resourcesWithoutKind(wanted, never)).toBeUndefined();
});

test('find() sends one request, also for callers at the same time', async () => {
  const { discovery, paths } = setUp(aggregatedResponses());
  await Promise.all([discovery.find('v1', 'cm', never), discovery.find('v1', 'ns', never)]);
  await discovery.find(undefined, 'box', never);
  expect(paths).toEqual(['/api', '/apis']);
});

test('find() looks again for an unknown kind, at most every 5 s', async () => {
  const responses = aggregatedResponses();
  const { discovery, clock, paths } = setUp(responses);
  await discovery.find('v1', 'cm', never);
  await clock.advance(4_999);
  await expect(discovery.find('new.io/v1', 'Thing', never)).rejects.toThrow('not supported by cluster');
  expect(paths).toHaveLength(2);

  responses['/apis'] = {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'new.io' },
        versions: [{ version: 'v1', resources: [aggregated('Thing', 'things')] }],
      },
    ],
  };
  await clock.advance(1);
  expect(await discovery.find('new.io/v1', 'Thing', never)).toMatchObject({ plural: 'things' });
  expect(paths).toHaveLength(4);
});

test('invalidate() makes the next question go to the server', async () => {
  const { discovery, paths } = setUp(aggregatedResponses());
  await discovery.find('v1', 'cm', never);
  discovery.invalidate();
  await discovery.find('v1', 'cm', never);
  expect(paths).toHaveLength(4);
});

test('apiVersions() is at most a minute old', async () => {
  const { discovery, clock, paths } = setUp(aggregatedResponses());
  await discovery.apiVersions(never);
  await clock.advance(59_000);
  await discovery.apiVersions(never);
  expect(paths).toHaveLength(2);
  await clock.advance(1_000);
  await discovery.apiVersions(never);
  expect(paths).toHaveLength(4);
});

test('find() survives the abort of the caller who started the reading', async () => {
  const { discovery } = setUp(aggregatedResponses());
  const controller = new AbortController();
  const first = discovery.find('v1', 'cm', controller.signal).catch((error: unknown) => error);
  const second = discovery.find('v1', 'cm', never);
  const reason = new Error('stop');
  controller.abort(reason);
  expect(await second).toMatchObject({ plural: 'configmaps' });
  expect(await first).toBe(reason);
});

test('find() does without a group whose server is down, and fails when the server itself is', async () => {
  const responses = plainResponses();
  responses['/apis/events.k8s.io/v1'] = new KubeApiError('down', {
    status: 503,
    reason: 'ServiceUnavailable',
  });
  const { discovery } = setUp(responses);
  expect(await discovery.find(undefined, 'box', never)).toMatchObject({ version: 'v2' });

  const down = setUp({ '/api': new OperatorError('KUBE_UNREACHABLE', 'refused') });
  await expect(down.discovery.find('v1', 'cm', never)).rejects.toMatchObject({
    code: 'KUBE_UNREACHABLE',
  });
});

const BOX = { group: 'acme.io', version: 'v1', kind: 'Box' } as const;

function known(resource: Pick<ApiResource, 'group' | 'version' | 'kind'>): ApiResource {
  return { plural: 'boxes', singular: '', shortNames: [], isNamespaced: true, verbs, ...resource };
}

test.each([
  ['aggregated', aggregatedResponses],
  ['plain', plainResponses],
])(
  'rediscover() prefers the known version, then any other, and reads anew, when documents are %s',
  async (_name, responsesOf) => {
    const { discovery, paths } = setUp(responsesOf());
    const find = (resource: Pick<ApiResource, 'group' | 'version' | 'kind'>) =>
      discovery.rediscover(known(resource), never);
    expect(await find(BOX)).toMatchObject({ version: 'v1', plural: 'boxes' });
    const read = paths.length;
    expect(await find({ ...BOX, version: 'v9' })).toMatchObject({ version: 'v2', plural: 'boxes' });
    expect(paths).toHaveLength(2 * read);
    expect(await find({ ...BOX, kind: 'Crate' })).toBe(undefined);
    expect(await find({ ...BOX, group: 'other.io' })).toBe(undefined);
  },
);

test('rediscover() makes find() see the change', async () => {
  const responses = aggregatedResponses();
  const { discovery } = setUp(responses);
  await discovery.find('acme.io/v1', 'Box', never);
  responses['/apis'] = { kind: 'APIGroupDiscoveryList', items: [] };
  expect(await discovery.rediscover(known(BOX), never)).toBe(undefined);
  await expect(discovery.find('acme.io/v1', 'Box', never)).rejects.toMatchObject({
    code: 'KUBE_KIND_UNKNOWN',
  });
});

test('rediscover() does not know, when the server of the group is away', async () => {
  const plain = plainResponses();
  plain['/apis/acme.io/v1'] = new KubeApiError('down', { status: 503, reason: 'ServiceUnavailable' });
  plain['/apis/acme.io/v2'] = new KubeApiError('down', { status: 503, reason: 'ServiceUnavailable' });
  const stale = aggregatedResponses();
  stale['/apis'] = {
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: { name: 'acme.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] }],
  };
  for (const responses of [plain, stale])
    await expect(setUp(responses).discovery.rediscover(known(BOX), never)).rejects.toThrow(
      'Cannot find out whether the API server still serves Box of acme.io',
    );
});

test.each([[{}], [[]], ['<html>'], [{ kind: 'Status' }]])(
  'rediscover() does not know, when something else than an API server answers with %j',
  async (page) => {
    const { discovery } = setUp({ '/api': page, '/apis': page });
    await expect(discovery.rediscover(known(BOX), never)).rejects.toThrow('not a discovery document');
  },
);

test('serverVersion() gives the version of the server', async () => {
  const { discovery } = setUp({
    '/version': { major: '1', minor: '34', gitVersion: 'v1.34.2', platform: 'x' },
  });
  expect(await discovery.serverVersion(never)).toEqual({
    major: '1',
    minor: '34',
    gitVersion: 'v1.34.2',
  });
});

test('sharedWith() begins with what is known, and requests at once, through its own client, what is missing', async () => {
  const responses = aggregatedResponses();
  const { discovery, clock, paths } = setUp(responses);
  await discovery.find('v1', 'ConfigMap', never);
  const others: string[] = [];
  const request = async ({ path }: KubeRequest): Promise<unknown> => {
    others.push(path);
    await settle();
    return responses[path];
  };
  const shared = discovery.sharedWith({ request, stream: () => Promise.reject(new Error('no stream')) });
  expect(await shared.find('v1', 'ConfigMap', never)).toMatchObject({ plural: 'configmaps' });
  expect(others).toEqual([]);
  await expect(shared.find('v1', 'Gadget', never)).rejects.toThrow("kind 'Gadget' is not supported");
  expect(others).toEqual(['/api', '/apis']);
  expect([paths, clock.steadyMs()]).toEqual([['/api', '/apis'], 0]);
});
