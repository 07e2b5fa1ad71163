import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { EventRecorder } from './event-recorder.ts';
import { readModuleObject } from './module-object.ts';

const never = new AbortController().signal;
const WEB = readModuleObject({ metadata: { name: 'web', uid: 'u', resourceVersion: '1' } });
const FAILED = { type: 'Warning', reason: 'Failed', message: 'no disk' } as const;

class Lab {
  readonly clock = new FakeClock(1_700_000_000_000);
  readonly log = new CapturedLog(this.clock);
  readonly requests: KubeRequest[] = [];
  status = 200;
  /** So many requests get no response, whether they are served or not. */
  broken = 0;
  readonly #kube: KubeClient = {
    request: async (request) => {
      this.requests.push(request);
      if ((this.broken -= 1) >= 0) throw new OperatorError('KUBE_UNREACHABLE', 'reset');
      if (this.status !== 200) throw new KubeApiError('no', { status: this.status, reason: 'No' });
      return {};
    },
    stream: () => Promise.reject(new Error('nobody watches Events')),
  };
  readonly recorder = new EventRecorder({
    kube: this.#kube,
    clock: this.clock,
    log: this.log.logger,
    instance: 'ns/cm',
  });
}

test('the same thing again is counted, another thing is an Event of its own', async () => {
  const { recorder, requests, clock } = new Lab();
  await recorder.record(WEB, FAILED, never);
  await clock.advance(1_000);
  await recorder.record(WEB, FAILED, never);
  await recorder.record(WEB, { ...FAILED, message: 'no net' }, never);
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  expect(requests[0]).toMatchObject({
    path: '/api/v1/namespaces/default/events',
    body: { involvedObject: { kind: 'Module', name: 'web', uid: 'u' }, reason: 'Failed', count: 1 },
  });
  expect(requests[1]?.body).toEqual({ count: 2, lastTimestamp: '2023-11-14T22:13:21Z' });
});

test('after ten minutes a repetition is a new Event', async () => {
  const { recorder, requests, clock } = new Lab();
  await recorder.record(WEB, FAILED, never);
  await clock.advance(11 * 60_000);
  await recorder.record(WEB, FAILED, never);
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
});

test('a module that fails without end writes 25 times at once, then once a minute, and the count is right', async () => {
  const { recorder, requests, clock } = new Lab();
  for (let attempt = 1; attempt <= 100; attempt += 1) await recorder.record(WEB, FAILED, never);
  expect(requests).toHaveLength(25);
  await clock.advance(60_000);
  await recorder.record(WEB, FAILED, never);
  await recorder.record(WEB, FAILED, never);
  expect(requests).toHaveLength(26);
  expect(requests.at(-1)?.body).toMatchObject({ count: 101 });
});

test('without the permission there is one warning, and one try in five minutes', async () => {
  const lab = new Lab();
  lab.status = 403;
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await lab.recorder.record(WEB, FAILED, never);
    await lab.clock.advance(60_000);
  }
  expect(lab.requests).toHaveLength(2);
  expect(lab.log.records.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('an Event whose connection breaks is written again under the same name, and may be there already', async () => {
  const lab = new Lab();
  lab.broken = 2;
  const recorded = lab.recorder.record(WEB, FAILED, never);
  await lab.clock.untilAsleep();
  await lab.clock.advance(1_000);
  lab.status = 409;
  await lab.clock.untilAsleep();
  await lab.clock.advance(1_000);
  await recorded;
  const [first, ...others] = lab.requests;
  expect(others).toEqual([first, first]);
  lab.status = 200;
  await lab.recorder.record(WEB, { ...FAILED, message: 'no net' }, never);
  expect(lab.requests).toHaveLength(4);
  expect(lab.log.records).toEqual([]);
});

test('after three broken connections an Event is dropped, with one warning', async () => {
  const lab = new Lab();
  lab.broken = 3;
  const recorded = lab.recorder.record(WEB, FAILED, never);
  for (let pause = 0; pause < 2; pause += 1) {
    await lab.clock.untilAsleep();
    await lab.clock.advance(1_000);
  }
  await recorded;
  expect(lab.requests).toHaveLength(3);
  expect(lab.log.records).toMatchObject([{ level: 'warn' }]);
});
