import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ObjectApi, refused } from '../../../test/support/object-api.ts';
import { WebhookConfigurations } from './webhook-configurations.ts';
import type { WebhookEntry } from './webhook-entries.ts';

const VALIDATING = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const MUTATING = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const never = new AbortController().signal;
const NONE = { kubernetesValidating: [], kubernetesMutating: [] };

const entry = (name: string, service = 'svc'): WebhookEntry => ({
  name,
  clientConfig: { service: { namespace: 'ns', name: service, path: '/x' } },
});

function startLab(random = 0.5) {
  const kube = new ObjectApi();
  const clock = new FakeClock();
  const configurations = new WebhookConfigurations({
    kube,
    name: 'x-hooks',
    target: { type: 'service', namespace: 'ns', name: 'svc' },
    clock,
    random: () => random,
    log: silentLogger,
  });
  const webhooksAt = (root: string) => kube.objects.get(`${root}/x-hooks`)?.['webhooks'];
  return { kube, clock, configurations, webhooksAt };
}

test('missing objects are made, each for its binding type, and only where there is something in them', async () => {
  const { kube, configurations, webhooksAt } = startLab();
  await configurations.sync({ ...NONE, kubernetesValidating: [entry('a')] }, never);
  expect(webhooksAt(VALIDATING)).toEqual([entry('a')]);
  expect(kube.objects.get(`${VALIDATING}/x-hooks`)).toMatchObject({ kind: 'ValidatingWebhookConfiguration' });
  expect(webhooksAt(MUTATING)).toBeUndefined();
});

test('of an object that is there only our entries are replaced', async () => {
  const { kube, configurations, webhooksAt } = startLab();
  kube.objects.set(`${MUTATING}/x-hooks`, {
    metadata: { name: 'x-hooks', labels: { a: 'b' } },
    webhooks: [entry('theirs', 'other'), entry('old'), entry('taken over', 'other')],
  });
  await configurations.sync({ ...NONE, kubernetesMutating: [entry('new'), entry('taken over')] }, never);
  expect(webhooksAt(MUTATING)).toEqual([entry('theirs', 'other'), entry('new'), entry('taken over')]);
  expect(kube.objects.get(`${MUTATING}/x-hooks`)).toMatchObject({ metadata: { labels: { a: 'b' } } });
  await configurations.sync(NONE, never);
  expect(webhooksAt(MUTATING)).toEqual([entry('theirs', 'other')]);
});

test('an object without entries is deleted, one of others alone is not even written', async () => {
  const { kube, configurations } = startLab();
  await configurations.sync({ ...NONE, kubernetesValidating: [entry('a')] }, never);
  await configurations.sync(NONE, never);
  expect([...kube.objects.keys()]).toEqual([]);
  kube.objects.set(`${VALIDATING}/x-hooks`, { metadata: {}, webhooks: [entry('theirs', 'other')] });
  await configurations.sync(NONE, never);
  expect(kube.calls.slice(-2)).toEqual([`GET ${VALIDATING}/x-hooks`, `GET ${MUTATING}/x-hooks`]);
});

test.each([
  [0, [1_800, 3_600, 7_200, 13_500, 13_500]],
  [0.5, [2_000, 4_000, 8_000, 15_000, 15_000]],
  [0.75, [2_100, 4_200, 8_400, 15_750, 15_750]],
])(
  'what fails is tried again after 2, 4, 8, 15 and 15 s with the jitter of %s, then reported',
  async (random, expected) => {
    const { kube, clock, configurations } = startLab(random);
    const fail = (): never => {
      throw refused(500, 'InternalError');
    };
    kube.obstacles.push(...Array.from({ length: 6 }, () => fail));
    const outcome = configurations
      .sync({ ...NONE, kubernetesValidating: [entry('a')] }, never)
      .catch((error: unknown) => error);
    const delays: number[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await clock.untilAsleep();
      const delayMs = clock.pendingDelaysMs[0] ?? 0;
      delays.push(delayMs);
      await clock.advance(delayMs);
    }
    expect(await outcome).toMatchObject({ status: 500 });
    expect(delays).toEqual(expected);
  },
);

test('what the API server finds invalid is not sent again', async () => {
  const { kube, configurations } = startLab();
  kube.obstacles.push(
    () => undefined,
    () => {
      throw refused(422, 'Invalid');
    },
  );
  await expect(
    configurations.sync({ ...NONE, kubernetesValidating: [entry('a')] }, never),
  ).rejects.toMatchObject({ status: 422 });
});

test('without webhooks no permission to list them is needed', async () => {
  const { kube, configurations } = startLab();
  const forbid = (): never => {
    throw refused(403, 'Forbidden');
  };
  kube.obstacles.push(forbid, forbid);
  await configurations.sync(NONE, never);
  expect(kube.calls).toHaveLength(2);
});

test('hooks whose registration may not be read are not registered', async () => {
  const { kube, configurations, clock, webhooksAt } = startLab();
  const request = kube.request.bind(kube);
  kube.request = async (sent) => {
    if (sent.method === 'GET') throw refused(403, 'Forbidden');
    return await request(sent);
  };
  const syncing = configurations.sync({ ...NONE, kubernetesValidating: [entry('a')] }, never);
  syncing.catch(() => undefined);
  for (let attempt = 0; attempt < 5; attempt += 1) await clock.advance(15_000);
  await expect(syncing).rejects.toMatchObject({ status: 403 });
  expect(webhooksAt(VALIDATING)).toBeUndefined();
});
