import type { KubeRequest } from '@addon-operator/kube-client/kube-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { refusal } from '../../../test/support/fake-kube-api.ts';
import { MonitorLab, titleOf } from '../../../test/support/monitor-lab.ts';

const WATCHED = {
  namespace: { labelSelector: { matchLabels: { watch: 'yes' } }, nameSelector: ['ignored'] },
};
const YES = { labels: { watch: 'yes' } };
const NO = { labels: { watch: 'no' } };

/** The list that decides whether a namespace still matches. */
const isCheck = ({ path, query }: KubeRequest): boolean =>
  path.endsWith('/namespaces') && query?.['fieldSelector'] !== undefined;

let lab = new MonitorLab();

beforeEach(() => {
  lab = new MonitorLab();
  lab.api.put('/a', YES, 'namespaces');
  lab.api.put('/b', NO, 'namespaces');
  for (const key of ['a/one', 'a/two', 'b/one', 'b/two']) lab.api.put(key);
});

afterEach(() => lab.stop.abort());

test('the snapshot has the objects of matching namespaces; the names of namespaces count for nothing', async () => {
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  lab.api.put('b/three');
  lab.api.put('a/three');
  await settle();
  expect(monitor.snapshot().map(titleOf)).toEqual(['a/one', 'a/three', 'a/two']);
  expect(lab.events).toEqual(['Added a/three']);
});

test('the objects of a namespace that begins to match are Added, those of one that ceases to match Deleted', async () => {
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  await settle();
  lab.api.put('/b', YES, 'namespaces');
  await settle();
  expect(lab.events).toEqual(['Added b/one', 'Added b/two']);
  lab.api.put('/b', { ...YES, status: {} }, 'namespaces');
  lab.api.put('b/one');
  await settle();
  expect(lab.events.slice(2)).toEqual(['Modified b/one']);
  lab.api.put('/b', NO, 'namespaces');
  await settle();
  lab.api.put('b/one');
  await settle();
  expect(lab.events.slice(3)).toEqual(['Deleted b/one', 'Deleted b/two']);
  expect(monitor.operations().sinceStart).toEqual({
    count: 2,
    added: 2,
    deleted: 0,
    modified: 1,
    cleaned: 2,
  });
  expect(monitor.snapshot().map(titleOf)).toEqual(['a/one', 'a/two']);
  expect(lab.api.openWatches).toBe(2);
});

test('a deleted namespace takes its objects along, once each', async () => {
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  await settle();
  lab.api.delete('a/one');
  lab.api.delete('a/two');
  lab.api.delete('/a', 'namespaces');
  await settle();
  expect(lab.events.toSorted()).toEqual(['Deleted a/one', 'Deleted a/two']);
  expect(monitor.snapshot()).toEqual([]);
});

test('while locked, what a new namespace brings is in the next snapshot and not reported again', async () => {
  const monitor = await lab.started(WATCHED);
  await settle();
  lab.api.put('/b', YES, 'namespaces');
  await settle();
  expect(monitor.snapshot()).toHaveLength(4);
  monitor.unlock();
  expect(lab.events).toEqual([]);
});

test('a list that fails in a new namespace is made again; other namespaces are not disturbed', async () => {
  (await lab.started(WATCHED)).unlock();
  await settle();
  lab.api.refuseNext('list', refusal(500, 'InternalError'), ({ path }) => path.includes('/b/'));
  lab.api.put('/b', YES, 'namespaces');
  lab.api.put('a/one');
  await settle();
  expect(lab.events).toEqual(['Modified a/one']);
  await lab.clock.advance(1_000);
  expect(lab.events.slice(1)).toEqual(['Added b/one', 'Added b/two']);
});

test('start() fails when a list in a matching namespace fails', async () => {
  lab.api.refuseNext('list', refusal(403, 'Forbidden'), ({ path }) => path.includes('/a/'));
  await expect(lab.started(WATCHED)).rejects.toThrow('Forbidden');
  await settle();
  expect(lab.api.openWatches).toBe(0);
});

