import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { hangingChart, releaseStatuses, untilHanging } from '../support/hanging-chart.ts';
import { type Backend, World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';
import { makeGate, openGate, processesOf, untilNoProcesses } from '../support/world-processes.ts';

const STOPPING = 'stopping: waiting for running hooks and helm';

describeCluster('a daemon that receives SIGTERM', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-D3, P17
  test('stops normally when idle: exit code 0, no socket and no process left', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'a.sh': shHook('kubernetes:\n- {name: pods, apiVersion: v1, kind: Pod}', 'echo synchronized'),
      },
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    });
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect(daemon.log.records.at(-1)).toMatchObject({ msg: 'shutdown is done' });
    expect(existsSync(join(world.directory, 'debug.socket'))).toBe(false);
    await untilNoProcesses(world);
  });

  // FAULT-D3
  test('stops normally before the first converge is complete', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'fail.sh': shHook('onStartup: 1', 'exit 1') },
    });
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilMessage('attempt failed, will retry');
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  });

  // FAULT-D4
  test('lets a running hook finish, applies its output, and starts no other hook', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'a.sh': shHook(
          'onStartup: 1',
          `
echo "hook runs"; read -r go < "$WORLD/gate"
echo '{"op":"add","path":"/global/saved","value":1}' > "$CONFIG_VALUES_JSON_PATCH_PATH"
echo '{"operation":"Create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made","namespace":"'$NAMESPACE'"}}}' > "$KUBERNETES_PATCH_PATH"
echo "hook ends"`,
        ),
        'b.sh': announcer('b', { onStartup: 2 }),
      },
    });
    await makeGate(world);
    await using daemon = DaemonProcess.start(world, { 'shutdown-grace': '30s' });
    await daemon.log.untilPrinted('hook runs');
    daemon.signal('SIGTERM');
    await daemon.log.untilMessage(STOPPING);
    await openGate(world);
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect(daemon.log.printed).toEqual(['hook runs', 'hook ends']);
    expect(await world.get('configmaps', 'made')).toBeDefined();
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({ data: { global: 'saved: 1\n' } });
  });

  // FAULT-D4, P8, P17
  test('stops a hook that does not end: SIGTERM to its process group after the grace, then SIGKILL', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'a.sh': shHook(
          'onStartup: 1',
          `
trap 'echo "told to stop"' TERM
(trap '' TERM; while :; do sleep 600; done) &
echo "hook runs"
while :; do sleep 600; done`,
        ),
      },
    });
    await using daemon = DaemonProcess.start(world, { 'shutdown-grace': '100ms' });
    await daemon.log.untilPrinted('hook runs');
    expect(await processesOf(world)).not.toEqual([]);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect(daemon.log.printed).toEqual(['hook runs', 'told to stop']);
    await untilNoProcesses(world);
    const left = await readdir(join(world.directory, 'tmp'));
    expect(left.filter((name) => name.startsWith('run-'))).toEqual([]);
  });

  // FAULT-D4, C1
  test('ends a running helm so that no release stays pending, and the next start deploys it', async () => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', hangingChart('web', 'web')) },
      config: { web: 'hangs: true\n' },
    });
    {
      await using daemon = DaemonProcess.start(world, { 'shutdown-grace': '100ms' });
      await untilHanging(world, 'web');
      daemon.signal('SIGTERM');
      expect(await daemon.exited).toEqual({ code: 0, signal: null });
    }
    await untilNoProcesses(world);
    expect(await releaseStatuses(world, 'web')).toEqual(['failed']);
    await world.putConfig({ web: 'hangs: false\n' });
    await using next = DaemonProcess.start(world);
    await next.untilConverged();
    expect(await releaseStatuses(world, 'web')).toEqual(['failed', 'deployed']);
  });

  // FAULT-D4, C22
  test('lets a running helm finish within the grace, and the next start finds nothing to do', async () => {
    await using world = await World.create(backend, {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    });
    await using proxy = await FaultProxy.start(cluster().access);
    await world.write('modules', { '../proxied': proxy.kubeconfig });
    const flags = { 'kube-config': join(world.directory, 'proxied'), 'shutdown-grace': '60s' };
    // The first one is that of what the operator remembers.
    const held = proxy.add({ verb: 'create', path: /configmaps$/, skip: 1 }, { type: 'hold' });
    {
      await using daemon = DaemonProcess.start(world, flags);
      await held.untilHit();
      daemon.signal('SIGTERM');
      await daemon.log.untilMessage(STOPPING);
      held.release();
      expect(await daemon.exited).toEqual({ code: 0, signal: null });
    }
    expect(await releaseStatuses(world, 'web')).toEqual(['deployed']);
    const { length } = await world.helmCalls();
    await using next = DaemonProcess.start(world, flags);
    await next.untilConverged();
    expect((await world.helmCalls()).slice(length)).toEqual([]);
  });

  // FAULT-D3, E13
  test('stops normally while a hook is called for its configuration', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'slow.sh': '#!/bin/sh\ntouch "$WORLD/asked"; while :; do sleep 600; done\n' },
    });
    await using daemon = DaemonProcess.start(world);
    await vi.waitFor(() => expect(existsSync(join(world.directory, 'asked'))).toBe(true), 60_000);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    await untilNoProcesses(world);
  });

  // FAULT-D5
  test('exits at once with 143 at the second SIGTERM, and ends its hooks', async () => {
    await using world = await World.create(backend, {
      globalHooks: {
        'a.sh': shHook('onStartup: 1', `trap '' TERM; echo "hook runs"; while :; do sleep 600; done`),
      },
    });
    await using daemon = DaemonProcess.start(world, { 'shutdown-grace': '60s' });
    await daemon.log.untilPrinted('hook runs');
    daemon.signal('SIGTERM');
    await daemon.log.untilMessage(STOPPING);
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 143, signal: null });
    await untilNoProcesses(world);
  });

  // FAULT-A1, D3
  test('stops normally while it waits for the API server', async () => {
    await using world = await World.create(backend, {});
    await world.write('modules', {
      '../nowhere': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:9' } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: '' } }],
        'current-context': 'a',
      }),
    });
    await using daemon = DaemonProcess.start(world, { 'kube-config': join(world.directory, 'nowhere') });
    await daemon.log.untilMessage('waiting for the API server: it does not respond yet');
    daemon.signal('SIGTERM');
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  });

  // FAULT-E13, D10
  test('exits with 1 and one record with the reason, when it cannot start', async () => {
    await using world = await World.create(backend, {
      globalHooks: { 'bad.sh': '#!/bin/sh\necho "no such luck" >&2; exit 3\n' },
    });
    await using daemon = DaemonProcess.start(world);
    expect(await daemon.exited).toEqual({ code: 1, signal: null });
    const failures = daemon.log.records.filter(({ level }) => level === 'fatal' || level === 'error');
    expect(failures).toMatchObject([{ error: expect.stringMatching(/bad\.sh.*no such luck/) }]);
    await untilNoProcesses(world);
  });
});
