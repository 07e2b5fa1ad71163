import { silentLogger } from '@addon-operator/base/log';
import { changeConfigMapData } from '@addon-operator/kube-client/config-map-object';
import { handOverKey, parseHandOver } from '@addon-operator/kube-client/hand-over/hand-over-entry';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { HandOvers } from './hand-overs.ts';

type Data = Readonly<Record<string, string>>;

const REF = { namespace: 'operator', name: 'pauses' };
const KEY = handOverKey('web');
const ALICE = 'alice@laptop_1';

let clock: FakeClock;
let cluster: ConfigMapOfPauses;
let handOvers: HandOvers;
let stop: AbortController;
let calls: string[];

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data: Data;
}

/** An API server with one ConfigMap. */
class ConfigMapOfPauses implements Pick<KubeClient, 'request'> {
  data: Data = {};
  isDown = false;
  #version = 1;

  set(data: Data): void {
    this.data = data;
    this.#version += 1;
  }

  async request({ method, body }: KubeRequest): Promise<unknown> {
    await Promise.resolve();
    if (this.isDown) throw new KubeApiError('down', { status: 503, reason: '' });
    if (method === 'GET') return this.#object();
    const { metadata, data } = body as ConfigMap;
    if (metadata.resourceVersion !== String(this.#version))
      throw new KubeApiError('changed', { status: 409, reason: 'Conflict' });
    this.set(data);
    return this.#object();
  }

  #object(): ConfigMap {
    return { metadata: { name: 'pauses', resourceVersion: String(this.#version) }, data: this.data };
  }
}

beforeEach(() => {
  clock = new FakeClock();
  cluster = new ConfigMapOfPauses();
  stop = new AbortController();
  calls = [];
  handOvers = created();
});

afterEach(() => stop.abort());

function created(): HandOvers {
  const kube = cluster as unknown as KubeClient;
  return new HandOvers({ kube, ref: REF, steadyClock: clock, log: silentLogger, identity: 'operator/pod' });
}

function run(): void {
  const actions = {
    begin: async (module: string) => void calls.push(`begin ${module}`),
    end: async (module: string) => void calls.push(`end ${module}`),
    onTakenBack: (module: string) => void calls.push(`taken back ${module}`),
    facts: () => ({ enabledModules: ['dns', 'web'] }),
    change: async (
      change: (data: Data) => Data,
      signal: AbortSignal,
      onWritten: () => void = () => undefined,
    ) => {
      await changeConfigMapData(cluster as unknown as KubeClient, REF, change, signal);
      onWritten();
      handOvers.observe(cluster.data);
    },
  };
  handOvers.run(actions, stop.signal).catch(() => undefined);
}

async function pass(ms: number): Promise<void> {
  await clock.advance(ms);
  for (let round = 0; round < 5; round += 1) await settle();
}

/** Writes the entry of a holder, as its process does, and lets the operator see it. */
async function renew(holder = ALICE, fields: object = {}): Promise<void> {
  const before: unknown = JSON.parse(cluster.data[KEY] ?? '{}');
  const lease = {
    holderIdentity: holder,
    leaseDurationSeconds: 15,
    acquireTime: '2026-05-31T17:00:00Z',
    renewTime: String(clock.steadyMs()),
  };
  cluster.set({ ...cluster.data, [KEY]: JSON.stringify({ ...(before as object), ...lease, ...fields }) });
  handOvers.observe(cluster.data);
  await settle();
}

test('a module that is wanted back says that its holder ends its runs first', async () => {
  run();
  await renew();
  await pass(0);
  await handOvers.reclaim('web', stop.signal);
  handOvers.observe(cluster.data);
  expect(handOvers.pauseOf('web')).toMatchObject({
    reason:
      'being taken back from addon-operator dev of alice@laptop, which first ends its running hooks and helm',
    handedOverTo: 'alice@laptop',
    isTakenBack: true,
  });
});

test('a module is handed over when no attempt for it is in progress, and the holder learns what it has to know', async () => {
  run();
  const attempt = Promise.withResolvers<void>();
  const done = handOvers.during('web', () => attempt.promise);
  await renew();
  expect(handOvers.isAway('web')).toBe(true);
  expect(handOvers.pauseOf('web')).toEqual({
    reason: 'handed over to addon-operator dev of alice@laptop',
    sinceMs: Date.parse('2026-05-31T17:00:00Z'),
    untilMs: undefined,
    handedOverTo: 'alice@laptop',
  });
  expect(parseHandOver(cluster.data[KEY])?.note).toMatchObject({ holder: ALICE, state: 'ending' });
  expect(calls).toEqual(['begin web']);
  attempt.resolve();
  await done;
  await pass(0);
  expect(calls).toEqual(['begin web', 'end web']);
  expect(parseHandOver(cluster.data[KEY])?.note).toEqual({
    holder: ALICE,
    by: 'operator/pod',
    state: 'accepted',
    facts: { enabledModules: ['dns', 'web'] },
  });
});

test('a module that was given back is taken back at once, and its entry goes', async () => {
  run();
  await renew();
  await renew('', { releasedBy: ALICE });
  await pass(0);
  expect(calls).toEqual(['begin web', 'end web', 'taken back web']);
  expect(cluster.data).toEqual({});
  expect([handOvers.isAway('web'), handOvers.pauseOf('web')]).toEqual([false, undefined]);
});

test('a module is taken back when its entry lapses, not before, also while the API server is away', async () => {
  run();
  await renew();
  await pass(10_000);
  await renew();
  await pass(14_999);
  expect(calls).not.toContain('taken back web');
  cluster.isDown = true;
  await pass(5_000);
  expect(handOvers.isAway('web')).toBe(true);
  cluster.isDown = false;
  await pass(2_000);
  await pass(0);
  expect(calls).toEqual(['begin web', 'end web', 'taken back web']);
  expect(cluster.data).toEqual({});
});

test('a module whose holder renewed the entry just before the operator removes it stays away', async () => {
  run();
  await renew();
  await pass(14_000);
  const renewed = { ...(JSON.parse(cluster.data[KEY] ?? '') as object), renewTime: 'now' };
  // The watch of the operator is late.
  cluster.set({ [KEY]: JSON.stringify(renewed) });
  await pass(2_000);
  expect(handOvers.isAway('web')).toBe(true);
  expect(cluster.data).toHaveProperty([KEY]);
});

test('a module that is wanted back is run when its holder must have stopped', async () => {
  run();
  await renew();
  await handOvers.reclaim('web', stop.signal);
  handOvers.observe(cluster.data);
  await pass(14_999);
  expect(calls).not.toContain('taken back web');
  await pass(2);
  await pass(0);
  expect(calls).toContain('taken back web');
  expect(cluster.data).toEqual({});
});

test('an operator that starts leaves a module to the holder that the one before it has accepted', async () => {
  run();
  await renew();
  stop.abort();
  stop = new AbortController();
  calls = [];
  handOvers = created();
  handOvers.observe(cluster.data);
  run();
  await renew();
  expect([handOvers.isAway('web'), calls]).toEqual([true, []]);
  await pass(15_001);
  await pass(0);
  expect(calls).toEqual(['taken back web']);
});

test('what others keep in the ConfigMap stays', async () => {
  run();
  cluster.set({ dns: 'by hand' });
  await renew();
  await renew('', { releasedBy: ALICE });
  await pass(0);
  expect(cluster.data).toEqual({ dns: 'by hand' });
});
