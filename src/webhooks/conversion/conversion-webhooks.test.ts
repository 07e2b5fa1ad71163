import { silentLogger } from '@addon-operator/base/log';
import { CertificateSlot } from '@addon-operator/http-server/webhook-certificates';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { type ConversionHook, ConversionWebhooks } from './conversion-webhooks.ts';

const never = new AbortController().signal;
const CRD = 'boxes.acme.io';

/** A hook that converts `boxes.acme.io` by the given rules, and notes in `spec.by` that it did. */
function hook(title: string, rules: readonly string[], crdName = CRD): ConversionHook {
  const conversions = rules.map((text) => {
    const [fromVersion = '', toVersion = ''] = text.split('→');
    return { fromVersion, toVersion };
  });
  return {
    title,
    bindings: [
      { type: 'kubernetesCustomResourceConversion', name: 'conv', crdName, conversions, snapshotsFrom: [] },
    ],
    convert: async (_binding, rule, { request }) => ({
      type: 'converted',
      objects: request.objects.map((object) => ({
        ...(object as object),
        apiVersion: `acme.io/${rule.toVersion}`,
        spec: { by: title },
      })),
    }),
  };
}

function lab() {
  const stop = new AbortController();
  const calls: string[] = [];
  const clock = new FakeClock();
  const webhooks = new ConversionWebhooks({
    open: async () => {
      calls.push('open');
      return new CertificateSlot({ cert: '', key: '', ca: '', expiresMs: 0 });
    },
    keep: async (crdName, _certificates, onTried, signal) => {
      calls.push(`keep ${crdName}`);
      onTried();
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      calls.push(`leave ${crdName}`);
    },
    runs: new PQueue({ concurrency: 1 }),
    clock,
    log: silentLogger,
    stop: stop.signal,
  });
  const post = async (body: unknown, path = `/${CRD}`) => {
    const reply = await webhooks.handle(
      { path, body: typeof body === 'string' ? body : JSON.stringify(body) },
      never,
    );
    return { ...reply, body: reply.type === 'json' ? (JSON.parse(reply.body) as unknown) : reply.body };
  };
  return { calls, clock, webhooks, post, stop };
}

const review = (fields: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: {
    uid: '9a',
    desiredAPIVersion: 'acme.io/v2',
    objects: [{ apiVersion: 'acme.io/v1', kind: 'Box', metadata: { name: 'b' } }],
  },
  ...fields,
});

const converted = (by: string) => ({
  apiVersion: 'acme.io/v2',
  kind: 'Box',
  metadata: { name: 'b' },
  spec: { by },
});

test('a request goes to the hook of its definition', async () => {
  const { webhooks, post } = lab();
  await webhooks.add([hook('other', ['v1→v2'], 'crates.acme.io'), hook('ours', ['v1→v2'])], never);
  expect(await post(review())).toEqual({
    status: 200,
    type: 'json',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: { uid: '9a', result: { status: 'Success' }, convertedObjects: [converted('ours')] },
    },
  });
});

test('the response has the version of the review', async () => {
  const { webhooks, post } = lab();
  await webhooks.add([hook('ours', ['v1→v2'])], never);
  expect(await post(review({ apiVersion: 'apiextensions.k8s.io/v1beta1' }))).toMatchObject({
    body: { apiVersion: 'apiextensions.k8s.io/v1beta1', response: { uid: '9a' } },
  });
});

test('of equal steps of several hooks the last counts', async () => {
  const { webhooks, post } = lab();
  await webhooks.add([hook('first', ['v1→v2'])], never);
  await webhooks.add([hook('last', ['v1→v2'])], never);
  expect(await post(review())).toMatchObject({
    body: { response: { convertedObjects: [converted('last')] } },
  });
});

test('large integers are passed on as they were written', async () => {
  const { webhooks } = lab();
  await webhooks.add(
    [
      {
        ...hook('ours', ['v1→v2']),
        convert: async (_binding, _rule, { request }) => ({
          type: 'failed',
          message: JSON.stringify(request),
        }),
      },
    ],
    never,
  );
  const body = JSON.stringify(review()).replace('"name":"b"', '"name":"b","n":9007199254740993');
  const reply = await webhooks.handle({ path: `/${CRD}`, body }, never);
  expect(reply.body).toContain('9007199254740993');
});

test('a definition without hooks fails with its name', async () => {
  expect(await lab().post(review())).toMatchObject({
    status: 200,
    body: {
      response: {
        uid: '9a',
        result: {
          status: 'Failure',
          message: expect.stringContaining('Conversion boxes.acme.io to acme.io/v2 was not successful'),
        },
      },
    },
  });
});

test.each([
  ['{', 'Invalid JSON payload\n'],
  ['[]', 'Invalid JSON payload\n'],
  ['{}', 'Missing parameters: request\n'],
  ['{"request":{}}', 'Missing parameters: request\n'],
  ['{"request":{"uid":"a","desiredAPIVersion":"v1","objects":{}}}', 'Missing parameters: request\n'],
])('%s is a bad request', async (body, text) => {
  expect(await lab().post(body)).toEqual({ status: 400, type: 'text', body: text });
});

test('the server starts before the definition refers to it; each is kept once', async () => {
  const { calls, webhooks } = lab();
  await webhooks.add([{ ...hook('none', []), bindings: [] }], never);
  expect(calls).toEqual([]);
  const ours = hook('ours', ['v1→v2']);
  await webhooks.add([ours], never);
  await webhooks.add([ours, hook('more', ['v2→v1'])], never);
  expect(calls).toEqual(['open', `keep ${CRD}`]);
});

test('a removed hook converts no more, and its definition is left as it is', async () => {
  const { calls, webhooks, post } = lab();
  const [first, last] = [hook('first', ['v1→v2']), hook('last', ['v1→v2'])];
  await webhooks.add([first, last], never);
  webhooks.remove([last]);
  expect(await post(review())).toMatchObject({
    body: { response: { convertedObjects: [converted('first')] } },
  });
  webhooks.remove([first]);
  await Promise.resolve();
  expect(calls).toEqual(['open', `keep ${CRD}`, `leave ${CRD}`]);
  expect(await post(review())).toMatchObject({ body: { response: { result: { status: 'Failure' } } } });
});

test('a conversion that waits for its turn, or a hook, until its deadline fails with a message', async () => {
  const { clock, webhooks, post } = lab();
  const signals: AbortSignal[] = [];
  const convert: ConversionHook['convert'] = (_binding, _rule, _review, _caller, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  await webhooks.add([{ ...hook('stuck', ['v1→v2']), convert }], never);
  const responses = [post(review()), post(review())];
  await clock.advance(29_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await clock.advance(500);
  for (const reply of responses)
    expect(await reply).toMatchObject({
      status: 200,
      body: {
        response: {
          uid: '9a',
          result: { status: 'Failure', message: expect.stringContaining('was not done within 29.5 s') },
        },
      },
    });
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});
