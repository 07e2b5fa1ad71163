import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS, refusal } from '../../../test/support/fake-kube-api.ts';
import { RecordingSink } from '../../../test/support/recording-sink.ts';
import { ALL_CONFIG_MAPS, expectTruth, labOfEachTest } from '../../../test/support/reflector-lab.ts';
import type { ReflectorEvent, ReflectorSink } from './reflector-sink.ts';

const labNow = labOfEachTest();

test('subscribe() hands over the whole list, with kind and apiVersion, then every change', async () => {
  const { api } = labNow();
  api.put('a/one', { data: { x: '1' } });
  const sink = await labNow().follow();
  expect(sink.state.get('a/one')).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } });
  api.put('a/two');
  api.put('a/one', { data: { x: '2' } });
  api.delete('a/two');
  await settle();
  expect(sink.log).toEqual(['Added a/two@102', 'Modified a/one@103', 'Deleted a/two@104']);
  expectTruth(labNow(), sink);
});

test('subscribe() narrows list and watch to the selection', async () => {
  const { api } = labNow();
  for (const key of ['a/one', 'b/one', 'b/two']) api.put(key, { labels: { app: 'web' } });
  const sink = await labNow().follow({
    resource: CONFIG_MAPS,
    namespace: 'b',
    labelSelector: 'app=web',
    fieldSelector: 'metadata.name=one',
  });
  expect([...sink.state.keys()]).toEqual(['b/one']);
  api.put('b/one', { labels: { app: 'db' } });
  api.put('b/two', { data: {} });
  await settle();
  expect(sink.log).toEqual(['Deleted b/one@104']);
  expect(api.requests[1]).toMatchObject({
    path: '/api/v1/namespaces/b/configmaps',
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '103',
      labelSelector: 'app=web',
      fieldSelector: 'metadata.name=one',
    },
  });
});

test('subscribe() lists in pages of 500', async () => {
  const { api } = labNow();
  for (let index = 0; index < 1_201; index += 1) api.put(`a/${index}`);
  const sink = await labNow().follow();
  expectTruth(labNow(), sink);
  expect(api.count('list')).toBe(3);
  expect(api.requests[0]?.query).toEqual({ limit: '500' });
});

test.each([
  ['refused', refusal(403, 'Forbidden')],
  ['not reached', new Error('no')],
])('subscribe() rejects when the first list is %s, and leaves nothing running', async (_title, error) => {
  const { api, clock } = labNow();
  api.refuseNext('list', error);
  await expect(labNow().follow()).rejects.toBe(error);
  await settle();
  expect(clock.pendingDelaysMs).toEqual([]);
  expect(api.openWatches).toBe(0);
  expectTruth(labNow(), await labNow().follow());
});

test('subscribe() rejects with what the sink threw; others on the same list get their state', async () => {
  const { api, reflectors } = labNow();
  api.put('a/one');
  const broken: ReflectorSink = {
    stage: () => Promise.reject(new Error('cannot take it')),
    discard: () => undefined,
    commit: () => undefined,
    apply: () => Promise.resolve(),
  };
  const failing = reflectors.subscribe(ALL_CONFIG_MAPS, broken, labNow().stop.signal);
  const sink = labNow().follow();
  await expect(failing).rejects.toThrow('cannot take it');
  expectTruth(labNow(), await sink);
});

test('subscribe() rejects with the reason of the signal while it lists', async () => {
  const controller = new AbortController();
  const following = labNow().follow(ALL_CONFIG_MAPS, controller.signal);
  controller.abort(new Error('enough'));
  await expect(following).rejects.toThrow('enough');
  await expect(labNow().follow(ALL_CONFIG_MAPS, controller.signal)).rejects.toThrow('enough');
});

test('equal selections share one watch, and those that subscribe together one list', async () => {
  const { api } = labNow();
  api.put('a/one');
  const [first, second] = await Promise.all([labNow().follow(), labNow().follow()]);
  await settle();
  expect([api.count('list'), api.count('watch'), api.openWatches]).toEqual([1, 1, 1]);
  api.put('a/two');
  await settle();
  for (const sink of [first, second]) expectTruth(labNow(), sink);
  await labNow().follow({ resource: CONFIG_MAPS, namespace: 'a' });
  await settle();
  expect(api.openWatches).toBe(2);
});

test('a late subscriber gets its own whole state while the watch of the others stays open', async () => {
  const { api } = labNow();
  api.put('a/one');
  const early = await labNow().follow();
  await settle();
  api.put('a/two');
  await settle();
  // Changes in the moment of joining: listed for the newcomer before the watch reports them.
  const joining = labNow().follow();
  api.put('a/three');
  api.put('a/one', { data: {} });
  api.delete('a/two');
  const late = await joining;
  await settle();
  for (const sink of [early, late]) expectTruth(labNow(), sink);
  expect(early.log.toSorted()).toEqual([
    'Added a/three@103',
    'Added a/two@102',
    expect.stringContaining('Deleted a/two'),
    'Modified a/one@104',
  ]);
  expect(api.count('watch')).toBe(1);
});

test('a watch that lags behind the list of a newcomer does not bring back what the list no longer has', async () => {
  const { api } = labNow();
  const early = await labNow().follow();
  await settle();
  api.holdWatches(true);
  api.put('a/ghost');
  api.put('a/one');
  api.delete('a/ghost');
  const late = await labNow().follow();
  api.put('a/two');
  api.holdWatches(false);
  await settle();
  expect(early.log).toEqual(['Added a/one@102', 'Added a/two@104']);
  expect(late.log).toEqual(['Added a/two@104']);
  for (const sink of [early, late]) expectTruth(labNow(), sink);
});

