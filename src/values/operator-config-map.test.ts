import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { expect, test } from 'vitest';
import { daemonHost } from '../../test/support/daemon-host.ts';
import { settle } from '../../test/support/fake-clock.ts';
import { ConfigMapStore } from './config-map-store.ts';
import { loadPatiently } from './operator-config-map.ts';

/** A ConfigMap store over a server that responds one request after another with these. */
function harness(responses: readonly (Error | object)[]) {
  const host = daemonHost();
  const left = [...responses];
  const kube: KubeClient = {
    request: async () => {
      const response = left.shift() ?? new Error('asked too often');
      if (response instanceof Error) throw response;
      return response;
    },
    stream: () => Promise.reject(new Error('no watch')),
  };
  const { clock, random, log } = host;
  const reflectors = createSharedReflectors({ kube, clock, random, log, rediscover: async (known) => known });
  const ref = { namespace: 'n', name: 'addon-operator' };
  const memory = { read: async () => false, write: async () => undefined };
  const store = new ConfigMapStore({ kube, reflectors, ref, clock, random, log, graceMs: 0, memory });
  return { host, store, left };
}

const unreachable = new OperatorError('KUBE_UNREACHABLE', 'connection refused');
const forbidden = new KubeApiError('forbidden', { status: 403, reason: 'Forbidden' });
const configMap = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'addon-operator', namespace: 'n', resourceVersion: '1' },
  data,
});

test('loadPatiently() waits longer and longer for an API server that is away', async () => {
  const { host, store } = harness([unreachable, forbidden, unreachable, configMap({ global: 'a: 1' })]);
  const loading = loadPatiently(store, host, new AbortController().signal);
  const delays: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await host.clock.untilAsleep();
    const [delayMs = 0] = host.clock.pendingDelaysMs;
    delays.push(delayMs);
    await host.clock.advance(delayMs);
  }
  await loading;
  expect(store.content.global).toEqual({ a: 1 });
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(host.captured.records.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
});

test('loadPatiently() fails for a ConfigMap that cannot be parsed', async () => {
  const { host, store } = harness([configMap({ webEnabled: 'yes' })]);
  await expect(loadPatiently(store, host, new AbortController().signal)).rejects.toMatchObject({
    code: 'CONFIG_MAP_INVALID',
  });
});

test('loadPatiently() ends when the daemon is to stop', async () => {
  const { host, store } = harness([unreachable]);
  const stop = new AbortController();
  const loading = loadPatiently(store, host, stop.signal);
  await host.clock.untilAsleep();
  stop.abort(new Error('stop'));
  await expect(loading).rejects.toThrow('stop');
  await settle();
  expect(host.clock.pendingDelaysMs).toEqual([]);
});
