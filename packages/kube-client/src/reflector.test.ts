import { messageOf } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { refusal } from '../../../test/support/fake-kube-api.ts';
import { RecordingSink } from '../../../test/support/recording-sink.ts';
import { ALL_CONFIG_MAPS, expectTruth, labOfEachTest } from '../../../test/support/reflector-lab.ts';

const labNow = labOfEachTest();

test('FAULT-A4: a broken watch is resumed where it was, deletions included', async () => {
  const { api, clock } = labNow();
  api.put('a/one');
  api.put('a/two');
  const sink = await labNow().follow();
  await settle();
  api.breakWatches();
  api.delete('a/one');
  api.put('a/two', { data: {} });
  await clock.advance(1_000);
  expect(sink.log).toEqual(['Deleted a/one@103', 'Modified a/two@104']);
  expect([api.count('list'), api.count('watch')]).toEqual([1, 2]);
  expectTruth(labNow(), sink);
});

test('a watch that was closed after a long time is opened again at once, from the last bookmark', async () => {
  const { api, clock } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.put('x', {}, 'namespaces');
  api.bookmark();
  await clock.advance(10_000);
  api.closeWatches();
  await settle();
  expect(api.requests.at(-1)?.query?.['resourceVersion']).toBe('101');
  api.put('a/one');
  await settle();
  expectTruth(labNow(), sink);
});

test('a watch that the server closes before the time asked for has ended early', async () => {
  const { api, clock, ended } = labNow();
  await labNow().follow();
  await settle();
  const passed = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 10) {
      await clock.advance(10_000);
      api.bookmark();
    }
  };
  expect(api.requests.at(-1)?.query?.['timeoutSeconds']).toBe('300');
  await passed(290);
  api.closeWatches();
  await settle();
  await passed(300);
  api.closeWatches();
  await settle();
  expect(ended).toEqual(['ConfigMap early', 'ConfigMap closed']);
});

test('a watch that the server always closes at once is opened again after growing delays', async () => {
  const { api, clock } = labNow();
  await labNow().follow();
  await settle();
  const pauses: (number | undefined)[] = [];
  for (let round = 0; round < 8; round += 1) {
    api.closeWatches();
    await settle();
    const pauseMs = clock.pendingDelaysMs[0] ?? 0;
    pauses.push(pauseMs);
    await clock.advance(pauseMs);
  }
  expect(pauses).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
});

test('FAULT-A5: an expired watch leads to a list, and the differences are reported', async () => {
  const { api, clock, ended } = labNow();
  for (const key of ['a/gone', 'a/same', 'a/changed', 'a/again']) api.put(key);
  const sink = await labNow().follow();
  await settle();
  api.breakWatches();
  api.delete('a/gone');
  api.put('a/changed', { data: {} });
  api.delete('a/again');
  api.put('a/again');
  api.put('a/new');
  api.compact();
  await clock.advance(3_000);
  expect(sink.log).toEqual([
    'Deleted a/gone',
    'Deleted a/again',
    'Modified a/changed@106',
    'Added a/again@108',
    'Added a/new@109',
  ]);
  expectTruth(labNow(), sink);
  expect(ended).toEqual(['ConfigMap broken', 'ConfigMap expired']);
  expect(api.requests.findLast((request) => request.query?.['watch'] === undefined)?.query).toMatchObject({
    resourceVersion: '104',
    resourceVersionMatch: 'NotOlderThan',
  });
});

test('FAULT-A5: a watch refused with 410 leads to a list', async () => {
  const { api, clock } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.refuseNext('watch', refusal(410, 'Gone'));
  api.breakWatches();
  api.put('a/one');
  await clock.advance(3_000);
  expectTruth(labNow(), sink);
  expect(api.count('list')).toBe(2);
});

test('FAULT-A6: a list that expires between two pages starts again, and nothing of it is seen before it is whole', async () => {
  const { api, clock } = labNow();
  for (let index = 0; index < 1_100; index += 1) api.put(`a/${index}`);
  const isThirdPage = (): boolean => api.requests.length === 3;
  api.refuseNext('list', refusal(410, 'Expired'), isThirdPage);
  const sink = await labNow().follow();
  expectTruth(labNow(), sink);
  expect(api.count('list')).toBe(6);
  // The same in a list that replaces a known state.
  await settle();
  api.breakWatches();
  api.delete('a/0');
  api.compact();
  const requests = api.requests.length;
  api.refuseNext('list', refusal(410, 'Expired'), () => api.requests.length === requests + 3);
  await clock.advance(3_000);
  expect(sink.log).toEqual(['Deleted a/0']);
  expectTruth(labNow(), sink);
});

