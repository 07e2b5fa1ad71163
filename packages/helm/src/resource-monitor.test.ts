import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MonitorSet } from '../../../src/releases/monitor-set.ts';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { ReleaseCluster } from '../../../test/support/release-cluster.ts';
import type { ManifestObject } from './manifest-object.ts';
import { ReleaseStore } from './release-store.ts';
import {
  MonitorReads,
  monitorDelayMs,
  type ReleaseFinding,
  ResourceMonitor,
  type ResourceMonitorOptions,
  randomShiftMs,
} from './resource-monitor.ts';

const SECRETS = '/api/v1/namespaces/ops/secrets';
const CONFIG_MAPS = '/api/v1/namespaces/ops/configmaps';
const SERVICES = '/api/v1/namespaces/ops/services';
const PERIOD_MS = 300_000;

/** A chart of a ConfigMap and a Service for each module. */
function objectsOf(module: string): readonly ManifestObject[] {
  const object = (kind: string): ManifestObject => ({
    apiVersion: 'v1',
    kind,
    name: module,
    namespace: 'ops',
  });
  return [object('ConfigMap'), object('Service')];
}

/** Monitors on an API server; where every module is deployed, and complete. */
class World {
  readonly clock = new FakeClock();
  readonly log = new CapturedLog(this.clock);
  readonly cluster = new ReleaseCluster();
  readonly findings: (readonly [string, ReleaseFinding])[] = [];
  readonly options: ResourceMonitorOptions = {
    clock: this.clock,
    log: this.log.logger,
    shiftMs: 0,
    reads: new MonitorReads({
      clock: this.clock,
      store: new ReleaseStore({ kube: this.cluster, namespace: 'ops', storageDriver: 'secret' }),
      labels: { heritage: 'addon-operator' },
      lookup: {
        kube: this.cluster,
        namespace: 'ops',
        find: async (_apiVersion, kind) => ({
          group: '',
          version: 'v1',
          kind,
          plural: `${kind.toLowerCase()}s`,
          singular: '',
          shortNames: [],
          isNamespaced: true,
          verbs: [],
        }),
      },
    }),
    onFinding: (module, finding) => this.findings.push([module, finding]),
  };
  readonly monitors = new MonitorSet({
    ...this.options,
    driftMode: 'off',
    startDrift: () => {
      throw new Error('nobody cares about drift');
    },
  });

  static async of(...modules: readonly string[]): Promise<World> {
    const world = new World();
    for (const module of modules) await world.deploy(module);
    return world;
  }

  async deploy(module: string): Promise<void> {
    this.cluster.setRelease(module, 1, 'superseded');
    this.cluster.setRelease(module, 2, 'deployed');
    this.cluster.add('configmaps', module);
    this.cluster.add('services', module);
    await this.monitors.ensure(module, objectsOf(module));
  }

  /** The requests to the API server in a period. */
  async pass(): Promise<readonly string[]> {
    this.cluster.calls.length = 0;
    await this.clock.advance(PERIOD_MS);
    // Requests take turns of the event loop.
    for (let round = 0; round < 10; round += 1) await settle();
    return this.cluster.calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.monitors.stopAll();
  }
}

const absent = (module: string, kind: string): readonly [string, ReleaseFinding] => [
  module,
  { type: 'absent', resource: `ops/${kind}/${module}` },
];

test('a monitor ticks every five minutes, and reads lists only', async () => {
  await using world = await World.of('web');
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS]);
  const lists = [`GET ${SECRETS}/`, `GET ${CONFIG_MAPS}/`, `GET ${SERVICES}/`];
  expect(await world.pass()).toEqual(lists);
  expect(await world.pass()).toEqual(lists);
  expect(world.findings).toEqual([]);
});

test('a monitor reports a missing object with namespace, kind and name, once it has looked for it by name', async () => {
  await using world = await World.of('web');
  world.cluster.delete('services', 'web');
  expect(await world.pass()).toContain(`GET ${SERVICES}/web`);
  expect(world.findings).toEqual([absent('web', 'Service')]);
});

test.each(['failed', 'pending-upgrade', 'superseded'])('a monitor reports the status %s', async (status) => {
  await using world = await World.of('web');
  world.cluster.setRelease('web', 2, status);
  await world.pass();
  expect(world.findings).toEqual([['web', { type: 'unexpected-status', status }]]);
});

test('a monitor reports a release that is gone', async () => {
  await using world = await World.of('web');
  world.cluster.deleteRelease('web');
  await world.pass();
  expect(world.findings).toEqual([['web', { type: 'unexpected-status', status: 'not found' }]]);
});

test('what is amiss in a list, but mended since, is not reported', async () => {
  await using world = await World.of('web');
  world.cluster.setRelease('web', 2, 'pending-upgrade');
  world.cluster.delete('configmaps', 'web');
  world.cluster.onRequest = (path) => {
    if (path.startsWith(`${SECRETS}/`)) world.cluster.setRelease('web', 2, 'deployed');
    if (path.startsWith(`${CONFIG_MAPS}/`)) world.cluster.add('configmaps', 'web');
  };
  await world.pass();
  expect(world.findings).toEqual([]);
});

