import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import {
  BEATING_HOOK,
  BEATING_SCRIPT,
  beatsOf,
  leaseOf,
  leasePath,
  Replicas,
  untilBeating,
  untilLeading,
} from '../support/replicas.ts';
import { type Backend, World } from '../support/world.ts';
import { type FileTree, shHook, under } from '../support/world-files.ts';
import { processesOf } from '../support/world-processes.ts';

const HANDED_OVER = 'Restarting because the leadership was handed over';
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** A hook that refuses every new ConfigMap in a namespace; while it cannot be asked they are let in. */
function denyingHook(namespace: string): string {
  return shHook(
    `
kubernetesValidating:
- name: deny.example.com
  failurePolicy: Ignore
  namespace: {labelSelector: {matchLabels: {kubernetes.io/metadata.name: ${namespace}}}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`,
    `echo asked; echo '{"allowed": false, "message": "denied by the hook"}' > "$VALIDATING_RESPONSE_PATH"`,
  );
}

describeCluster('two replicas', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  function beatingWorld(): Promise<World> {
    return World.create(backend, { globalHooks: { 'beat.sh': BEATING_HOOK } });
  }

  /** Time between the last sign of life of the hook of the first and the first sign of that of the second. */
  async function gapMs(world: World): Promise<number> {
    const [one, two] = [await beatsOf(world, 1), await beatsOf(world, 2)];
    if (one === undefined || two === undefined) throw new Error('a hook did not run');
    return two.firstMs - one.lastMs;
  }

  /** Exit code 0, and the record that says why. */
  async function expectSteppedDown(daemon: DaemonProcess, reason: string): Promise<void> {
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect(daemon.log.records).toContainEqual(
      expect.objectContaining({ msg: HANDED_OVER, error: expect.stringContaining(reason) }),
    );
  }

  // FAULT-L7
  test('the leader is active, the standby serves probes and metrics, and is ready while the leader is', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/go" ] || exit 1; echo "hook runs"') },
    });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await untilLeading(one);
    expect(await leaseOf(world)).toMatchObject({
      holderIdentity: `pod-1.127-0-0-1.${world.namespace}.pod`,
      leaseDurationSeconds: 6,
    });
    await using two = await replicas.start(2);
    await two.log.untilMessage('the lease has a holder');
    expect(await replicas.ask(2, '/healthz')).toEqual({ status: 200, body: '' });
    expect(await replicas.ask(2, '/readyz')).toEqual({
      status: 500,
      body: "HA mode is enabled but the leader's status response code isn't OK\n",
    });
    await world.write('modules', { '../go': '' });
    await one.untilConverged();
    expect(await replicas.ask(1, '/readyz')).toEqual({ status: 200, body: 'Startup converge done.\n' });
    expect(await replicas.ask(2, '/readyz')).toEqual({
      status: 200,
      body: 'HA mode is enabled and waiting for acquiring the lock.\n',
    });
    expect((await replicas.ask(1, '/metrics')).body).toContain('addon_operator_is_leader 1\n');
    expect((await replicas.ask(2, '/metrics')).body).toContain('addon_operator_is_leader 0\n');
    expect(two.log.printed).toEqual([]);
    two.signal('SIGTERM');
    expect(await two.exited).toEqual({ code: 0, signal: null });
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: expect.stringMatching(/^pod-1\./) });
  });

  // FAULT-L8
  test('after an orderly stop of the leader the standby takes over within 3 seconds', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'a.sh': shHook('onStartup: 1', 'echo "hook runs"') },
    });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await one.untilConverged();
    await using two = await replicas.start(2);
    await two.log.untilMessage('the lease has a holder');
    one.signal('SIGTERM');
    await one.log.untilMessage('the lease is released');
    const givenBackMs = Date.now();
    await untilLeading(two);
    expect(Date.now() - givenBackMs).toBeLessThan(3_000);
    expect(await one.exited).toEqual({ code: 0, signal: null });
    await two.untilConverged();
    expect(two.log.printed).toEqual(['hook runs']);
    expect(await leaseOf(world)).toMatchObject({ leaseTransitions: 1 });
  });

  // FAULT-L8
  test('after kill -9 of the leader its hook ends before the hook of the standby begins', async () => {
    await using world = await beatingWorld();
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await untilBeating(world, 1);
    await using _two = await replicas.start(2);
    await one.kill();
    await untilBeating(world, 2);
    expect(await gapMs(world)).toBeGreaterThan(0);
  });

  // FAULT-L3
  test.each<[string, (proxy: FaultProxy) => Promise<void> | void]>([
    ['swallows everything', (proxy) => proxy.freeze()],
    ['refuses connections', (proxy) => proxy.disconnect()],
  ])('a leader whose network %s ends its hook, and itself, before the standby begins', async (_case, cut) => {
    await using world = await beatingWorld();
    await using proxy = await FaultProxy.start(cluster().access);
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1, proxy);
    await untilBeating(world, 1);
    await using _two = await replicas.start(2);
    await cut(proxy);
    await untilBeating(world, 2);
    expect(await gapMs(world)).toBeGreaterThan(0);
    await expectSteppedDown(one, 'could not be renewed in time');
  });

  // FAULT-L1, P20
  test.each<[string, FileTree]>([
    ['a hook', { 'beat.sh': BEATING_HOOK }],
    ['an in-process hook', { 'beat.mjs': BEATING_SCRIPT }],
  ])(
    '%s of a leader that is stopped (SIGSTOP) ends before the standby begins; when resumed, the leader writes nothing and exits',
    async (_case, globalHooks) => {
      await using world = await World.create(backend, { globalHooks });
      await using proxy = await FaultProxy.start(cluster().access);
      const replicas = await Replicas.on(world);
      await using one = await replicas.start(1, proxy);
      await untilBeating(world, 1);
      await using _two = await replicas.start(2);
      one.signal('SIGSTOP');
      await untilBeating(world, 2);
      expect(await gapMs(world)).toBeGreaterThan(0);
      const before = proxy.calls.length;
      one.signal('SIGCONT');
      await expectSteppedDown(one, 'could not be renewed in time');
      expect(await gapMs(world)).toBeGreaterThan(0);
      expect(proxy.calls.slice(before).filter(({ verb }) => WRITES.includes(verb))).toEqual([]);
      expect(await leaseOf(world)).toMatchObject({ holderIdentity: expect.stringMatching(/^pod-2\./) });
    },
  );

  // FAULT-L1, P20
  test('a leader that is stopped (SIGSTOP) between two object patches of a hook does not send the second when resumed', async () => {
    const object = (name: string) =>
      `{"operation":"CreateOrUpdate","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","namespace":"'$NAMESPACE'"}}}`;
    await using world = await World.create(backend, {
      globalHooks: {
        'make.sh': shHook(
          'onStartup: 1',
          `echo '${object('one')}' > "$KUBERNETES_PATCH_PATH"; echo '${object('two')}' >> "$KUBERNETES_PATCH_PATH"`,
        ),
      },
    });
    await using proxy = await FaultProxy.start(cluster().access);
    const held = proxy.add({ verb: 'create', path: /configmaps$/, times: 1 }, { type: 'hold' });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1, proxy);
    await held.untilHit();
    one.signal('SIGSTOP');
    await using two = await replicas.start(2);
    await untilLeading(two);
    held.release();
    await vi.waitFor(
      () => expect(proxy.calls.find(({ fault }) => fault === 'hold')?.status).not.toBeNull(),
      20_000,
    );
    const before = proxy.calls.length;
    one.signal('SIGCONT');
    await expectSteppedDown(one, 'could not be renewed in time');
    expect(proxy.calls.slice(before).filter(({ verb }) => WRITES.includes(verb))).toEqual([]);
    await two.untilConverged();
    expect(await world.get('configmaps', 'two')).toBeDefined();
  });

  // FAULT-L2
  test('helm of a leader that is stopped (SIGSTOP) is ended, and the standby repairs the release', async () => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) },
      config: { web: 'hangs: true\n' },
    });
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await untilHanging(world, 'web');
    await world.putConfig({ web: 'hangs: false\n' });
    one.signal('SIGSTOP');
    await vi.waitFor(async () => expect(await processesOf(world)).toEqual([]), 20_000);
    await using two = await replicas.start(2);
    await untilLeading(two);
    one.signal('SIGCONT');
    await expectSteppedDown(one, 'could not be renewed in time');
    await two.untilConverged();
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
  });

  // FAULT-L4
  test('a leader whose lease is edited by hand ends its hook at once', async () => {
    await using world = await beatingWorld();
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1);
    await untilBeating(world, 1);
    await world.expect({
      method: 'PATCH',
      path: leasePath(world),
      body: { spec: { holderIdentity: 'somebody' } },
      contentType: 'application/merge-patch+json',
    });
    await expectSteppedDown(one, 'held by somebody');
    expect(await processesOf(world)).toEqual([]);
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: 'somebody' });
  });

  // FAULT-L7
  test('a webhook request to the standby is forwarded to the leader', async () => {
    await using world = await World.create(backend, {});
    await world.write('global-hooks', { 'deny.sh': denyingHook(world.namespace) });
    const [port = 0, conversionPort = 0] = await freePorts(2);
    const configuration = `ha-${world.namespace}`;
    const flags = (number: number) => ({
      // The API server knows the second replica alone.
      'webhook-url': 'https://127.0.0.2',
      'validating-webhook-configuration-name': configuration,
      'validating-webhook-listen-address': `127.0.0.${number}`,
      'validating-webhook-listen-port': String(port),
      'conversion-webhook-listen-address': `127.0.0.${number}`,
      'conversion-webhook-listen-port': String(conversionPort),
    });
    const replicas = await Replicas.on(world);
    const create = () =>
      world.backend.request({
        method: 'POST',
        path: `${world.path('configmaps')}?dryRun=All`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any' } },
      });
    const denied = { status: 403, body: { message: expect.stringContaining('denied by the hook') } };
    try {
      await using one = await replicas.start(1, undefined, flags(1));
      await one.untilConverged();
      await using two = await replicas.start(2, undefined, flags(2));
      await two.log.untilMessage('the lease has a holder');
      await vi.waitFor(async () => expect(await create()).toMatchObject(denied), 30_000);
      expect([one.log.printed.includes('asked'), two.log.printed]).toEqual([true, []]);
      one.signal('SIGTERM');
      await two.untilConverged();
      await vi.waitFor(async () => expect(await create()).toMatchObject(denied), 30_000);
      expect(two.log.printed).toContain('asked');
    } finally {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${configuration}-hooks`;
      await world.backend.request({ method: 'DELETE', path });
    }
  });

  // FAULT-A1
  test('a replica without an API server retries, and stops normally when signalled', async () => {
    await using world = await World.create(backend, {});
    await using proxy = await FaultProxy.start(cluster().access);
    await proxy.disconnect();
    const replicas = await Replicas.on(world);
    await using one = await replicas.start(1, proxy);
    await one.log.untilMessage('cannot request the lease, will retry');
    expect(await replicas.ask(1, '/readyz')).toEqual({
      status: 500,
      body: 'HA mode is enabled but no leader is elected\n',
    });
    await proxy.connect();
    await untilLeading(one);
    await proxy.disconnect();
    one.signal('SIGTERM');
    expect(await one.exited).toEqual({ code: 0, signal: null });
    expect(one.log.records).toContainEqual(
      expect.objectContaining({
        msg: 'cannot release the lease: another replica takes over when it expires',
      }),
    );
  });
});
