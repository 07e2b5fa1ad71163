import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { uniqueName } from '../support/module-world.ts';
import {
  BEATING_HOOK,
  expectSteppedDown,
  gapMs,
  leaseOf,
  leasePath,
  Replicas,
  untilBeating,
  untilLeading,
} from '../support/replicas.ts';
import { deliveredWorld, moveSource, pushVersion } from '../support/store/delivered-world.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';
import { untilNoProcesses } from '../support/world-processes.ts';

/** A hook that refuses every new ConfigMap in a namespace; while it cannot be asked they are let in. */
function denyingHook(namespace: string): string {
  return shHook(
    `
kubernetesValidating:
- name: deny.example.com
  failurePolicy: Ignore
  timeoutSeconds: 30
  namespace: {labelSelector: {matchLabels: {kubernetes.io/metadata.name: ${namespace}}}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`,
    `echo asked; echo '{"allowed": false, "message": "denied by the hook"}' > "$VALIDATING_RESPONSE_PATH"`,
  );
}

const SOON = { timeout: 60_000, interval: 100 };

describeCluster('two replicas', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  function beatingWorld(): Promise<World> {
    return World.create(backend, { globalHooks: { 'beat.sh': BEATING_HOOK } });
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
      leaseDurationSeconds: 12,
    });
    await using two = await replicas.start(2);
    await two.log.untilMessage('the lease has a holder');
    expect(await replicas.ask(2, '/healthz')).toEqual({ status: 200, body: '' });
    // It has three seconds for the response of the leader.
    await vi.waitFor(async () => {
      expect(await replicas.ask(2, '/readyz')).toEqual({
        status: 500,
        body: "HA mode is enabled but the leader's status response code isn't OK\n",
      });
    }, 60_000);
    await world.write('modules', { '../go': '' });
    await one.untilConverged();
    expect(await replicas.ask(1, '/readyz')).toEqual({ status: 200, body: 'Startup converge done.\n' });
    await vi.waitFor(async () => {
      expect(await replicas.ask(2, '/readyz')).toEqual({
        status: 200,
        body: 'HA mode is enabled and waiting for acquiring the lock.\n',
      });
    }, 60_000);
    expect((await replicas.ask(1, '/metrics')).body).toContain('addon_operator_is_leader 1\n');
    expect((await replicas.ask(2, '/metrics')).body).toContain('addon_operator_is_leader 0\n');
    expect(two.log.printed).toEqual([]);
    two.signal('SIGTERM');
    expect(await two.exited).toEqual({ code: 0, signal: null });
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: expect.stringMatching(/^pod-1\./) });
  });

  // FAULT-L8
  test('after an orderly stop of the leader the standby takes over before the lease expires', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'a.sh': shHook('onStartup: 1', 'echo "hook runs"') },
    });
    const replicas = await Replicas.on(world);
    // It expires after this test.
    const flags = { 'lease-duration': '20m', 'lease-renew-deadline': '10m' };
    await using one = await replicas.start(1, undefined, flags);
    await one.untilConverged();
    await using two = await replicas.start(2, undefined, flags);
    await two.log.untilMessage('the lease has a holder');
    one.signal('SIGTERM');
    await one.log.untilMessage('the lease is released');
    await untilLeading(two);
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
    await one.log.untilMessage('Restarting because the leadership was handed over');
    await expectSteppedDown(one, 'held by somebody');
    await untilNoProcesses(world);
    expect(await leaseOf(world)).toMatchObject({ holderIdentity: 'somebody' });
  });

  // FAULT-L7
  test('webhook requests to the standby are forwarded to the leader, and wait while there is none', async () => {
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
      await vi.waitFor(async () => expect(await create()).toMatchObject(denied), 60_000);
      expect([one.log.printed.includes('asked'), two.log.printed]).toEqual([true, []]);
      one.signal('SIGTERM');
      const responses: unknown[] = [];
      while (!two.log.printed.includes('asked')) responses.push(await create());
      expect(responses).toMatchObject(responses.map(() => denied));
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

  // FAULT-D21
  test('a standby has the content of modules ready: it takes over without the registry', async () => {
    const name = uniqueName();
    await using made = await deliveredWorld(backend, [name], { 'module-backup': 'none' });
    const { world } = made;
    await pushVersion(world, name, '1.0.0');
    const replicas = await Replicas.on(world);
    const store = (pod: number): string => join(world.directory, `store-of-${pod}`);
    await using one = await replicas.start(1, undefined, { 'module-store': store(1) });
    await vi.waitFor(async () => {
      expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: '1.0.0' } });
    }, SOON);
    await using two = await replicas.start(2, undefined, { 'module-store': store(2) });
    await vi.waitFor(async () => {
      const names = await readdir(join(store(2), 'content'));
      expect(names).toContainEqual(expect.stringMatching(/[.]ok$/u));
    }, SOON);
    expect(await readdir(join(store(2), 'current'))).toEqual([]);
    await moveSource(world, 'away');
    await one.kill();
    await untilLeading(two);
    await two.untilConverged();
    await vi.waitFor(async () => {
      expect(await readdir(join(store(2), 'current'))).toEqual([`030-${name}`]);
    }, SOON);
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/u));
    const missing = two.log.records.filter(({ msg }) => msg === 'files of a module are missing');
    expect(missing).toEqual([]);
  });
});
