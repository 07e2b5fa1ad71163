import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster, startControlPlane } from '../support/control-plane/cluster-suite.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { releaseStatuses } from '../support/hanging-chart.ts';
import { item, itemsHook, itemsSeen, untilSeen } from '../support/items-hook.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';
import { makeGate, openGate } from '../support/world-processes.ts';

const signal = new AbortController().signal;

describeCluster('a daemon whose API server goes away', (cluster) => {
  let plane: ControlPlane;
  let backend: Backend;
  beforeAll(async () => {
    plane = await startControlPlane(cluster());
    const { access, kubeconfigPath } = plane;
    backend = await controlPlaneBackend({ ...cluster(), access, kubeconfigPath });
  });
  afterAll(async () => await plane.stop());

  const WEB = {
    'values.yaml': 'webEnabled: true\nweb: {a: 0}\n',
    ...under('001-web', configMapChart('web', 'web')),
  };

  /** The module waits in its beforeHelm hook until the gate opens. */
  const GATED = {
    ...WEB,
    '001-web/hooks/wait.sh': shHook(
      'beforeHelm: 1',
      `[ -e "$WORLD/passed" ] || { echo "hook runs"; read -r go < "$WORLD/gate"; touch "$WORLD/passed"; }`,
    ),
  };

  // FAULT-A1, P18
  test('runs and is not ready while there is no API server at start, and converges when there is one', async () => {
    await using world = await World.create(backend, { modules: WEB });
    await plane.killApiserver();
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilMessage('waiting for the API server: it does not respond yet', 2);
    expect([await daemon.status('/readyz'), await daemon.status('/healthz')]).toEqual([500, 200]);
    await plane.startApiserver(signal);
    await daemon.untilConverged();
    expect(await daemon.status('/readyz')).toBe(200);
    expect(await releaseStatuses(world, 'web')).toEqual(['deployed']);
  });

  // FAULT-A4, P2, P18
  test('resumes its watches after the API server was killed, and misses no deletion', async () => {
    await using world = await World.create(backend, { modules: WEB, config: { web: 'a: 1\n' } });
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    for (const name of ['a', 'b']) await world.create('configmaps', item(name));
    await using proxy = await FaultProxy.start(plane.access);
    await writeFile(join(world.directory, 'proxied'), proxy.kubeconfig);
    await using daemon = DaemonProcess.start(world, { 'kube-config': join(world.directory, 'proxied') });
    await daemon.untilConverged();
    await proxy.disconnect();
    await plane.restartApiserver(signal);
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'a') });
    await world.create('configmaps', item('c'));
    await world.putConfig({ web: 'a: 2\n' });
    await vi.waitFor(async () => {
      expect(await daemon.page('/status')).toMatch(/^the API server has not responded for \d+ s: /);
    }, 60_000);
    await proxy.connect();
    await untilSeen(daemon.log, 'Deleted a');
    await untilSeen(daemon.log, 'Added c');
    await daemon.log.untilMessage('ModuleRun success, module is ready', 2);
    await vi.waitFor(async () => {
      expect(await daemon.page('/status')).toMatch(/^all is well: 1 module ready, /);
    }, 60_000);
    expect(await world.get('configmaps', 'web')).toMatchObject({ data: { values: '{"a":2}' } });
    expect(itemsSeen(daemon.log)).toEqual(['Synchronization a,b', 'Deleted a', 'Added c']);
    const about = daemon.log.records.filter(({ logger }) => logger === 'addon-operator.kube');
    expect(about.filter(({ level }) => level !== 'debug')).toMatchObject([
      { level: 'warn', watches: 3, msg: 'the API server does not respond, its watches go on when it does' },
      { level: 'info', watches: 3, msg: 'the API server responds again' },
    ]);
  });

  // FAULT-A2, P18
  test('converges when the API server was killed during its converge', async () => {
    await using world = await World.create(backend, { modules: GATED });
    await makeGate(world);
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilPrinted('hook runs');
    await plane.killApiserver();
    await openGate(world);
    const failed = await daemon.record('attempt failed, will retry');
    expect(failed).toMatchObject({
      task: 'ModuleRun',
      module: 'web',
      error: expect.stringContaining('API server'),
    });
    await plane.startApiserver(signal);
    await daemon.untilConverged();
    expect((await releaseStatuses(world, 'web')).at(-1)).toBe('deployed');
  });

  // FAULT-A3
  test('continues where it was when a frozen API server resumes', async () => {
    await using world = await World.create(backend, { modules: GATED });
    await world.write('global-hooks', { 'items.sh': itemsHook(world.namespace) });
    await makeGate(world);
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilPrinted('hook runs');
    plane.pauseApiserver();
    try {
      await openGate(world);
      await daemon.log.until((records) =>
        records.some(({ hook, msg }) => hook === 'hooks/wait.sh' && msg === 'hook finished'),
      );
      expect(await daemon.status('/readyz')).toBe(500);
    } finally {
      plane.resumeApiserver();
    }
    await daemon.untilConverged();
    await world.create('configmaps', item('a'));
    await untilSeen(daemon.log, 'Added a');
    await vi.waitFor(async () => expect(await releaseStatuses(world, 'web')).toEqual(['deployed']), 60_000);
  });

  // FAULT-A1, E28, P11
  test('uninstalls nothing while it cannot read what it should know', async () => {
    await using world = await World.create(backend, { modules: WEB, config: { webEnabled: 'true' } });
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
    }
    await using proxy = await FaultProxy.start(plane.access);
    await writeFile(join(world.directory, 'proxied'), proxy.kubeconfig);
    const refused = proxy.add(
      { path: /configmaps\/addon-operator$/, times: 1 },
      { type: 'status', status: 503 },
    );
    const hidden = proxy.add({ verb: 'list', path: /secrets$/, times: 1 }, { type: 'status', status: 500 });
    await using daemon = DaemonProcess.start(world, { 'kube-config': join(world.directory, 'proxied') });
    await daemon.untilConverged();
    expect([refused.hits, hidden.hits]).toEqual([1, 1]);
    expect(await releaseStatuses(world, 'web')).toEqual(['deployed']);
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
  });
});
