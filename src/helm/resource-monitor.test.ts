import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { silentLogger } from '../lib/log.ts';
import type { ManifestObject } from './manifest-object.ts';
import { MonitorSet } from './monitor-set.ts';
import type { ReleaseStatus } from './release-record.ts';
import { type ReleaseFinding, ResourceMonitor, type ResourceMonitorOptions } from './resource-monitor.ts';

const objects: readonly ManifestObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '' },
  { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', namespace: 'other' },
];

class World {
  readonly clock = new FakeClock();
  readonly findings: (readonly [string, ReleaseFinding])[] = [];
  status: ReleaseStatus | undefined = 'deployed';
  absent: ManifestObject | undefined;
  failure: Error | undefined;
  looks = 0;
  readonly options: ResourceMonitorOptions = {
    clock: this.clock,
    log: silentLogger,
    random: () => 0.5,
    status: async () => {
      this.looks += 1;
      if (this.failure !== undefined) throw this.failure;
      return await Promise.resolve(this.status);
    },
    firstAbsent: async () => await Promise.resolve(this.absent),
    onFinding: (module, finding) => this.findings.push([module, finding]),
  };
  readonly monitors = new MonitorSet({
    ...this.options,
    driftMode: 'off',
    startDrift: () => {
      throw new Error('nobody cares about drift');
    },
  });
}

const PERIOD_MS = 300_000;

test('a monitor ticks after 270 s and its own share of a minute', async () => {
  const world = new World();
  await world.monitors.ensure('web', objects);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS]);
  await world.clock.advance(PERIOD_MS);
  expect(world.looks).toBe(1);
  await world.clock.advance(PERIOD_MS);
  expect(world.looks).toBe(2);
  expect(world.findings).toEqual([]);
  await world.monitors.stopAll();
});

test('a monitor reports a missing object with namespace, kind and name', async () => {
  const world = new World();
  world.absent = objects[1];
  await world.monitors.ensure('web', objects);
  await world.clock.advance(PERIOD_MS);
  expect(world.findings).toEqual([['web', { type: 'absent', resource: 'other/ConfigMap/b' }]]);
  await world.monitors.stopAll();
});

test.each<[ReleaseStatus | undefined, string]>([
  ['failed', 'failed'],
  [undefined, 'not found'],
])('a monitor reports the status %s', async (status, reported) => {
  const world = new World();
  world.status = status;
  await world.monitors.ensure('web', objects);
  await world.clock.advance(PERIOD_MS);
  expect(world.findings).toEqual([['web', { type: 'unexpected-status', status: reported }]]);
  await world.monitors.stopAll();
});

test('a paused monitor skips its tick until every pause is over', async () => {
  const world = new World();
  world.absent = objects[0];
  await world.monitors.ensure('web', objects);
  const [first, second] = [world.monitors.pause('web'), world.monitors.pause('web')];
  first();
  first();
  await world.clock.advance(PERIOD_MS);
  expect(world.findings).toEqual([]);
  second();
  await world.clock.advance(PERIOD_MS);
  expect(world.findings).toHaveLength(1);
  await world.monitors.stopAll();
});

test('a monitor survives an error', async () => {
  const world = new World();
  world.failure = new Error('API down');
  await world.monitors.ensure('web', objects);
  await world.clock.advance(PERIOD_MS);
  world.failure = undefined;
  world.absent = objects[0];
  await world.clock.advance(PERIOD_MS);
  expect(world.findings).toHaveLength(1);
  await world.monitors.stopAll();
});

test('ensure() keeps a running monitor, restart() replaces it, stop() ends it', async () => {
  const world = new World();
  await world.monitors.ensure('web', objects);
  await world.clock.advance(100_000);
  await world.monitors.ensure('web', []);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS - 100_000]);
  await world.monitors.restart('web', objects);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS]);
  await world.monitors.stop('web');
  await settle();
  expect(world.clock.pendingDelaysMs).toEqual([]);
});

test('a monitor that is hurried looks at once, and goes on as before', async () => {
  const world = new World();
  world.absent = objects[0];
  const monitor = ResourceMonitor.start('web', objects, () => false, world.options);
  monitor.lookNow();
  await settle();
  expect(world.findings).toEqual([['web', { type: 'absent', resource: '/ConfigMap/a' }]]);
  expect(world.clock.pendingDelaysMs).toEqual([PERIOD_MS]);
  await monitor.stop();
});
