import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { keepSerials, SeenSerials, serialStore } from './seen-serials.ts';

const never = new AbortController().signal;

/** Answers with the statuses in turn, and with 200 after them. */
function lab(statuses: readonly number[], isReadOnly = false) {
  const left = [...statuses];
  const requests: KubeRequest[] = [];
  const kube: KubeClient = {
    request: async (request) => {
      requests.push(request);
      const status = left.shift() ?? 200;
      const reason = status === 404 ? 'NotFound' : 'Other';
      if (status !== 200) throw new KubeApiError(`answer ${status}`, { status, reason });
      return { metadata: { resourceVersion: '1' }, data: { web: '5 a' } };
    },
    stream: () => Promise.reject(new Error('nobody watches')),
  };
  const clock = new FakeClock();
  const ref = { namespace: 'ns', name: 'operator-signatures' };
  const host = { clock, log: new CapturedLog(clock).logger, random: () => 0 };
  return {
    clock,
    host,
    requests,
    serials: new SeenSerials(serialStore({ kube, ref, host, isReadOnly, stop: never })),
  };
}

test('serialStore() keeps numbers in a ConfigMap, which it makes when it is missing', async () => {
  const { requests, serials } = lab([404, 404]);
  await serials.check('web', { serial: 7, digest: 'b' }, never);
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  expect(requests[2]?.body).toMatchObject({
    metadata: { namespace: 'ns', name: 'operator-signatures' },
    data: { web: '7 b' },
  });
});

test('serialStore() refuses modules while it may not keep numbers', async () => {
  const { serials } = lab([404, 404, 403, 404, 403]);
  for (const _try of ['first', 'second'])
    await expect(serials.check('web', { serial: 7, digest: 'b' }, never)).rejects.toMatchObject({
      code: 'MODULE_UNAUTHORIZED',
      message:
        'cannot store the serial numbers of signatures: answer 403; allow get, create and update of ConfigMap operator-signatures',
    });
  await serials.check('web', { serial: 7, digest: 'b' }, never);
});

test('serialStore() does not wait for what will never be accepted', async () => {
  const { serials } = lab([200, 200, 422]);
  await expect(serials.check('a:b', { serial: 7, digest: 'b' }, never)).rejects.toMatchObject({
    code: 'MODULE_UNAUTHORIZED',
    message: 'cannot store the serial numbers of signatures: answer 422',
  });
});

test('serialStore() stops waiting when its task is aborted', async () => {
  const { serials } = lab([500]);
  const abort = new AbortController();
  const check = serials.check('web', { serial: 7, digest: 'b' }, abort.signal);
  await settle();
  abort.abort(new Error('enough'));
  await expect(check).rejects.toThrow('enough');
});

test('serialStore() waits for an API server that is away', async () => {
  const { clock, requests, serials } = lab([500]);
  const check = serials.check('web', { serial: 5, digest: 'a' }, never);
  await settle();
  await clock.advance(60_000);
  await check;
  expect(requests).toHaveLength(2);
});

test('serialStore() writes nothing for those who only look', async () => {
  const { requests, serials } = lab([], true);
  await serials.check('web', { serial: 7, digest: 'b' }, never);
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
});

test('keepSerials() writes the ConfigMap again when it is gone, also after a refusal', async () => {
  const { clock, host, requests, serials } = lab([200, 404, 404, 403, 404, 404]);
  await serials.check('web', { serial: 5, digest: 'a' }, never);
  const stop = new AbortController();
  const keeping = keepSerials(serials, 'operator-signatures', host, stop.signal);
  await settle();
  for (const _try of ['refused', 'written', 'still there']) await clock.advance(5_000);
  stop.abort(new Error('enough'));
  await keeping;
  const posts = requests.filter(({ method }) => method === 'POST');
  expect(posts.map(({ body }) => body)).toMatchObject([{ data: { web: '5 a' } }, { data: { web: '5 a' } }]);
  expect(requests.at(-1)).toMatchObject({ method: 'GET' });
});
