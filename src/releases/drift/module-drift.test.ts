import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import type { Follower } from '@addon-operator/helm/applied-watch';
import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { ObjectMeta } from '@addon-operator/kube-client/kube-object';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS } from '../../../test/support/fake-kube-api.ts';
import { RecordingTracer } from '../../../test/support/recording-tracer.ts';
import type { DriftEvent } from './drift-policy.ts';
import { type DesiredRevision, DriftWatch } from './module-drift.ts';

const MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'a',
  namespace: '',
  fields: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } },
};
const OF_HELM = [{ manager: 'helm', fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } } }];
const OF_OTHERS = [{ manager: 'they', fieldsV1: { 'f:data': { 'f:x': {} } } }];

/** One ConfigMap on a server that applies what it is sent, and what watches it. */
class Lab {
  readonly clock = new FakeClock(1_000_000);
  readonly events: DriftEvent['type'][] = [];
  readonly requests: string[] = [];
  readonly warnings: string[] = [];
  readonly errors: unknown[] = [];
  readonly tracer = new RecordingTracer();
  live: Record<string, unknown> | undefined = { x: '1' };
  version = 1;
  release: DesiredRevision | undefined = { revision: 1, objects: [MAP], problems: [] };
  newest: number | 'not-deployed' | 'gone' = 1;
  isPaused = false;
  isHeld = false;
  absent = 0;
  refusal: ((request: KubeRequest) => Error | undefined) | undefined;
  #follower: Follower | undefined;
  #drift: DriftWatch | undefined;

  async start(mode: 'warn' | 'heal'): Promise<DriftWatch> {
    const drift = DriftWatch.start(
      {
        clock: this.clock,
        random: () => 0.5,
        log: {
          ...silentLogger,
          warn: ({ error }, message) => {
            this.warnings.push(message);
            if (error !== undefined) this.errors.push(error);
          },
        },
        watch: { follow: (_resource, _namespace, follower) => (this.#follower = follower) },
        lookup: {
          kube: {
            request: (request) => this.#response(request),
            stream: () => Promise.reject(new Error('unused')),
          },
          find: () => Promise.resolve(CONFIG_MAPS),
          namespace: 'ops',
        },
        load: () => Promise.resolve(this.release),
        revision: () => Promise.resolve(this.newest),
        isHeld: () => this.isHeld,
        onEvent: ({ type }) => this.events.push(type),
        onComparison: (module) =>
          this.tracer.start({ name: `event drift ${module}`, traceId: 'd'.repeat(32) }),
        streaks: new Map(),
      },
      {
        module: 'web',
        mode,
        policy: { mode, ignore: [] },
        isPaused: () => this.isPaused,
        onAbsent: () => (this.absent += 1),
      },
    );
    this.#drift = drift;
    await settle();
    return drift;
  }

  /** The watch reports what others made of the object. */
  async change(live: Record<string, unknown> | undefined): Promise<void> {
    this.live = live;
    this.version += 1;
    const managedFields = OF_OTHERS;
    this.#tell(
      live === undefined ? undefined : { name: 'a', resourceVersion: String(this.version), managedFields },
    );
    await this.clock.advance(500);
  }

  failToWatch(error: Error): void {
    this.#follower?.onUnwatched(error);
  }

  async stop(): Promise<void> {
    await this.#drift?.stop();
  }

  #tell(metadata: ObjectMeta | undefined): void {
    this.#follower?.onChange('a', metadata);
  }

  async #response(request: KubeRequest): Promise<unknown> {
    await Promise.resolve();
    this.requests.push(`${request.method}${request.query?.['dryRun'] === 'All' ? ' dry' : ''}`);
    const refusal = this.refusal?.(request);
    if (refusal !== undefined) throw refusal;
    if (this.live === undefined) throw new KubeApiError('gone', { status: 404, reason: 'NotFound' });
    const data = request.method === 'GET' ? this.live : { ...this.live, ...MAP.fields.data };
    const response = { ...MAP.fields, metadata: { name: 'a', managedFields: OF_OTHERS }, data };
    if (request.method === 'PATCH' && request.query?.['dryRun'] === undefined) {
      this.live = data;
      this.#tell({ name: 'a', resourceVersion: String((this.version += 1)), managedFields: OF_HELM });
    }
    return response;
  }
}

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.stop());

