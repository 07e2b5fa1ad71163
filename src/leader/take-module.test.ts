import { silentLogger } from '@addon-operator/base/log';
import { changeConfigMapData } from '@addon-operator/kube-client/config-map-object';
import {
  changeHandOver,
  handOverKey,
  wantedBack,
  withNote,
} from '@addon-operator/kube-client/hand-over/hand-over-entry';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMapServer, type Trouble } from '../../test/support/config-map-server.ts';
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
let lost: string[];

beforeEach(async () => {
  server = await ConfigMapServer.start();
  clock = new FakeClock();
  client = plainClient(server.url, clock);
  stop = new AbortController();
  running = new AsyncDisposableStack();
  progress = [];
  lost = [];
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
    onLost: ({ message }) => lost.push(message),
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
  await rewrite((text) => withNote(text, { holder: HOLDER, by: 'operator/pod', state, facts: {} }));
}

/** Another process writes the entry. */
async function rewrite(change: (text: string) => string): Promise<void> {
  await changeConfigMapData(client, server.ref, (data) => changeHandOver(data, 'web', change), stop.signal);
}

function entryFields(): unknown {
  return JSON.parse(server.object?.data?.[handOverKey('web')] ?? 'null');
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
  expect(entryFields()).toMatchObject({ holderIdentity: '', releasedBy: HOLDER });
});

test.each([
  ['wanted back', wantedBack, { holderIdentity: '', releasedBy: HOLDER }],
  [
    'taken by another dev',
    (text: string) => text.replace(HOLDER, 'bob@desk_2'),
    { holderIdentity: 'bob@desk_2', releasedBy: HOLDER },
  ],
])('the operator learns that a module that was %s has ended here', async (_how, change, entry) => {
  await take(isRequested);
  await rewrite(change);
  while (lost.length === 0) await clock.advance(500);
  expect(entryFields()).not.toMatchObject({ releasedBy: HOLDER });
  await running.disposeAsync();
  expect(progress.at(-1)).toEqual({ type: 'ended' });
  expect(entryFields()).toMatchObject(entry);
});

test('a module whose entry cannot be renewed is given back if the API server responds again when it has ended', async () => {
  await take(isRequested);
  let isDown = true;
  const refuse = (): Trouble | undefined => {
    if (!isDown) return undefined;
    server.intercept('PUT', refuse);
    return { type: 'refuse', status: 503, reason: 'ServiceUnavailable' };
  };
  server.intercept('PUT', refuse);
  while (lost.length === 0) await clock.advance(500);
  expect(lost[0]).toContain('not be renewed in time');
  isDown = false;
  await running.disposeAsync();
  expect(entryFields()).toMatchObject({ holderIdentity: '', releasedBy: HOLDER });
});
