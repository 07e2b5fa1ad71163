import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { ApiResource, KubeObject } from '@addon-operator/kube-client/kube-object';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { keyOf, type Selection } from '@addon-operator/kube-client/reflector-sink';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clientFor } from '../support/cluster-client.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { CONFIG_MAPS } from '../support/fake-kube-api.ts';
import { FaultProxy, type Upstream } from '../support/fault-proxy.ts';
import { RecordingSink } from '../support/recording-sink.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
/** Namespaces have a ConfigMap of their own, which comes when it likes. */
const OURS = 'ours=yes';
const never = new AbortController().signal;

const cleanUps: (() => Promise<void> | void)[] = [];
let stop = new AbortController();

beforeEach(() => {
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** One namespace seen by our reflector through a proxy, and by the test directly. */
class Scene {
  readonly namespace: string;
  readonly proxy: FaultProxy;
  readonly sink = new RecordingSink();
  readonly ended: string[] = [];
  readonly #probe: ApiProbe;
  readonly #path: string;

  private constructor(namespace: string, proxy: FaultProxy, probe: ApiProbe) {
    this.namespace = namespace;
    this.proxy = proxy;
    this.#probe = probe;
    this.#path = `/api/v1/namespaces/${namespace}/configmaps`;
  }

  static async open(upstream: Upstream, probe: ApiProbe): Promise<Scene> {
    const proxy = await FaultProxy.start(upstream);
    cleanUps.push(() => proxy.disconnect());
    return new Scene(await probe.createNamespace('reflector'), proxy, probe);
  }

  async follow(selection?: Selection): Promise<void> {
    const ours = { resource: CONFIG_MAPS, namespace: this.namespace, labelSelector: OURS };
    const client = clientFor({
      server: this.proxy.url,
      currentNamespace: 'default',
      source: 'test',
      tls: { isVerified: true },
      identity: { type: 'anonymous' },
    });
    cleanUps.push(() => client.close());
    const discovery = new Discovery({ kube: client, clock: systemClock, log: silentLogger });
    const reflectors = createSharedReflectors({
      kube: client,
      clock: systemClock,
      random: Math.random,
      log: silentLogger,
      rediscover: (known, signal) => discovery.rediscover(known, signal),
      metrics: { watchEnded: (_kind, reason) => this.ended.push(reason) },
    });
    await reflectors.subscribe(selection ?? ours, this.sink, stop.signal);
  }

  async create(name: string): Promise<void> {
    await this.#probe.expect({
      method: 'POST',
      path: this.#path,
      body: { metadata: { name, labels: { ours: 'yes' } } },
    });
  }

  async change(name: string): Promise<void> {
    await this.#probe.expect({
      method: 'PATCH',
      path: `${this.#path}/${name}`,
      contentType: 'application/merge-patch+json',
      body: { data: { changedAt: String(systemClock.wallMs()) } },
    });
  }

  async delete(name: string): Promise<void> {
    await this.#probe.expect({ method: 'DELETE', path: `${this.#path}/${name}` });
  }

  /** What a list of the server has. */
  async truth(): Promise<ReadonlyMap<string, KubeObject>> {
    const path = `${this.#path}?labelSelector=${OURS}`;
    const { items } = (await this.#probe.expect({ path })) as { readonly items: KubeObject[] };
    return new Map(items.map((item) => [keyOf(item), { apiVersion: 'v1', kind: 'ConfigMap', ...item }]));
  }

  /** What was reported about objects that the test made. */
  get reported(): readonly string[] {
    return this.sink.log
      .filter((line) => !line.includes('kube-root-ca'))
      .map((line) => line.replace(/@.*/, ''));
  }
}

/** Waits until the sink knows what the server has. */
async function expectTruth(scene: Scene): Promise<void> {
  const truth = await scene.truth();
  await vi.waitFor(() => expect(scene.sink.state).toEqual(truth), PATIENCE);
  expect(scene.sink.problems).toEqual([]);
}

function configMapNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `config-${String(index).padStart(4, '0')}`);
}

async function inBatches(names: readonly string[], act: (name: string) => Promise<void>): Promise<void> {
  for (let start = 0; start < names.length; start += 20) {
    await Promise.all(names.slice(start, start + 20).map(act));
  }
}

