import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { stopDeployment } from './stop-deployment.ts';

const REF = { namespace: 'addons', name: 'op' };
const LIMIT_MS = 5_000;
const never = new AbortController().signal;

/** A cluster with a Deployment whose pods end after some lists of pods. */
function cluster(listsUntilEnd: number, isThere = true) {
  const requests: KubeRequest[] = [];
  let lists = 0;
  const request = async (each: KubeRequest): Promise<unknown> => {
    requests.push(each);
    if (each.method === 'PATCH') return {};
    if (each.path.endsWith('/deployments/op')) {
      if (!isThere) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
      return { spec: { selector: { matchLabels: { app: 'op', tier: 'x' } } } };
    }
    lists += 1;
    return { items: lists > listsUntilEnd ? [] : [{ metadata: { name: 'op-1' } }] };
  };
  return { requests, kube: { request } as Pick<KubeClient, 'request'> as KubeClient };
}

test('stopDeployment() scales to 0 and waits until no pod of the selector is left', async () => {
  const clock = new FakeClock();
  const { kube, requests } = cluster(2);
  const stopped = stopDeployment(kube, REF, clock, LIMIT_MS, never);
  for (let second = 0; second < 2; second += 1) {
    await clock.untilAsleep();
    await clock.advance(1_000);
  }
  expect(await stopped).toBe(true);
  expect(requests.find(({ method }) => method === 'PATCH')).toMatchObject({
    path: '/apis/apps/v1/namespaces/addons/deployments/op/scale',
    body: { spec: { replicas: 0 } },
  });
  const lists = requests.filter(({ path }) => path.endsWith('/pods'));
  expect(lists).toHaveLength(3);
  expect(lists[0]?.query).toEqual({ labelSelector: 'app=op,tier=x' });
});

test('stopDeployment() names the pods that are left after the limit, and what to do', async () => {
  const clock = new FakeClock();
  const stopped = stopDeployment(cluster(100).kube, REF, clock, LIMIT_MS, never);
  const failure = stopped.then(
    () => undefined,
    (error: unknown) => error,
  );
  for (let second = 0; second < 5; second += 1) {
    await clock.untilAsleep();
    await clock.advance(1_000);
  }
  expect(await failure).toMatchObject({
    code: 'UNINSTALL_INCOMPLETE',
    message: expect.stringMatching(/after 5 s pod op-1 still run.*kubectl -n addons delete pod/),
  });
});

test('stopDeployment() changes nothing where there is no such Deployment', async () => {
  const { kube, requests } = cluster(0, false);
  expect(await stopDeployment(kube, REF, new FakeClock(), LIMIT_MS, never)).toBe(false);
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
});
