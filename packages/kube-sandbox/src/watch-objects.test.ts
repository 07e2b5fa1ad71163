import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { handleRequest } from './handle-request.ts';
import { valueAt } from './json-access.ts';
import { machineClock } from './sandbox-clock.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

function create(name: string, labels: object = {}): void {
  lab.create(CONFIG_MAPS, { metadata: { name, labels } });
}

test('a watch without revision begins with what there is', () => {
  create('a');
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true`);
  create('b');
  expect(watch.titles).toEqual(['ADDED a', 'ADDED b']);
});

test('a watch from a revision gives what happened since, then what happens', () => {
  create('a');
  const revision = lab.state.store.revision;
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { x: 'y' } });
  const watch = lab.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`);
  lab.call('DELETE', `${CONFIG_MAPS}/a`);
  expect(watch.titles).toEqual(['MODIFIED a', 'DELETED a']);
  expect(valueAt(watch.events[1], 'object', 'metadata', 'resourceVersion')).toBe(String(revision + 2));
});

test('a watch sees its own kind and namespace alone', () => {
  lab.create('/api/v1/namespaces', { metadata: { name: 'other' } });
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true`);
  const everywhere = lab.watch('/api/v1/configmaps?watch=true');
  lab.create('/api/v1/namespaces/other/configmaps', { metadata: { name: 'elsewhere' } });
  lab.create('/api/v1/namespaces/default/secrets', { metadata: { name: 'secret' } });
  expect(watch.titles).toEqual([]);
  expect(everywhere.titles).toEqual(['ADDED elsewhere']);
});

test('an object that comes to match is added, one that ceases to match is deleted as it was', () => {
  create('a', { on: 'no' });
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true&labelSelector=on%3Dyes`);
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { metadata: { labels: { on: 'yes' } } });
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { x: 'y' } });
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { metadata: { labels: { on: 'no' } } });
  lab.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { x: 'z' } });
  expect(watch.titles).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  expect(watch.events[2]).toMatchObject({
    object: { metadata: { labels: { on: 'yes' }, resourceVersion: '5' } },
  });
});

test('a forgotten or unknown revision gives an ERROR event with 410, and the end', async () => {
  for (const revision of [1, 99_999]) {
    const other = new ApiLab();
    for (let count = 0; count < 5000; count += 1)
      other.create(`${CONFIG_MAPS}?dryRun=`, { metadata: { generateName: `a${count}-` } });
    const watch = other.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${revision}`);
    await watch.ended;
    expect(watch.titles).toEqual(['ERROR 410']);
    expect(watch.events[0]).toMatchObject({ object: { kind: 'Status', reason: 'Expired' } });
  }
});

test('a streaming list marks the end of the initial objects', () => {
  create('a');
  const query =
    'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const watch = lab.watch(`${CONFIG_MAPS}?${query}`);
  create('b');
  expect(watch.titles).toEqual(['ADDED a', 'BOOKMARK', 'ADDED b']);
  expect(watch.events[1]).toEqual({
    type: 'BOOKMARK',
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  });
});

test('bookmarks come each minute with the latest revision, to watches that requested them', async () => {
  const revision = lab.state.store.revision;
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&resourceVersion=${revision}`);
  const without = lab.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${revision}`);
  lab.create('/api/v1/namespaces/default/secrets', { metadata: { name: 'other-kind' } });
  await lab.clock.advance(60_000);
  expect(watch.events).toMatchObject([
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(revision + 1) } } },
  ]);
  expect(without.events).toEqual([]);
});

test('a watch ends at its time-out, and no sooner', async () => {
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true&timeoutSeconds=90&allowWatchBookmarks=true`);
  let isEnded = false;
  const ended = watch.ended.then(() => {
    isEnded = true;
  });
  await lab.clock.advance(89_000);
  expect(isEnded).toBe(false);
  await lab.clock.advance(1000);
  await ended;
  expect(watch.titles).toEqual(['BOOKMARK']);
});

test('a timer that fires early sends no bookmark at the end of a watch', async () => {
  const lines: string[] = [];
  let nowMs = 0;
  const clock = {
    ...machineClock,
    steadyMs: () => nowMs,
    sleep: (ms: number) => {
      nowMs += Math.max(ms - 0.5, 0.5);
      return Promise.resolve();
    },
  };
  const query = new URLSearchParams('watch=true&timeoutSeconds=1&allowWatchBookmarks=true');
  const response = handleRequest(
    { ...lab.state, clock },
    {
      method: 'GET',
      path: CONFIG_MAPS,
      query,
      accept: '',
      contentType: '',
      ifNoneMatch: '',
      userAgent: '',
      body: Buffer.alloc(0),
    },
  );
  if (response.type !== 'stream') throw new Error(response.text);
  await response.run((line) => lines.push(line) > 0, new AbortController().signal);
  expect(lines).toEqual([]);
});

test('a stopped watch hears nothing more and leaves no timer', async () => {
  const watch = lab.watch(`${CONFIG_MAPS}?watch=true`);
  watch.stop();
  await watch.ended;
  create('a');
  expect(watch.events).toEqual([]);
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('a reader that is cut off ends the watch', async () => {
  const response = handleRequest(
    { ...lab.state, clock: machineClock },
    {
      method: 'GET',
      path: CONFIG_MAPS,
      query: new URLSearchParams('watch=true'),
      accept: '',
      contentType: '',
      ifNoneMatch: '',
      userAgent: '',
      body: new Uint8Array(),
    },
  );
  const ended =
    response.type === 'stream' ? response.run(() => false, new AbortController().signal) : Promise.reject();
  create('a');
  await ended;
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('events can be tables, with columns in the first one, or metadata', () => {
  create('a');
  const tables = lab.watch(`${CONFIG_MAPS}?watch=true`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
  create('b');
  expect(tables.events).toMatchObject([
    {
      type: 'ADDED',
      object: {
        kind: 'Table',
        columnDefinitions: [{ name: 'Name' }, {}, {}],
        rows: [{ cells: ['a', 0, '0s'] }],
      },
    },
    { type: 'ADDED', object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['b', 0, '0s'] }] } },
  ]);
  const metadata = lab.watch(
    `${CONFIG_MAPS}?watch=true`,
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  );
  expect(metadata.events[0]).toMatchObject({
    object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
  });
});

test.each(['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan', 'timeoutSeconds=x'])(
  'refuses a watch with %s alone',
  (query) => {
    expect(lab.get(`${CONFIG_MAPS}?watch=true&${query}`).status).toBeGreaterThanOrEqual(400);
  },
);