test('a late subscriber that fails does not disturb the others', async () => {
  const { api } = labNow();
  const early = await labNow().follow();
  await settle();
  api.refuseNext('list', refusal(500, 'InternalError'));
  await expect(labNow().follow()).rejects.toThrow('InternalError');
  api.put('a/one');
  await settle();
  expectTruth(labNow(), early);
  expect(api.count('watch')).toBe(1);
});

test('FAULT-A22: when one subscriber leaves, the others keep receiving; after the last the watch ends', async () => {
  const { api, clock } = labNow();
  const leaving = new AbortController();
  const first = await labNow().follow(ALL_CONFIG_MAPS, leaving.signal);
  const second = await labNow().follow();
  await settle();
  leaving.abort();
  api.put('a/one');
  await settle();
  expectTruth(labNow(), second);
  expect(first.log).toEqual([]);
  labNow().stop.abort();
  await settle();
  expect([api.openWatches, clock.pendingDelaysMs]).toEqual([0, []]);
});

test('a newcomer does not wait for the pause of others', async () => {
  const { api, clock } = labNow();
  const early = await labNow().follow();
  await settle();
  api.isDown = true;
  api.breakWatches();
  await clock.advance(60_000);
  await expect(labNow().follow()).rejects.toThrow('connection reset');
  api.isDown = false;
  api.put('a/one');
  expectTruth(labNow(), await labNow().follow());
  await settle();
  expectTruth(labNow(), early);
});

test('FAULT-A23: a sink that throws on an event still gets the next, and so do the others', async () => {
  const { api, reflectors } = labNow();
  const applied: string[] = [];
  const throwing: ReflectorSink = {
    stage: () => Promise.resolve(),
    discard: () => undefined,
    commit: () => undefined,
    apply: async ({ key }) => {
      applied.push(key);
      throw new Error('no');
    },
  };
  await reflectors.subscribe(ALL_CONFIG_MAPS, throwing, labNow().stop.signal);
  const sink = await labNow().follow();
  api.put('a/one');
  api.put('a/two');
  await settle();
  expect(applied).toEqual(['a/one', 'a/two']);
  expectTruth(labNow(), sink);
});

test('subscribe() leaves no listener behind on a signal whose first list failed', async () => {
  labNow().api.refuseNext('list', refusal(403, 'Forbidden'));
  await expect(labNow().follow()).rejects.toMatchObject({ status: 403 });
  expect(getEventListeners(labNow().stop.signal, 'abort')).toEqual([]);
});

test('subscribe() lists whole objects beside those of which only metadata is wanted', async () => {
  await labNow().follow({ ...ALL_CONFIG_MAPS, isMetadataOnly: true });
  await labNow().follow();
  const accepted = labNow().api.requests.filter(({ query }) => query?.['watch'] === undefined);
  expect(accepted.map(({ accept }) => accept === undefined)).toEqual([false, true]);
});

/** A subscriber that does something during its first event. */
class ActingSink extends RecordingSink {
  #act: (() => void) | undefined;

  constructor(act: () => void) {
    super();
    this.#act = act;
  }

  override async apply(event: ReflectorEvent): Promise<void> {
    this.#act?.();
    this.#act = undefined;
    await super.apply(event);
  }
}

test('a subscriber that joins while another one handles an event gets its state without a further event', async () => {
  const { api, reflectors, stop } = labNow();
  const joined = Promise.withResolvers<RecordingSink>();
  const first = new ActingSink(() => joined.resolve(labNow().follow()));
  await reflectors.subscribe(ALL_CONFIG_MAPS, first, stop.signal);
  await settle();
  api.put('a/one');
  await settle();
  expect(first.log).toEqual(['Added a/one@101']);
  expectTruth(labNow(), await joined.promise);
});

test('a subscriber that leaves while another one handles an event gets none of the events behind it', async () => {
  const { api, clock, reflectors, stop } = labNow();
  const leave = new AbortController();
  const first = new ActingSink(() => leave.abort(new Error('enough')));
  await reflectors.subscribe(ALL_CONFIG_MAPS, first, stop.signal);
  const second = await labNow().follow(ALL_CONFIG_MAPS, leave.signal);
  await settle();
  api.breakWatches();
  api.put('a/one');
  api.put('a/two');
  api.compact();
  await clock.advance(3_000);
  expect([first.log.length, second.log.includes('Added a/two@102')]).toEqual([2, false]);
});

test('subscribe() keeps apart what only its label selector tells apart', async () => {
  const { api } = labNow();
  api.put('a/web', { labels: { app: 'web' } });
  api.put('a/db', { labels: { app: 'db' } });
  const [web, db] = [
    await labNow().follow({ resource: CONFIG_MAPS, labelSelector: 'app=web' }),
    await labNow().follow({ resource: CONFIG_MAPS, labelSelector: 'app=db' }),
  ];
  expect([[...web.state.keys()], [...db.state.keys()]]).toEqual([['a/web'], ['a/db']]);
});

test('subscribers that have a state learn of each list, newcomers do not', async () => {
  const { reflectors, stop } = labNow();
  const relisted: string[] = [];
  const sinkOf = (name: string) =>
    Object.assign(new RecordingSink(), { relisted: () => relisted.push(name) });
  await reflectors.subscribe(ALL_CONFIG_MAPS, sinkOf('first'), stop.signal);
  await reflectors.subscribe(ALL_CONFIG_MAPS, sinkOf('second'), stop.signal);
  expect(relisted).toEqual(['first']);
});
