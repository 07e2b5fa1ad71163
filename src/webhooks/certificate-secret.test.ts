import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { ObjectApi, refused } from '../../test/support/object-api.ts';
import { loadFromSecret } from './certificate-secret.ts';

const PATH = '/api/v1/namespaces/ns/secrets/certs';
const never = new AbortController().signal;

function startLab() {
  const kube = new ObjectApi();
  const clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
  const load = () =>
    loadFromSecret({ kube, namespace: 'ns', name: 'certs', hosts: ['svc.ns.svc'], clock }, never);
  return { kube, clock, load };
}

test('the first start makes a Secret, later ones take what is in it', async () => {
  const { kube, load } = startLab();
  const made = await load();
  expect(kube.objects.get(PATH)).toMatchObject({ kind: 'Secret', metadata: { namespace: 'ns' } });
  expect(await load()).toEqual(made);
  expect(kube.calls.slice(-1)).toEqual([`GET ${PATH}`]);
});

test('of two replicas that make one at the same time both use the same', async () => {
  const { load } = startLab();
  const [one, two] = await Promise.all([load(), load()]);
  expect(one).toEqual(two);
});

test('a due certificate is replaced in the Secret, and what others keep there stays', async () => {
  const { kube, clock, load } = startLab();
  const made = await load();
  const secret = kube.objects.get(PATH) ?? {};
  kube.objects.set(PATH, { ...secret, data: { ...(secret['data'] as object), note: 'bm90ZQ==' } });
  await clock.advance(300 * 24 * 60 * 60 * 1_000);
  const next = await load();
  expect(next.cert).not.toBe(made.cert);
  expect(next.ca).toBe(made.ca);
  expect(next.expiresMs).toBeGreaterThan(made.expiresMs);
  expect(kube.objects.get(PATH)?.['data']).toHaveProperty('note');
});

test('a refusal is reported', async () => {
  const { kube, load } = startLab();
  kube.obstacles.push(() => {
    throw refused(403, 'Forbidden');
  });
  await expect(load()).rejects.toMatchObject({ status: 403 });
});
