import { silentLogger } from '@addon-operator/base/log';
import { changeConfigMapData } from '@addon-operator/kube-client/config-map-object';
import { handOverKey, withNote } from '@addon-operator/kube-client/hand-over/hand-over-entry';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMapServer } from '../../test/support/config-map-server.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { plainClient } from '../../test/support/plain-client.ts';
import { readSettings } from '../settings/read-settings.ts';
import { type TakeProgress, takeModule } from './take-module.ts';

const SETTINGS = readSettings({ env: {}, flags: { namespace: 'operator' } });
const HOLDER = 'alice@laptop_1';

let server: ConfigMapServer;
let client: HttpKubeClient;
let clock: FakeClock;
let stop: AbortController;
let running: AsyncDisposableStack;
let progress: TakeProgress[];

beforeEach(async () => {
  server = await ConfigMapServer.start();
  clock = new FakeClock();
  client = plainClient(server.url, clock);
  stop = new AbortController();
  running = new AsyncDisposableStack();
  progress = [];
});

afterEach(async () => {
  stop.abort();
  await running.disposeAsync();
  client.close();
  await server.stop();
});

/** Requests module `web`, and lets time pass until that has come to an end or `isEnough`. */
async function take(isEnough: () => boolean = () => false): Promise<unknown> {
  // An account that may not read the namespace is trusted.
  server.intercept('GET', () => ({ type: 'refuse', status: 403, reason: 'Forbidden' }));
  const taken = takeModule({
    settings: SETTINGS,
    host: { clock, steadyClock: clock, random: () => 0, log: silentLogger },
    metrics: { setLeader: () => undefined, leaseError: () => undefined },
    connect: () => Promise.resolve({ main: client, lease: client, close: () => undefined }),
    running,
    stop: stop.signal,
    onLost: () => undefined,
    module: 'web',
    ref: server.ref,
    holder: HOLDER,
    isForced: false,
    onProgress: (one) => progress.push(one),
  });
  const ended: unknown[] = [];
  taken.then(
    () => ended.push('taken'),
    (error: unknown) => ended.push(error),
  );
  while (ended.length === 0 && !isEnough()) await clock.advance(500);
  return ended[0];
}

/** The operator in the cluster notes that it has seen the entry. */
async function note(state: 'ending' | 'accepted'): Promise<void> {
  const key = handOverKey('web');
  const change = (data: Readonly<Record<string, string>>) => ({
    ...data,
    [key]: withNote(data[key] ?? '', { holder: HOLDER, by: 'operator/pod', state, facts: {} }),
  });
  await changeConfigMapData(client, server.ref, change, stop.signal);
}

const isRequested = (): boolean => progress.some(({ type }) => type === 'requested');

test('without an operator the request for a module ends after 30 seconds, with what to look at', async () => {
  expect(await take()).toMatchObject({
    code: 'HAND_OVER_REFUSED',
    message: expect.stringMatching(
      /^no operator in namespace operator has handed module web over within 30 s: .* \(--namespace, --config-map\)\? "kubectl -n operator get pods" shows it$/,
    ),
  });
  expect(progress).toEqual([{ type: 'requested' }]);
  expect(clock.steadyMs()).toBeGreaterThanOrEqual(30_000);
  expect(clock.steadyMs()).toBeLessThan(32_000);
});

test('an operator that ends its runs first is waited for without a limit, and gets the module back', async () => {
  const isEnding = (): boolean => progress.some(({ type }) => type === 'ending');
  expect(await take(isRequested)).toBeUndefined();
  await note('ending');
  while (!isEnding()) await clock.advance(500);
  for (let second = 0; second < 120; second += 1) await clock.advance(1_000);
  expect(progress.map(({ type }) => type)).toEqual(['requested', 'ending']);
  await note('accepted');
  const isAccepted = (): boolean => progress.some(({ type }) => type === 'accepted');
  while (!isAccepted()) await clock.advance(500);
  await running.disposeAsync();
  expect(progress.at(-1)).toEqual({ type: 'given-back' });
  expect(JSON.parse(server.object?.data?.[handOverKey('web')] ?? '')).toMatchObject({
    holderIdentity: '',
    releasedBy: HOLDER,
  });
});