test('the monitors of 100 modules read each list once in a pass', async () => {
  const modules = Array.from({ length: 100 }, (_, index) => `mod${index}`);
  await using world = await World.of(...modules);
  expect(await world.pass()).toEqual([`GET ${SECRETS}/`, `GET ${CONFIG_MAPS}/`, `GET ${SERVICES}/`]);
  world.cluster.delete('configmaps', 'mod7');
  world.cluster.delete('services', 'mod70');
  world.cluster.setRelease('mod77', 3, 'failed');
  // Besides the lists: each missing object, and two reads by name for the release.
  expect(await world.pass()).toHaveLength(3 + 1 + 1 + 2);
  expect(world.findings).toHaveLength(3);
  expect(world.findings).toContainEqual(absent('mod7', 'ConfigMap'));
  expect(world.findings).toContainEqual(absent('mod70', 'Service'));
  expect(world.findings).toContainEqual(['mod77', { type: 'unexpected-status', status: 'failed' }]);
});

test('monitors started over five minutes share their reads within an hour', async () => {
  await using world = new World();
  for (let index = 0; index < 10; index += 1) {
    await world.deploy(`mod${index}`);
    await world.clock.advance(31_000);
  }
  await world.clock.advance(3_600_000);
  expect(await world.pass()).toHaveLength(3);
});

test('a list that fails concerns the modules with such objects alone, and is read again at the next tick', async () => {
  await using world = await World.of('web', 'db');
  await world.monitors.restart('db', objectsOf('db').slice(0, 1));
  world.cluster.failures.set(SERVICES, new KubeApiError('out of order', { status: 500, reason: 'Broken' }));
  world.cluster.delete('configmaps', 'db');
  await world.pass();
  expect(world.findings).toEqual([absent('db', 'ConfigMap')]);
  const warnings = world.log.records.filter(({ msg }) => msg === 'cannot check the objects of a release');
  expect(warnings.map(({ module }) => module)).toEqual(['web']);
  world.cluster.failures.clear();
  world.cluster.delete('services', 'web');
  await world.pass();
  expect(world.findings).toContainEqual(absent('web', 'Service'));
});

test('a role that may list nothing has everything read by name', async () => {
  await using world = await World.of('web', 'db');
  await world.pass();
  const forbidden = new KubeApiError('forbidden', { status: 403, reason: 'Forbidden' });
  for (const path of [SECRETS, CONFIG_MAPS, SERVICES]) world.cluster.failures.set(path, forbidden);
  world.cluster.delete('services', 'web');
  await world.pass();
  expect(world.findings).toEqual([absent('web', 'Service')]);
});

test('a monitor that is stopped while it reads for others takes only itself down', async () => {
  await using world = await World.of('web', 'db');
  world.cluster.delete('services', 'db');
  let stopped: Promise<void> | undefined;
  world.cluster.onRequest = (path) => {
    if (path === CONFIG_MAPS) stopped ??= world.monitors.stop('web');
  };
  await world.pass();
  await stopped;
  expect(world.findings).toEqual([absent('db', 'Service')]);
});

test('a paused monitor skips its tick until every pause is over', async () => {
  await using world = await World.of('web');
  world.cluster.delete('configmaps', 'web');
  const [first, second] = [world.monitors.pause('web'), world.monitors.pause('web')];
  first();
  first();
  expect(await world.pass()).toEqual([]);
  second();
  await world.pass();
  expect(world.findings).toHaveLength(1);
});

test('ensure() keeps a running monitor, restart() replaces it, stop() ends it', async () => {
  await using world = await World.of('web');
  await world.clock.advance(100_000);
  await world.monitors.ensure('web', []);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS - 100_000]);
  await world.monitors.restart('web', objectsOf('web'));
  expect(world.clock.pendingDelaysMs).toEqual([290_000]);
  await world.monitors.stop('web');
  await settle();
  expect(world.clock.pendingDelaysMs).toEqual([]);
});

test('a monitor that is hurried looks at once for itself, and goes on as before', async () => {
  await using world = await World.of('web', 'db');
  await world.pass();
  world.cluster.delete('configmaps', 'web');
  const monitor = ResourceMonitor.start('web', objectsOf('web'), () => false, world.options);
  monitor.lookNow();
  for (let round = 0; round < 10; round += 1) await settle();
  expect(world.findings).toEqual([absent('web', 'ConfigMap')]);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS, PERIOD_MS, PERIOD_MS]);
  await monitor.stop();
});

const anyMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
const anyShiftMs = fc.integer({ min: 0, max: 299 }).map((seconds) => seconds * 1_000);

test('a monitor waits at least 270 s and less than 330 s, whenever it starts', () => {
  fc.assert(
    fc.property(anyMs, anyShiftMs, (nowMs, shiftMs) => {
      const delayMs = monitorDelayMs(nowMs, shiftMs);
      expect(delayMs).toBeGreaterThanOrEqual(270_000);
      expect(delayMs).toBeLessThan(330_000);
    }),
  );
});

test('monitors started at different times look at the same time within an hour, and go on together every five minutes', () => {
  const lookAfterAnHour = (startMs: number, shiftMs: number, untilMs: number): number => {
    let nowMs = startMs;
    while (nowMs < untilMs) nowMs += monitorDelayMs(nowMs, shiftMs);
    return nowMs;
  };
  fc.assert(
    fc.property(anyMs, fc.nat(600_000), anyShiftMs, (startMs, laterMs, shiftMs) => {
      const untilMs = startMs + laterMs + 3_600_000;
      const look = lookAfterAnHour(startMs, shiftMs, untilMs);
      expect(lookAfterAnHour(startMs + laterMs, shiftMs, untilMs)).toBe(look);
      expect(monitorDelayMs(look, shiftMs)).toBe(300_000);
    }),
  );
});

test('randomShiftMs() is a full second below five minutes', () => {
  expect(randomShiftMs(() => 0)).toBe(0);
  expect(randomShiftMs(() => 0.5)).toBe(150_000);
  expect(randomShiftMs(() => 0.999_999)).toBe(299_000);
});
