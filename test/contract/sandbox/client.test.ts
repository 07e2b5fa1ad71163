import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listAt, stringAt } from '../../../packages/kube-sandbox/src/json-access.ts';
import { clientFor } from '../../support/cluster-client.ts';
import { CONFIG_MAPS } from '../../support/fake-kube-api.ts';
import { RecordingSink } from '../../support/recording-sink.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const never = new AbortController().signal;
const PATH = '/api/v1/namespaces/default/configmaps';

let directory = '';
let sandbox: Sandbox;
let client: HttpKubeClient;
let stop = new AbortController();

beforeEach(async () => {
  stop = new AbortController();
  directory = await mkdtemp(join(tmpdir(), 'sandbox-client-'));
  sandbox = await start(0);
  client = clientFor({
    server: sandbox.url,
    currentNamespace: 'default',
    source: 'test',
    tls: { isVerified: true },
    identity: { type: 'anonymous' },
  });
});

afterEach(async () => {
  stop.abort();
  client.close();
  await sandbox.stop();
  await rm(directory, { recursive: true, force: true });
});

function start(port: number): Promise<Sandbox> {
  return startSandbox({ directory, port, clock: systemClock, log: silentLogger }, never);
}

async function create(name: string): Promise<void> {
  const body = { metadata: { name, labels: { ours: 'yes' } } };
  await client.request({ method: 'POST', path: PATH, body }, never);
}

test('the client finds kinds by every name they have', async () => {
  const discovery = new Discovery({ kube: client, clock: systemClock, log: silentLogger });
  for (const name of ['Deployment', 'deployments', 'deployment', 'deploy'])
    expect(await discovery.find(undefined, name, never)).toMatchObject({
      group: 'apps',
      plural: 'deployments',
    });
  expect(await discovery.find('v1', 'ConfigMap', never)).toMatchObject({ isNamespaced: true });
  await expect(discovery.find(undefined, 'Nothing', never)).rejects.toThrow('is not supported by cluster');
});

test('the client reads pages, and rejections with their reason', async () => {
  await Promise.all(Array.from({ length: 1200 }, (_, index) => create(`c-${index}`)));
  let count = 0;
  let next: string | undefined;
  do {
    const page = await client.request(
      { method: 'GET', path: PATH, query: { limit: '500', labelSelector: 'ours=yes', continue: next } },
      never,
    );
    count += listAt(page, 'items').length;
    next = stringAt(page, 'metadata', 'continue') || undefined;
  } while (next !== undefined);
  expect(count).toBe(1200);
  const refused = client.request({ method: 'GET', path: `${PATH}/none` }, never);
  await expect(refused).rejects.toThrow(KubeApiError);
  await expect(refused).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
});

test('the reflector follows a sandbox across its restart', async () => {
  for (const name of ['a', 'b', 'c']) await create(name);
  const sink = new RecordingSink();
  const ended: string[] = [];
  const reflectors = createSharedReflectors({
    kube: client,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    rediscover: async (known) => known,
    metrics: { watchEnded: (_kind, reason) => ended.push(reason) },
  });
  await reflectors.subscribe({ resource: CONFIG_MAPS, labelSelector: 'ours=yes' }, sink, stop.signal);
  const names = (): readonly string[] => [...sink.state.keys()].toSorted();
  expect(names()).toEqual(['default/a', 'default/b', 'default/c']);

  await client.request({ method: 'DELETE', path: `${PATH}/a` }, never);
  await vi.waitFor(() => expect(names()).toEqual(['default/b', 'default/c']), PATIENCE);
  await sandbox.stop();
  sandbox = await start(Number(new URL(sandbox.url).port));
  // A connection of before is dead, and the client does not send a POST twice.
  await vi.waitFor(() => create('d'), PATIENCE);
  await vi.waitFor(() => expect(names()).toEqual(['default/b', 'default/c', 'default/d']), PATIENCE);

  expect(sink.problems).toEqual([]);
});
