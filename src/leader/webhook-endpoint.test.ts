import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

const LABEL = 'addon-operator.io/webhooks';

/** An endpoint whose requests get these errors in turn, and succeed when there are none left. */
function endpointOf(...errors: readonly Error[]) {
  const left = [...errors];
  const requests: KubeRequest[] = [];
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const endpoint = new WebhookEndpoint({
    pod: { namespace: 'ours', name: 'op-1' },
    kube: {
      request: (request) => {
        requests.push(request);
        const error = left.shift();
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      },
    },
    clock,
    random: () => 0,
    log: log.logger,
  });
  const stop = new AbortController();
  const values = () => requests.map(({ body }) => (body as { metadata: { labels: object } }).metadata.labels);
  return { endpoint, requests, clock, log, stop, values };
}

const settled = async (promise: Promise<void>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  await new Promise(setImmediate);
  return isSettled;
};

test('the pod has the label until the operator stops, which waits 5 s for clients', async () => {
  const { endpoint, requests, clock, stop, values } = endpointOf();
  endpoint.publish(stop.signal);
  await new Promise(setImmediate);
  expect(requests).toMatchObject([{ method: 'PATCH', path: '/api/v1/namespaces/ours/pods/op-1' }]);
  expect(await settled(endpoint.drained())).toBe(true);
  stop.abort();
  const drained = endpoint.drained();
  await clock.untilAsleep();
  expect(values()).toEqual([{ [LABEL]: 'serving' }, { [LABEL]: null }]);
  await clock.advance(4_999);
  expect(await settled(drained)).toBe(false);
  await clock.advance(1);
  await drained;
});

test('the label is set again every 30 s, because the leader removes it from a pod that did not respond', async () => {
  const { endpoint, clock, stop, values } = endpointOf();
  endpoint.publish(stop.signal);
  expect(await endpoint.labelled()).toBe(true);
  await clock.untilAsleep();
  await clock.advance(30_000);
  expect(values()).toEqual([{ [LABEL]: 'serving' }, { [LABEL]: 'serving' }]);
  stop.abort();
});

test('without permission a record says what to allow, and a stop does not wait', async () => {
  const denied = new KubeApiError('pods is forbidden', { status: 403, reason: 'Forbidden' });
  const { endpoint, log, stop, values } = endpointOf(denied);
  endpoint.publish(stop.signal);
  await new Promise(setImmediate);
  expect(log.records).toMatchObject([{ level: 'info', label: LABEL }]);
  expect(await endpoint.labelled()).toBe(false);
  stop.abort();
  await endpoint.drained();
  expect(values()).toHaveLength(1);
});

test('an API server that is unreachable is called again', async () => {
  const away = new OperatorError('KUBE_UNREACHABLE', 'connection refused');
  const { endpoint, clock, stop, values } = endpointOf(away);
  endpoint.publish(stop.signal);
  await clock.untilAsleep();
  await clock.advance(800);
  expect(values()).toEqual([{ [LABEL]: 'serving' }, { [LABEL]: 'serving' }]);
  stop.abort();
  await clock.untilAsleep();
  await clock.advance(5_000);
  await endpoint.drained();
});

test('a replica that has lost the lease does not wait for clients', async () => {
  const { endpoint, clock, stop } = endpointOf();
  endpoint.publish(stop.signal);
  await new Promise(setImmediate);
  stop.abort();
  const drained = endpoint.drained();
  await clock.untilAsleep();
  endpoint.abandon();
  await drained;
  expect(clock.pendingDelaysMs).toEqual([]);
});