test('FAULT-A27: a namespace that comes and goes is watched once, or not at all', async () => {
  lab.api.latencyTurns = 2;
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  for (let round = 0; round < 20; round += 1) {
    lab.api.put('/c', YES, 'namespaces');
    lab.api.put('c/one');
    if (round % 3 === 0) await settle();
    lab.api.delete('c/one');
    lab.api.delete('/c', 'namespaces');
    if (round % 2 === 0) await settle();
  }
  for (let round = 0; round < 5; round += 1) await settle();
  expect(monitor.snapshot().map(titleOf)).toEqual(['a/one', 'a/two']);
  const balance = lab.events.filter((event) => event.startsWith('Added')).length * 2;
  expect(lab.events.length).toBe(balance);
  expect(lab.api.openWatches).toBe(2);
});

test.each<{
  readonly history: string;
  readonly play: () => void;
  readonly events: readonly string[];
  readonly snapshot: readonly string[];
}>([
  {
    history: 'an object made after the namespace came back is not Deleted',
    play: () => {
      lab.api.put('/a', NO, 'namespaces');
      lab.api.put('/a', YES, 'namespaces');
      lab.api.put('a/three');
    },
    events: ['Added a/three'],
    snapshot: ['a/one', 'a/three', 'a/two'],
  },
  {
    history: 'so it is when the list that decides fails at first',
    play: () => {
      lab.api.put('/a', NO, 'namespaces');
      lab.api.put('/a', YES, 'namespaces');
      lab.api.put('a/three');
      lab.api.refuseNext('list', refusal(500, 'InternalError'), isCheck);
    },
    events: ['Added a/three'],
    snapshot: ['a/one', 'a/three', 'a/two'],
  },
  {
    history: 'so it is in a namespace that was made anew',
    play: () => {
      lab.api.delete('/a', 'namespaces');
      lab.api.put('/a', YES, 'namespaces');
      lab.api.put('a/three');
    },
    events: ['Added a/three'],
    snapshot: ['a/one', 'a/three', 'a/two'],
  },
  {
    history: 'an object made after the namespace went for good is Deleted',
    play: () => {
      lab.api.put('/a', NO, 'namespaces');
      lab.api.put('a/three');
    },
    events: ['Added a/three', 'Deleted a/one', 'Deleted a/three', 'Deleted a/two'],
    snapshot: [],
  },
  {
    history: 'objects of a namespace that came back unchanged may go and come',
    play: () => {
      lab.api.put('/a', NO, 'namespaces');
      lab.api.put('/a', YES, 'namespaces');
    },
    events: ['Deleted a/one', 'Deleted a/two', 'Added a/one', 'Added a/two'],
    snapshot: ['a/one', 'a/two'],
  },
])('the watch of namespaces is behind: $history', async ({ play, events, snapshot }) => {
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  await settle();
  lab.api.breakWatches();
  lab.api.refuseNext('watch', refusal(500, 'InternalError'), ({ path }) => path.endsWith('/namespaces'));
  play();
  await lab.clock.advance(10_000);
  expect(lab.events).toEqual(events);
  expect(monitor.snapshot().map(titleOf)).toEqual(snapshot);
  expect(monitor.health().watchFailure).toBeUndefined();
  // What happens next is followed as before.
  lab.api.put('/a', NO, 'namespaces');
  await settle();
  expect(monitor.snapshot()).toEqual([]);
  lab.api.put('/a', YES, 'namespaces');
  await settle();
  expect(monitor.snapshot()).toHaveLength(lab.api.truth().size - 2);
  expect(lab.api.openWatches).toBe(2);
});

test('while the server does not say whether a namespace still matches, it keeps its objects', async () => {
  const monitor = await lab.started(WATCHED);
  monitor.unlock();
  await settle();
  lab.api.breakWatches();
  lab.api.refuseNext('watch', refusal(500, 'InternalError'), ({ path }) => path.endsWith('/namespaces'));
  lab.api.refuseNext('list', refusal(403, 'Forbidden'), isCheck);
  lab.api.put('/a', NO, 'namespaces');
  lab.api.put('a/one');
  await lab.clock.advance(2_900);
  expect(lab.events).toEqual(['Modified a/one']);
  expect(monitor.health().watchFailure).toMatchObject({ isRefused: true });
  await lab.clock.advance(10_000);
  expect(lab.events.slice(1)).toEqual(['Deleted a/one', 'Deleted a/two']);
  expect(monitor.health().watchFailure).toBeUndefined();
});

test('stop() ends the watches of all namespaces', async () => {
  const monitor = await lab.started(WATCHED);
  await monitor.stop();
  await settle();
  expect(lab.api.openWatches).toBe(0);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});
