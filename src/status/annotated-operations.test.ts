import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { AnnotatedOperations } from './annotated-operations.ts';
import { ModuleObjectStore } from './module-object-store.ts';

/** A cluster with one Module, and who looks after its annotation. */
function lab() {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const store = new ModuleObjectStore();
  const stop = new AbortController();
  const said: string[] = [];
  const requests: KubeRequest[] = [];
  const refusals: number[] = [];
  let version = 0;
  const put = (word?: string, operator = 'ns/cm'): void => {
    version += 1;
    const annotations = {
      'addon-operator.io/operator': operator,
      ...(word !== undefined && { 'addon-operator.io/operation': word }),
    };
    store.put({ metadata: { name: 'web', uid: 'u', resourceVersion: String(version), annotations } });
  };
  const operations = new AnnotatedOperations(
    {
      objects: store,
      kube: {
        request: async (request) => {
          requests.push(request);
          const status = refusals.shift();
          if (status !== undefined) throw new KubeApiError('no', { status, reason: '' });
          put();
          return {};
        },
        stream: () => Promise.reject(new Error('nobody watches here')),
      },
      clock,
      random: () => 0.5,
      log: log.logger,
      operator: 'ns/cm',
      onUnknown: (module, message) => said.push(`${module}: ${message}`),
    },
    stop.signal,
  );
  operations.watch((module, operation) => said.push(`${module} ${operation}`));
  return { clock, log, stop, said, requests, refusals, put, operations };
}

test('an annotation is reported once, and taken off when it is handled', async () => {
  const { put, said, operations, requests } = lab();
  put('force-reconcile');
  put('force-reconcile');
  expect(said).toEqual(['web force-reconcile']);
  expect(operations.of('web')).toBe('force-reconcile');
  operations.taken('web');
  expect(operations.of('web')).toBeUndefined();
  await settle();
  expect(requests.map(({ body }) => body)).toEqual([
    [
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/annotations/addon-operator.io~1operation', value: 'force-reconcile' },
      { op: 'remove', path: '/metadata/annotations/addon-operator.io~1operation' },
    ],
  ]);
  put('force-reconcile');
  expect(said).toHaveLength(2);
});

test('an annotation that cannot be taken off is not handled again, and taken off later', async () => {
  const { put, said, operations, requests, refusals, clock, log } = lab();
  put('reconcile');
  refusals.push(500, 403);
  operations.taken('web');
  await settle();
  put('reconcile');
  expect(operations.of('web')).toBeUndefined();
  await clock.advance(20_000);
  expect(requests).toHaveLength(3);
  expect(said).toEqual(['web reconcile']);
  expect(log.records.filter(({ level }) => level === 'warn')).toHaveLength(2);
});

test('an annotation that says something else by now is left, and counts', async () => {
  const { put, said, operations, refusals, requests, clock } = lab();
  put('reconcile');
  refusals.push(422);
  operations.taken('web');
  put('abort');
  await clock.advance(60_000);
  expect(requests).toHaveLength(1);
  expect(operations.of('web')).toBe('abort');
  expect(said).toEqual(['web reconcile', 'web abort']);
});

test('a word that is no operation stays, and an Event names the operations', () => {
  const { put, said, operations } = lab();
  put('dance');
  expect(operations.of('web')).toBeUndefined();
  expect(said).toEqual([
    'web: The annotation addon-operator.io/operation has the unknown operation "dance"; expected one of reconcile, force-reconcile, abort',
  ]);
});

test('objects of other operators do not count, until they are ours', () => {
  const { put, said, operations } = lab();
  put('abort', 'other/cm');
  expect(operations.of('web')).toBeUndefined();
  put('abort');
  expect(said).toEqual(['web abort']);
});

test('when the daemon ends nothing is tried again', async () => {
  const { put, operations, refusals, stop, clock } = lab();
  put('reconcile');
  refusals.push(500);
  operations.taken('web');
  await settle();
  stop.abort();
  await settle();
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('an annotation stays while its operation is put off, so that a restart finds it', async () => {
  const { put, said, operations, requests } = lab();
  put('force-reconcile');
  operations.claim('web');
  expect(operations.of('web')).toBeUndefined();
  put('force-reconcile');
  await settle();
  expect([said, requests]).toEqual([['web force-reconcile'], []]);
  operations.taken('web');
  await settle();
  expect(requests).toHaveLength(1);
});

test('a newer annotation is not removed with the claimed one before it', async () => {
  const { put, operations, requests } = lab();
  put('reconcile');
  operations.claim('web');
  put('force-reconcile');
  operations.taken('web');
  await settle();
  expect(requests).toEqual([]);
  expect(operations.of('web')).toBe('force-reconcile');
});