test('FAULT-A7: a list cut in the middle changes nothing and is made again', async () => {
  const { api, clock } = labNow();
  for (let index = 0; index < 600; index += 1) api.put(`a/${index}`);
  const sink = await labNow().follow();
  await settle();
  api.breakWatches();
  api.delete('a/599');
  api.compact();
  api.refuseNext('list', new Error('cut'), (request) => request.query?.['continue'] !== undefined);
  await clock.advance(1_500);
  expect(sink.log).toEqual([]);
  await clock.advance(10_000);
  expect(sink.log).toEqual(['Deleted a/599']);
  expectTruth(labNow(), sink);
});

test.each([
  '{"type":"MODIFIED","object":{"metadata":{"na',
  '7',
  '{"type":"MODIFIED"}',
  '{"type":"X","object":{}}',
])(
  'FAULT-A8: the line %j is not delivered, and the watch goes on from the last good version',
  async (line) => {
    const { api, clock } = labNow();
    const sink = await labNow().follow();
    await settle();
    api.put('a/one');
    api.sendLine(line);
    await settle();
    api.put('a/two');
    await clock.advance(1_000);
    expect(sink.log).toEqual(['Added a/one@101', 'Added a/two@102']);
    expect(api.requests.at(-1)?.query?.['resourceVersion']).toBe('101');
    expectTruth(labNow(), sink);
  },
);

test('FAULT-A9: a watch that is silent for 70 s is replaced by a list', async () => {
  const { api, clock, ended } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.isMute = true;
  api.put('a/one');
  await clock.advance(69_000);
  expect(sink.log).toEqual([]);
  api.isMute = false;
  await clock.advance(6_000);
  expectTruth(labNow(), sink);
  expect(ended).toEqual(['ConfigMap idle']);
});

test.each([-3_600_000, 3_600_000])(
  'FAULT-A3: a silent watch is replaced after 70 s, when the wall clock is set by %d ms',
  async (byMs) => {
    const { api, clock, ended } = labNow();
    const sink = await labNow().follow();
    await settle();
    api.isMute = true;
    api.put('a/one');
    clock.setWall(byMs);
    await clock.advance(69_000);
    expect(ended).toEqual([]);
    api.isMute = false;
    await clock.advance(6_000);
    expectTruth(labNow(), sink);
    expect(ended).toEqual(['ConfigMap idle']);
  },
);

test('bookmarks keep a quiet watch open', async () => {
  const { api, clock } = labNow();
  await labNow().follow();
  for (let minute = 0; minute < 5; minute += 1) {
    await clock.advance(60_000);
    api.bookmark();
  }
  expect([api.count('list'), api.count('watch')]).toEqual([1, 1]);
});

test('FAULT-A10: an event that is older than what is known is not reported', async () => {
  const { api } = labNow();
  const sink = await labNow().follow();
  await settle();
  const old = api.put('a/one');
  api.delete('a/one');
  const known = api.put('a/one');
  await settle();
  const reported = sink.log.length;
  api.sendLine(JSON.stringify({ type: 'MODIFIED', object: known }));
  for (const type of ['ADDED', 'MODIFIED', 'DELETED']) api.sendLine(JSON.stringify({ type, object: old }));
  await settle();
  expect(sink.log.slice(reported)).toEqual([]);
  expectTruth(labNow(), sink);
  api.breakWatches();
  await labNow().clock.advance(1_000);
  expect(api.requests.at(-1)?.query?.['resourceVersion']).toBe(known.metadata.resourceVersion);
});

test('FAULT-A10: a deletion is reported once, also under the version of the last change, and never of an unknown object', async () => {
  const { api } = labNow();
  const sink = await labNow().follow();
  await settle();
  const object = api.put('a/one');
  await settle();
  const unknown = { ...object, metadata: { ...object.metadata, name: 'other', resourceVersion: '150' } };
  for (const deleted of [object, object, unknown])
    api.sendLine(JSON.stringify({ type: 'DELETED', object: deleted }));
  await settle();
  expect(sink.log).toEqual(['Added a/one@101', 'Deleted a/one@101']);
  expect(sink.problems).toEqual([]);
});

test('FAULT-A10: another object under a known name is reported as Deleted and Added', async () => {
  const { api } = labNow();
  const sink = await labNow().follow();
  await settle();
  const known = api.put('a/one');
  const other = { ...known, metadata: { ...known.metadata, uid: 'other', resourceVersion: '200' } };
  api.sendLine(JSON.stringify({ type: 'MODIFIED', object: other }));
  await settle();
  expect(sink.log).toEqual(['Added a/one@101', 'Deleted a/one', 'Added a/one@200']);
  expect(sink.problems).toEqual([]);
});

test('FAULT-A11: a watch refused with 429 waits as long as the server requests, and lists nothing', async () => {
  const { api, clock } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.refuseNext('watch', refusal(429, 'TooManyRequests', 20));
  api.breakWatches();
  await clock.advance(900);
  expect(clock.pendingDelaysMs).toEqual([19_900]);
  api.put('a/one');
  await clock.advance(20_000);
  expectTruth(labNow(), sink);
  expect(api.count('list')).toBe(1);
});

