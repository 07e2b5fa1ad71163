import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import type { JqEngine } from '@addon-operator/jq/engines/jq-engine';
import { selectJqEngine } from '@addon-operator/jq/engines/select-jq-engine';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import { parsePatchOperations } from '@addon-operator/kube-client/object-patch/parse-operations';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ownProgram } from '../support/built-code.ts';
import { accessFrom, clientFor } from '../support/cluster-client.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { JumpClock } from '../support/jump-clock.ts';

const signal = new AbortController().signal;
/** Of deletions, which look once a second whether the object is gone. */
const POLL_INTERVAL_MS = 1_000;

describeCluster('object patches', (cluster) => {
  const clock = new JumpClock();
  let client: HttpKubeClient;
  let jq: JqEngine;
  let patcher: ObjectPatcher;
  let probe: ApiProbe;
  let namespace = '';

  beforeAll(async () => {
    client = clientFor(await accessFrom(cluster().kubeconfigPath));
    probe = new ApiProbe(cluster().access);
    namespace = await probe.createNamespace('patch');
    jq = await selectJqEngine(
      {
        jqPath: 'builtin',
        builtinProgram: fileURLToPath(ownProgram('jq-builtin-main')),
        pathVariable: '',
        log: silentLogger,
        clock: systemClock,
      },
      signal,
    );
    const discovery = new Discovery({ kube: client, clock: systemClock, log: silentLogger });
    patcher = new ObjectPatcher({
      kube: client,
      find: (apiVersion, kind, signal) => discovery.find(apiVersion, kind, signal),
      jq,
      clock,
      random: Math.random,
      log: silentLogger,
    });
  });

  afterAll(async () => {
    client.close();
    await jq.stop();
  });

  const apply = (text: string): Promise<void> =>
    patcher.apply(parsePatchOperations(text.replaceAll('NS', namespace)), signal);
  const read = async (name: string, plural = 'configmaps'): Promise<unknown> => {
    const root = plural === 'deployments' ? '/apis/apps/v1' : '/api/v1';
    const { status, body } = await probe.request({
      path: `${root}/namespaces/${namespace}/${plural}/${name}`,
    });
    return status === 200 ? body : status;
  };
  const create = (name: string, more = ''): Promise<void> =>
    apply(
      `operation: Create\nobject: {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: NS${more}}, data: {a: "1", b: "2"}}`,
    );

  test('Create creates, also with a generated name and a short kind, and fails on one that exists', async () => {
    await create('created');
    expect(await read('created')).toMatchObject({ data: { a: '1', b: '2' } });
    await expect(create('created')).rejects.toThrow(
      /operation 1: Create object v1\/ConfigMap\/patch-.*\/created: .*AlreadyExists/,
    );
    await apply('operation: Create\nobject: {kind: cm, metadata: {generateName: made-, namespace: NS}}');
    const { items } = (await probe.expect({ path: `/api/v1/namespaces/${namespace}/configmaps` })) as {
      items: { metadata: { name: string } }[];
    };
    expect(items.filter(({ metadata }) => metadata.name.startsWith('made-'))).toHaveLength(1);
  });

  test('CreateIfNotExists keeps an existing object', async () => {
    await create('kept');
    await apply(
      'operation: CreateIfNotExists\nobject: {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: NS}, data: {c: "3"}}',
    );
    expect(await read('kept')).toMatchObject({ data: { a: '1', b: '2' } });
  });

  test('CreateOrUpdate creates, or replaces the whole object', async () => {
    const text =
      'operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: ConfigMap, metadata: {name: replaced, namespace: NS}, data: {';
    await apply(`${text} a: "1", b: "2"}}`);
    await apply(`${text} c: "3"}}`);
    expect(await read('replaced')).toMatchObject({ data: { c: '3' } });
    expect(await read('replaced')).not.toHaveProperty('data.a');
  });

  test('CreateOrUpdate succeeds in spite of concurrent writers', async () => {
    await create('contended');
    await Promise.all(
      // An attempt is lost to each of the others once at most, and six are made.
      Array.from({ length: 6 }, (_, writer) =>
        apply(
          `operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: ConfigMap, metadata: {name: contended, namespace: NS}, data: {w: "${writer}"}}`,
        ),
      ),
    );
    expect(await read('contended')).toMatchObject({ data: { w: expect.stringMatching(/^\d$/) } });
  });

  test.each(['Delete', 'DeleteInBackground', 'DeleteNonCascading'])(
    '%s deletes, and a missing object is no failure',
    async (operation) => {
      const name = `gone-${operation.toLowerCase()}`;
      await create(name);
      await apply(`operation: ${operation}\nkind: ConfigMap\nnamespace: NS\nname: ${name}`);
      // The garbage collector takes its time to let go of the dependents.
      await vi.waitFor(async () => expect(await read(name)).toBe(404), 60_000);
      await apply(`operation: ${operation}\nkind: ConfigMap\nnamespace: NS\nname: ${name}`);
    },
  );

  test('Delete waits for the dependents that the garbage collector removes, DeleteNonCascading keeps them', async () => {
    for (const [operation, expected] of [
      ['Delete', 404],
      ['DeleteNonCascading', expect.objectContaining({ kind: 'ConfigMap' })],
    ] as const) {
      const owner = `owner-${operation.toLowerCase()}`;
      await create(owner);
      const { metadata } = (await read(owner)) as { metadata: { uid: string } };
      const reference = `{apiVersion: v1, kind: ConfigMap, name: ${owner}, uid: ${metadata.uid}, blockOwnerDeletion: true}`;
      await create(`${owner}-child`, `, ownerReferences: [${reference}]`);
      await apply(`operation: ${operation}\nkind: cm\nnamespace: NS\nname: ${owner}`);
      expect(await read(`${owner}-child`)).toEqual(expected);
    }
  });

  test('Delete of an object held by a finalizer fails after 20 s', async () => {
    await create('held', ', finalizers: [acme.io/hold]');
    const startMs = clock.steadyMs();
    const failure = apply('operation: Delete\nkind: cm\nnamespace: NS\nname: held').catch(
      (error: unknown) => error,
    );
    for (let poll = 0; poll < 20; poll += 1) {
      await clock.passSleep(POLL_INTERVAL_MS);
      // Lets the sleeper that was woken end its sleep, so that the next round finds the next one.
      await setImmediate();
    }
    expect(await failure).toMatchObject({ message: expect.stringContaining('acme.io/hold') });
    expect(clock.steadyMs() - startMs).toBeGreaterThanOrEqual(20_000);
    await apply(
      'operation: MergePatch\nkind: cm\nnamespace: NS\nname: held\nmergePatch: {metadata: {finalizers: null}}',
    );
    expect(await read('held')).toBe(404);
  });

  test('MergePatch, JSONPatch and JQPatch change objects', async () => {
    await create('patched');
    await apply(`
operation: MergePatch
kind: configmaps
namespace: NS
name: patched
mergePatch: '{"data":{"a":null,"m":"merge"}}'
---
operation: JSONPatch
apiVersion: v1
kind: configmap
namespace: NS
name: patched
jsonPatch: [{op: remove, path: /data/b}, {op: add, path: /data/j, value: json}]
---
operation: JQPatch
kind: ConfigMap
namespace: NS
name: patched
jqFilter: '.data.q = "jq"'
`);
    expect(await read('patched')).toHaveProperty('data', { m: 'merge', j: 'json', q: 'jq' });
  });

  test('JQPatch that changes nothing leaves the version as it is', async () => {
    await create('same');
    const before = await read('same');
    await apply('operation: JQPatch\nkind: cm\nnamespace: NS\nname: same\njqFilter: .data.a = "1"');
    expect(await read('same')).toEqual(before);
  });

  test('JQPatch keeps the changes of all writers', async () => {
    await create('shared');
    await Promise.all(
      Array.from({ length: 4 }, (_, writer) =>
        apply(`operation: JQPatch\nkind: cm\nnamespace: NS\nname: shared\njqFilter: .data.w${writer} = "x"`),
      ),
    );
    expect(await read('shared')).toMatchObject({ data: { a: '1', w0: 'x', w1: 'x', w2: 'x', w3: 'x' } });
  });

  test('patches of a missing object fail unless ignoreMissingObject is set', async () => {
    const patch =
      'operation: MergePatch\nkind: cm\nnamespace: NS\nname: missing\nmergePatch: {data: {a: "1"}}';
    await expect(apply(patch)).rejects.toThrow('404 NotFound');
    await apply(`${patch}\nignoreMissingObject: true`);
    await expect(
      apply(
        'operation: JSONPatch\nkind: cm\nnamespace: NS\nname: patched\njsonPatch: [{op: test, path: /data/x, value: y}]',
      ),
    ).rejects.toThrow('Filter object');
  });

  test.each(['status', '/status'])('patches write to the subresource %j', async (subresource) => {
    const name = `web${subresource.replace('/', '-')}`;
    await apply(`
operation: Create
object:
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: ${name}, namespace: NS}
  spec:
    replicas: 0
    selector: {matchLabels: {app: x}}
    template:
      metadata: {labels: {app: x}}
      spec: {containers: [{name: c, image: nothing}]}
---
operation: MergePatch
kind: deploy
namespace: NS
name: ${name}
subresource: ${subresource}
mergePatch: {spec: {replicas: 5}, status: {conditions: [{type: Merged, status: "True"}]}}
---
operation: JQPatch
kind: deploy
namespace: NS
name: ${name}
subresource: ${subresource}
jqFilter: .spec.replicas = 5 | .status.collisionCount = 7
`);
    expect(await read(name, 'deployments')).toMatchObject({
      spec: { replicas: 0 },
      status: { collisionCount: 7 },
    });
  });

  test('a failed operation does not prevent the later ones', async () => {
    const text = `
{"operation":"Delete","kind":"Nonsense","name":"x"}
{"operation":"Create","object":{"kind":"ConfigMap","metadata":{"name":"Bad_Name","namespace":"NS"}}}
{"operation":"Create","object":{"kind":"ConfigMap","metadata":{"name":"unplaced"}}}
{"operation":"Create","object":{"kind":"ConfigMap","metadata":{"name":"after","namespace":"NS"}}}
`;
    await expect(apply(text)).rejects.toMatchObject({
      code: 'OBJECT_PATCH_FAILED',
      message: expect.stringMatching(
        /^3 of 4 .*operation 1: .*not supported by cluster.*operation 2: .*422.*operation 3: /s,
      ),
    });
    expect(await read('after')).toMatchObject({ kind: 'ConfigMap' });
  });
});
