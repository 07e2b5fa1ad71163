import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { judge } from './differential/judge.ts';
import { BASES, GADGET_DEFINITION } from './differential/judged-bases.ts';
import { JUDGED_OBJECTS, type JudgedObject } from './differential/judged-objects.ts';
import { type RawClient, rawClient } from './differential/raw-client.ts';

const NAMESPACE = 'judged';

describeCluster('the same objects given to the sandbox and to a real API server', (cluster) => {
  let sandbox: Sandbox;
  let toSandbox: RawClient;
  let toCluster: RawClient;

  beforeAll(async () => {
    sandbox = await startSandbox({ clock: systemClock, log: silentLogger }, new AbortController().signal);
    toSandbox = rawClient({ serverUrl: sandbox.url });
    toCluster = rawClient(cluster().access);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    for (const client of [toSandbox, toCluster]) {
      await create(client, '/api/v1/namespaces', namespace);
      await create(client, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', GADGET_DEFINITION);
    }
    // Some time passes until a real API server serves what a definition brings, and until Pods find their account.
    const path = `/apis/judged.example.com/v1/namespaces/${NAMESPACE}/gadgets`;
    await until(toCluster, path);
    await until(toCluster, `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`);
  });

  afterAll(() => sandbox.stop());

  const groups = Object.keys(BASES).map((kind) => ({
    kind,
    objects: JUDGED_OBJECTS.filter(({ title }) => title.startsWith(`${kind} `)),
  }));

  test.each(groups)('get the same judgement: $kind', async ({ objects }) => {
    const judgedBy = async (client: RawClient): Promise<Readonly<Record<string, unknown>>> =>
      Object.fromEntries(await judgements(client, objects));
    const [ours, theirs] = await Promise.all([judgedBy(toSandbox), judgedBy(toCluster)]);
    expect(ours).toEqual(theirs);
  });

  test('the corpus has at least 300 objects, good and bad ones', () => {
    const titles = new Set(JUDGED_OBJECTS.map(({ title }) => title));
    expect(titles.size).toBe(JUDGED_OBJECTS.length);
    expect(titles.size).toBeGreaterThan(300);
    expect(groups.every(({ objects }) => objects.length > 0)).toBe(true);
  });
});

async function create(client: RawClient, path: string, object: object): Promise<void> {
  await client({ method: 'POST', path, contentType: 'application/json', body: JSON.stringify(object) });
}

async function until(client: RawClient, path: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await client({ method: 'GET', path })).toMatchObject({ status: 200 });
  }, 60_000);
}

async function judgements(
  client: RawClient,
  objects: readonly JudgedObject[],
): Promise<readonly (readonly [string, unknown])[]> {
  const results: (readonly [string, unknown])[] = [];
  for (const object of objects) results.push([object.title, await judge(client, object, NAMESPACE)]);
  return results;
}