test('FAULT-A12: an API server that is unreachable for ten minutes gets less than 0.25 requests a second', async () => {
  const { api, clock } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.isDown = true;
  api.breakWatches();
  const before = api.requests.length;
  await clock.advance(600_000);
  expect(api.requests.length - before).toBeLessThan(30);
  api.isDown = false;
  api.put('a/one');
  await clock.advance(30_000);
  expectTruth(labNow(), sink);
});

test('FAULT-A17: when the kind goes away everything is deleted, and when it comes back everything is added', async () => {
  const { api, clock } = labNow();
  api.put('a/one');
  const sink = await labNow().follow();
  await settle();
  api.isMute = true;
  api.removeKind('configmaps');
  api.isMute = false;
  await clock.advance(120_000);
  expect(sink.log).toEqual(['Deleted a/one']);
  api.restoreKind('configmaps');
  api.put('a/one');
  await clock.advance(30_000);
  expect(sink.log.slice(1)).toEqual(['Added a/one@103']);
  expectTruth(labNow(), sink);
});

test('FAULT-A17: a page of a proxy, status 404, deletes nothing, however long it is there', async () => {
  const { api, clock } = labNow();
  api.put('a/one');
  const sink = await labNow().follow();
  await settle();
  api.isHidden = true;
  api.closeWatches();
  await clock.advance(120_000);
  api.isUndiscoverable = true;
  await clock.advance(120_000);
  expect(sink.log).toEqual([]);
  api.put('a/two');
  api.isHidden = false;
  await clock.advance(30_000);
  expect(sink.log).toEqual(['Added a/two@102']);
  expectTruth(labNow(), sink);
});

test('FAULT-A17: nothing is deleted while discovery fails, although the kind is not served', async () => {
  const { api, clock } = labNow();
  api.put('a/one');
  const sink = await labNow().follow();
  await settle();
  api.isUndiscoverable = true;
  api.isMute = true;
  api.removeKind('configmaps');
  api.isMute = false;
  await clock.advance(120_000);
  expect(sink.log).toEqual([]);
  api.isUndiscoverable = false;
  await clock.advance(90_000);
  expect(sink.log).toEqual(['Deleted a/one']);
});

test('FAULT-A17: a watch follows another served version, when its own is dropped, and returns, when that is restored', async () => {
  const { api, clock } = labNow();
  api.put('a/one');
  const sink = await labNow().follow();
  await settle();
  api.serve('configmaps', ['v2']);
  await clock.advance(10_000);
  expect(sink.log).toEqual(['Modified a/one@101']);
  expect(sink.state.get('a/one')).toMatchObject({ apiVersion: 'v2' });
  api.put('a/two');
  await settle();
  expect(sink.log.at(-1)).toBe('Added a/two@102');
  api.serve('configmaps', ['v2', 'v1']);
  await clock.advance(10_000);
  expect(sink.log.slice(2)).toEqual(['Modified a/one@101', 'Modified a/two@102']);
  expect(sink.state.get('a/two')).toMatchObject({ apiVersion: 'v1' });
  expect([...new Set(sink.problems)]).toEqual([]);
});

test('a first list succeeds under another served version, when the one asked for is dropped', async () => {
  const { api } = labNow();
  api.put('a/one');
  api.serve('configmaps', ['v2']);
  const sink = await labNow().follow();
  expect(sink.state.get('a/one')).toMatchObject({ apiVersion: 'v2' });
});

test('FAULT-A15: subscribers learn of a refused watch and of the end of the refusal', async () => {
  const { api, clock } = labNow();
  const calls: string[] = [];
  const sink = Object.assign(new RecordingSink(), {
    confirmed: () => calls.push('confirmed'),
    failed: (error: unknown) => calls.push(messageOf(error)),
  });
  await labNow().reflectors.subscribe(ALL_CONFIG_MAPS, sink, labNow().stop.signal);
  await settle();
  expect(new Set(calls.splice(0))).toEqual(new Set(['confirmed']));
  api.isForbidden = true;
  api.closeWatches();
  await clock.advance(5_000);
  expect(new Set(calls.splice(0))).toEqual(new Set(['refused: Forbidden']));
  api.isForbidden = false;
  await clock.advance(30_000);
  expect(new Set(calls)).toEqual(new Set(['confirmed']));
});

test('FAULT-A24: integers beyond 2^53 keep their digits, and U+2028 passes', async () => {
  const { api } = labNow();
  const sink = await labNow().follow();
  await settle();
  api.sendLine(
    '{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap",' +
      '"metadata":{"name":"big","namespace":"a","resourceVersion":"200"},"n":12345678901234567890,"s":"\\u2028"}}',
  );
  await settle();
  expect(JSON.stringify(sink.state.get('a/big'))).toContain('"n":12345678901234567890,"s":"\u2028"');
});