describeCluster('the reflector', (cluster) => {
  const open = (): Promise<Scene> => Scene.open(cluster().access, new ApiProbe(cluster().access));

  test('lists in pages and follows what changes', async () => {
    const scene = await open();
    await inBatches(configMapNames(601), (name) => scene.create(name));
    await scene.follow();
    await expectTruth(scene);
    expect(scene.proxy.calls.filter(({ query }) => query.includes('limit=500'))).toHaveLength(2);
    await scene.change('config-0001');
    await scene.delete('config-0002');
    await scene.create('new');
    await expectTruth(scene);
    expect(scene.reported).toEqual([
      `Modified ${scene.namespace}/config-0001`,
      `Deleted ${scene.namespace}/config-0002`,
      `Added ${scene.namespace}/new`,
    ]);
  });

  test('FAULT-A4: deletions and changes during a disconnection are reported', async () => {
    const scene = await open();
    const names = configMapNames(50);
    await inBatches(names, (name) => scene.create(name));
    await scene.follow();
    await vi.waitFor(
      () => expect(scene.proxy.calls.some(({ verb }) => verb === 'watch')).toBe(true),
      PATIENCE,
    );
    await scene.proxy.disconnect();
    await inBatches(names.slice(0, 25), (name) => scene.delete(name));
    await inBatches(names.slice(25), (name) => scene.change(name));
    await scene.proxy.connect();
    await expectTruth(scene);
    expect(scene.reported.filter((line) => line.startsWith('Deleted'))).toHaveLength(25);
    expect(scene.reported).toHaveLength(50);
  });

  test('FAULT-A12: requests that fail with 503 do not leave it out of date', async () => {
    const scene = await open();
    await scene.follow();
    for (const skip of [0, 2, 4]) scene.proxy.add({ skip, times: 1 }, { type: 'status', status: 503 });
    scene.proxy.resetConnections();
    await scene.create('one');
    await expectTruth(scene);
    expect(scene.reported).toEqual([`Added ${scene.namespace}/one`]);
  });

  test('FAULT-A17: a watch uses another served version when its own is removed, and returns when that is restored', async () => {
    const probe = new ApiProbe(cluster().access);
    const group = `g${Math.random().toString(36).slice(2)}.example.com`;
    const resource: ApiResource = { ...CONFIG_MAPS, group, version: 'v1', kind: 'Thing', plural: 'things' };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const definition = `${definitions}/things.${group}`;
    const things = `/apis/${group}/v2/namespaces/default/things`;
    const create = async (name: string): Promise<void> => {
      const body = { apiVersion: `${group}/v2`, kind: 'Thing', metadata: { name } };
      await vi.waitFor(() => probe.expect({ method: 'POST', path: things, body }), PATIENCE);
    };
    const serve = async (versions: readonly string[]): Promise<void> => {
      const { spec } = thingDefinition(group, versions) as { readonly spec: unknown };
      const body = { spec };
      const contentType = 'application/merge-patch+json';
      await probe.expect({ method: 'PATCH', path: definition, body, contentType });
    };
    const apiVersionOf = (name: string): unknown => scene.sink.state.get(`default/${name}`)?.['apiVersion'];
    const scene = await open();
    await probe.expect({ method: 'POST', path: definitions, body: thingDefinition(group, ['v1', 'v2']) });
    await create('one');
    await scene.follow({ resource });
    expect(apiVersionOf('one')).toBe(`${group}/v1`);

    await serve(['v2']);
    await vi.waitFor(() => expect(apiVersionOf('one')).toBe(`${group}/v2`), PATIENCE);
    await create('two');
    await vi.waitFor(() => expect(apiVersionOf('two')).toBe(`${group}/v2`), PATIENCE);

    await serve(['v1', 'v2']);
    await vi.waitFor(() => expect(apiVersionOf('one')).toBe(`${group}/v1`), PATIENCE);
    await probe.expect({ method: 'DELETE', path: `${things}/one` });
    await vi.waitFor(() => expect([...scene.sink.state.keys()]).toEqual(['default/two']), PATIENCE);
    expect(scene.sink.problems).toEqual([]);
    expect(scene.reported.filter((event) => event.startsWith('Deleted'))).toEqual(['Deleted default/one']);
    await probe.expect({ method: 'DELETE', path: definition });
  });

  test('FAULT-A17: a page of a proxy with status 404 deletes nothing, and what changed behind it is seen afterwards', async () => {
    const scene = await open();
    await scene.create('one');
    await scene.follow();
    const lists = scene.proxy.add({ verb: 'list', path: /configmaps$/ }, { type: 'page', status: 404 });
    const watches = scene.proxy.add({ verb: 'watch', path: /configmaps$/ }, { type: 'page', status: 404 });
    scene.proxy.resetConnections();
    await lists.untilHit(3);
    await scene.create('two');
    expect(scene.reported).toEqual([]);
    scene.proxy.remove(lists);
    scene.proxy.remove(watches);
    await expectTruth(scene);
    expect(scene.reported).toEqual([`Added ${scene.namespace}/two`]);
  });

  test('FAULT-A17: a custom kind that is removed has its objects Deleted, and Added when it is back', async () => {
    const probe = new ApiProbe(cluster().access);
    const group = `g${Math.random().toString(36).slice(2)}.example.com`;
    const resource: ApiResource = {
      ...CONFIG_MAPS,
      group,
      version: 'v1',
      kind: 'Thing',
      plural: 'things',
    };
    const things = `/apis/${group}/v1/namespaces/default/things`;
    const createThing = async (): Promise<void> => {
      await vi.waitFor(
        () =>
          probe.expect({
            method: 'POST',
            path: things,
            body: { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } },
          }),
        PATIENCE,
      );
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const define = () => probe.expect({ method: 'POST', path: definitions, body: thingDefinition(group) });

    const scene = await open();
    await define();
    await createThing();
    await scene.follow({ resource });
    expect([...scene.sink.state.keys()]).toEqual(['default/one']);
    await probe.expect({ method: 'DELETE', path: `${definitions}/things.${group}` });
    await vi.waitFor(() => expect(scene.reported).toEqual(['Deleted default/one']), PATIENCE);
    await vi.waitFor(() => expect(scene.ended).toContain('gone'), PATIENCE);
    await vi.waitFor(define, PATIENCE);
    await createThing();
    await vi.waitFor(
      () => expect(scene.reported).toEqual(['Deleted default/one', 'Added default/one']),
      PATIENCE,
    );
    expect(scene.sink.problems).toEqual([]);
    await probe.expect({ method: 'DELETE', path: `${definitions}/things.${group}` });
  });

  test('FAULT-A5: after a restart and a compaction the differences are reported from a new list', async () => {
    const plane = await startControlPlane(cluster());
    cleanUps.push(() => plane.stop());
    const scene = await Scene.open(plane.access, plane.probe);
    for (const name of ['gone', 'same', 'changed', 'again']) await scene.create(name);
    await scene.follow();
    await plane.restartApiserver(never);
    await scene.create('after-restart');
    await expectTruth(scene);
    const reportedBefore = scene.reported.length;

    await scene.proxy.disconnect();
    await scene.delete('gone');
    await scene.delete('again');
    await scene.change('changed');
    await scene.create('again');
    await compact(plane);
    await plane.restartApiserver(never);
    await scene.proxy.connect();
    await expectTruth(scene);
    expect(scene.reported.slice(reportedBefore).toSorted()).toEqual(
      ['Added again', 'Deleted again', 'Deleted gone', 'Modified changed'].map((line) =>
        line.replace(' ', ` ${scene.namespace}/`),
      ),
    );
  });
});

/** The last of the versions is the one that objects are stored in. */
function thingDefinition(group: string, versions: readonly string[] = ['v1']): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing' },
      versions: versions.map((name) => ({ name, served: true, storage: name === versions.at(-1), schema })),
    },
  };
}

/** Drops all history up to now from the store. */
async function compact({ etcdUrl }: ControlPlane): Promise<void> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${etcdUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return await response.json();
  };
  const { header } = (await post('/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } };
  await post('/v3/kv/compaction', { revision: header.revision, physical: true });
}