const COMPARED = ['GET', 'PATCH dry'];
const refuse = (status: number, isRefused: (request: KubeRequest) => boolean) => (request: KubeRequest) =>
  isRefused(request) ? new KubeApiError('no', { status, reason: '' }) : undefined;
const isWrite = ({ method, query }: KubeRequest): boolean =>
  method === 'PATCH' && query?.['dryRun'] === undefined;

test('a changed object is compared half a second later, and changed back', async () => {
  const drift = await lab.start('heal');
  await lab.change({ x: '2' });
  expect(lab.requests).toEqual([...COMPARED, 'PATCH']);
  expect(lab.live).toEqual({ x: '1' });
  expect(lab.events).toEqual(['drifted', 'healed']);
  expect(drift.drifted).toEqual([]);
});

test('a comparison and a correction are spans of a trace of their own, without anything of the object but its name', async () => {
  await lab.start('heal');
  lab.refusal = refuse(500, isWrite);
  await lab.change({ x: 'secret' });
  const [event, compare, heal] = lab.tracer.spans;
  expect(lab.tracer.spans.map(({ name }) => name)).toEqual([
    'event drift web',
    'drift compare',
    'drift heal',
  ]);
  expect([compare?.parent, heal?.parent]).toEqual([event, compare]);
  expect(compare?.all).toMatchObject({ 'addon_operator.objects': 1, 'addon_operator.objects.drifted': 1 });
  expect(heal?.all).toEqual({ 'addon_operator.resource': '/ConfigMap/a', 'addon_operator.fields': 1 });
  expect(heal?.error).toContain('no');
  expect([compare?.endMs, heal?.endMs]).not.toContain(undefined);
  expect(JSON.stringify([compare?.all, compare?.error, heal?.all, heal?.error])).not.toContain('secret');
});

test('with mode warn the same change is reported once', async () => {
  const drift = await lab.start('warn');
  await lab.change({ x: '2' });
  await lab.change({ x: '2', y: '3' });
  expect(lab.requests).toEqual([...COMPARED, ...COMPARED]);
  expect(lab.events).toEqual(['drifted']);
  const remedy = { type: 'none' };
  expect(drift.drifted).toEqual([
    { resource: '/ConfigMap/a', fields: ['/data/x'], changedBy: ['they'], sinceMs: 1_000_500, remedy },
  ]);
  await lab.change({ x: '1' });
  expect(drift.drifted).toEqual([]);
});

test('objects are not compared while hooks or helm run; what differs afterwards counts', async () => {
  const drift = await lab.start('heal');
  lab.isPaused = true;
  await lab.change({ x: '2' });
  expect(lab.requests).toEqual([]);
  lab.isPaused = false;
  drift.recheck();
  await settle();
  expect(lab.events).toEqual(['drifted', 'healed']);
});

