import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ReleaseRevision } from './release-store.ts';
import { SharedReads } from './shared-reads.ts';

const clockAndReads = (): { clock: FakeClock; reads: SharedReads } => {
  const clock = new FakeClock();
  return { clock, reads: new SharedReads(clock) };
};

const never = new AbortController().signal;

const web: ReleaseRevision = {
  release: 'web',
  revision: 1,
  status: 'deployed',
  labels: {},
  objects: undefined,
  recordName: 'r',
  uid: 'u',
  resourceVersion: '1',
};

test('release() is known for five seconds, unless we change it ourselves', async () => {
  const { clock, reads } = clockAndReads();
  await reads.readReleases(async () => [web, { ...web, release: 'db' }]);
  reads.forgetRelease('db');
  expect(reads.release('db')).toBeUndefined();
  await clock.advance(4_999);
  expect(reads.release('web')).toBe(web);
  await clock.advance(1);
  expect(reads.release('web')).toBeUndefined();
});

test('release() is not known when we changed the release while all were read', async () => {
  const { reads } = clockAndReads();
  const response = Promise.withResolvers<readonly ReleaseRevision[]>();
  const reading = reads.readReleases(() => response.promise);
  reads.forgetRelease('db');
  const all = [web, { ...web, release: 'db' }];
  response.resolve(all);
  expect(await reading).toEqual(all);
  expect(reads.release('db')).toBeUndefined();
  expect(reads.release('web')).toBe(web);
});

test('currentRelease() reads all releases again after five seconds, once for all that wait', async () => {
  const { clock, reads } = clockAndReads();
  const lists: string[] = [];
  const current = (name: string) =>
    reads.currentRelease(
      name,
      async () => {
        lists.push(name);
        await setImmediate();
        return [{ ...web, revision: 2 }];
      },
      never,
    );
  expect(await current('web')).toBeUndefined();
  await reads.readReleases(async () => [web]);
  await clock.advance(4_999);
  expect(await current('web')).toBe(web);
  expect(lists).toEqual([]);
  await clock.advance(1);
  expect(await Promise.all([current('web'), current('db')])).toMatchObject([{ revision: 2 }, undefined]);
  expect(lists).toEqual(['web']);
});

test('currentRelease() is not known when we changed the release, however old the list is', async () => {
  const { clock, reads } = clockAndReads();
  await reads.readReleases(async () => [web]);
  await clock.advance(5_000);
  const current = reads.currentRelease(
    'web',
    async () => {
      reads.forgetRelease('web');
      return await Promise.resolve([web]);
    },
    never,
  );
  expect(await current).toBeUndefined();
});

test('names() reads each list once in five seconds, and again after a failure', async () => {
  const { clock, reads } = clockAndReads();
  const asked: string[] = [];
  const read = (list: string) => async (): Promise<ReadonlySet<string>> => {
    asked.push(list);
    if (asked.length === 1) throw new Error('no answer');
    return new Set([list]);
  };
  await expect(reads.names('a', read('a'), never)).rejects.toThrow('no answer');
  await clock.advance(0);
  expect(await reads.names('a', read('a'), never)).toEqual(new Set(['a']));
  expect(await reads.names('a', read('a'), never)).toEqual(new Set(['a']));
  await clock.advance(5_000);
  await reads.names('a', read('a'), never);
  expect(asked).toEqual(['a', 'a', 'a']);
});

test('names() reads no list for a while after a hook has run', async () => {
  const { clock, reads } = clockAndReads();
  const read = async (): Promise<ReadonlySet<string>> => new Set();
  await reads.names('a', read, never);
  reads.forget();
  expect(reads.names('a', read, never)).toBeUndefined();
  await clock.advance(5_000);
  expect(reads.names('a', read, never)).toBeDefined();
});

test('names() takes only the reader down whose signal aborts: another one reads anew', async () => {
  const { reads } = clockAndReads();
  const stop = new AbortController();
  const read = (signal: AbortSignal) => async (): Promise<ReadonlySet<string>> => {
    await setImmediate();
    signal.throwIfAborted();
    return new Set(['x']);
  };
  const stopped = reads.names('a', read(stop.signal), stop.signal);
  const others = [1, 2].map(async () => await reads.names('a', read(never), never));
  stop.abort(new Error('the module is disabled'));
  await expect(stopped).rejects.toThrow('the module is disabled');
  expect(await Promise.all(others)).toEqual([new Set(['x']), new Set(['x'])]);
});