test('a release that another client has upgraded is left to the next run of its module', async () => {
  await lab.start('heal');
  lab.newest = 2;
  await lab.change({ x: '2' });
  expect(lab.requests).toEqual([]);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('drift of a held module is reported, and reverted when the hold is over', async () => {
  const drift = await lab.start('heal');
  lab.isHeld = true;
  await lab.change({ x: '2' });
  expect(drift.drifted).toMatchObject([{ remedy: { type: 'held' } }]);
  lab.isHeld = false;
  drift.recheck();
  await settle();
  expect(lab.events).toEqual(['drifted', 'healed']);
});

test('an object that others put right while it waits after a fight does not count as changed any more', async () => {
  const drift = await lab.start('heal');
  for (let time = 0; time < 4; time += 1) await lab.change({ x: '2' });
  expect(drift.drifted).toMatchObject([{ remedy: { type: 'delayed' } }]);
  await lab.change({ x: '3' });
  await lab.change({ x: '1' });
  await lab.clock.advance(10_000);
  expect(drift.drifted).toEqual([]);
  expect(lab.live).toEqual({ x: '1' });
});

test('an object that was changed again since it was compared is compared anew', async () => {
  await lab.start('heal');
  lab.refusal = refuse(409, isWrite);
  await lab.change({ x: '2' });
  lab.refusal = undefined;
  await lab.clock.advance(500);
  expect(lab.events).toEqual(['drifted', 'healed']);
  expect(lab.warnings).toEqual(['object differs from what helm applied']);
});

test('a change that the server refuses is sent again after growing delays', async () => {
  const drift = await lab.start('heal');
  lab.refusal = refuse(403, isWrite);
  await lab.change({ x: '2' });
  expect(drift.drifted).toMatchObject([{ remedy: { type: 'refused', untilMs: 1_030_500 } }]);
  await lab.clock.advance(30_000);
  await lab.clock.advance(30_000);
  expect(lab.clock.pendingDelaysMs).toEqual([60_000]);
  lab.refusal = undefined;
  await lab.clock.advance(60_000);
  expect(lab.events).toEqual(['drifted', 'healed']);
});

test('an object that cannot be compared is named, and looked at again after its next change only', async () => {
  const drift = await lab.start('heal');
  lab.refusal = refuse(422, ({ method }) => method === 'PATCH');
  await lab.change({ x: '2' });
  expect(lab.warnings).toEqual(['cannot compare an object with what helm applied']);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
  expect(drift.drifted).toEqual([]);
  expect(drift.uncompared).toEqual([{ resource: '/ConfigMap/a', error: 'no' }]);
  lab.refusal = undefined;
  await lab.change({ x: '1' });
  expect(drift.uncompared).toEqual([]);
});

test('an object that cannot be watched is named until it can', async () => {
  const drift = await lab.start('warn');
  lab.failToWatch(new Error('forbidden'));
  expect(drift.uncompared).toEqual([
    {
      resource: '/ConfigMap/a',
      error: 'its changes are not noticed until the watch succeeds: forbidden',
    },
  ]);
  await lab.change({ x: '1' });
  expect(drift.uncompared).toEqual([]);
});

test('what a server quotes of a Secret is not reported', async () => {
  const fields = { ...MAP.fields, kind: 'Secret', data: { x: 'c2VjcmV0LXdvcmQ=' } };
  lab.release = { revision: 1, objects: [{ ...MAP, kind: 'Secret', fields }], problems: [] };
  await lab.start('heal');
  lab.refusal = () =>
    new KubeApiError('data.x is invalid: c2VjcmV0LXdvcmQ=', { status: 422, reason: 'Invalid' });
  await lab.change({ x: '2' });
  expect(lab.errors).toEqual(['data.x is invalid: ***']);
});

test('an API server that is unreachable gets the next request after 30 s', async () => {
  await lab.start('heal');
  lab.refusal = () => new OperatorError('KUBE_UNREACHABLE', 'away');
  await lab.change({ x: '2' });
  lab.refusal = undefined;
  await lab.clock.advance(30_000);
  expect(lab.events).toEqual(['drifted', 'healed']);
});

test.each(['warn', 'heal'] as const)(
  'with mode %s a missing object is reported at once, three times',
  async (mode) => {
    await lab.start(mode);
    for (let time = 0; time < 5; time += 1) await lab.change(undefined);
    expect(lab.absent).toBe(3);
  },
);

test('a release that others uninstall is reported once it is gone, and one that they upgrade is not', async () => {
  await lab.start('warn');
  lab.newest = 'not-deployed';
  await lab.change(undefined);
  expect(lab.absent).toBe(0);
  lab.newest = 'gone';
  await lab.clock.advance(60_000);
  expect(lab.absent).toBe(1);
  lab.newest = 2;
  await lab.change(undefined);
  await lab.clock.advance(60_000);
  expect(lab.absent).toBe(1);
});

test('documents that cannot be read are named', async () => {
  lab.release = { revision: 1, objects: [], problems: ['line 1'] };
  await lab.start('heal');
  expect(lab.warnings).toEqual(['cannot check an object of the release for drift']);
});
