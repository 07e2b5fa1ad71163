import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { stringifyJson } from '@addon-operator/json';
import { assert, asyncProperty, bigInt, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS } from '../../../test/support/fake-kube-api.ts';
import { startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { plainClient } from '../../../test/support/plain-client.ts';
import { RecordingSink } from '../../../test/support/recording-sink.ts';
import { ReflectorLab } from '../../../test/support/reflector-lab.ts';
import { createSharedReflectors } from './reflector-shared.ts';

test('an object of a list that cannot be used is left out, counted and named, and tried again when the watch ends', async () => {
  const lab = new ReflectorLab();
  const { api, clock, setAside, warnings } = lab;
  for (const key of ['a/odd', 'a/good']) api.put(key);
  api.nameless.add('a/odd');
  const sink = await lab.follow();
  expect([...sink.state.keys()]).toEqual(['a/good']);
  expect(setAside).toEqual(['ConfigMap']);
  expect(warnings).toEqual([
    'an object cannot be used; it is left out and tried again: item 1 of a list (namespace a, uid uid-1) has no name',
  ]);
  api.put('a/new');
  await settle();
  expect([...sink.state.keys()]).toEqual(['a/good', 'a/new']);
  api.nameless.clear();
  api.closeWatches();
  await clock.advance(10_000);
  expect(sink.state).toEqual(api.truth());
  expect([api.count('list'), setAside.length, sink.problems]).toEqual([2, 1, []]);
  lab.stop.abort();
});

test('an object that cannot be used any more keeps its last state, and those behind it are delivered', async () => {
  const lab = new ReflectorLab();
  const { api, clock, setAside, warnings } = lab;
  api.put('a/odd');
  const sink = await lab.follow();
  await settle();
  api.nameless.add('a/odd');
  api.put('a/odd', { data: { changed: 'yes' } });
  api.put('a/new');
  await settle();
  const shown = ['Added a/new@103'];
  expect([sink.log, setAside]).toEqual([shown, ['ConfigMap']]);
  expect(warnings).toEqual([
    'an object cannot be used; it is left out and tried again: the object of an event (namespace a, uid uid-1) has no name',
  ]);
  // A list that has it without a name does not say that it is gone.
  api.closeWatches();
  await clock.advance(10_000);
  expect([sink.log, api.count('list')]).toEqual([shown, 2]);
  api.nameless.clear();
  api.closeWatches();
  await clock.advance(10_000);
  expect(sink.log).toEqual([...shown, 'Modified a/odd@102']);
  expect(sink.state).toEqual(api.truth());
  lab.stop.abort();
});

test('an event whose object has no version is left out, and the watch keeps its position', async () => {
  const lab = new ReflectorLab();
  const { api, clock, setAside, warnings } = lab;
  api.put('a/odd');
  const sink = await lab.follow();
  await settle();
  api.unversioned.add('a/odd');
  api.put('a/odd', { data: { changed: 'yes' } });
  await settle();
  expect([sink.log, setAside]).toEqual([[], ['ConfigMap']]);
  expect(warnings).toEqual([
    'an object cannot be used; it is left out and tried again: the object of an event, a/odd, has no resourceVersion',
  ]);
  api.unversioned.clear();
  api.closeWatches();
  await clock.advance(10_000);
  expect(sink.state).toEqual(api.truth());
  lab.stop.abort();
});

test('objects of any depth and any digits are listed and watched, and those beside them', async () => {
  let deep = '';
  const object = (name: string, version: number, data: string): string =>
    `{"metadata":{"name":"${name}","namespace":"a","uid":"${name}","resourceVersion":"${version}"},"data":${data}}`;
  const server = await startLoopbackServer((request, response) => {
    response.writeHead(200);
    if (request.query['watch'] === undefined)
      response.end(
        `{"metadata":{"resourceVersion":"5"},"items":[${object('deep', 3, deep)},${object('good', 4, '{}')}]}`,
      );
    else
      for (const [version, name, data] of [
        [6, 'deep', deep.replace('}', ',"b":1}')],
        [7, 'good', '1234567890123456789'],
      ] as const)
        response.write(`{"type":"MODIFIED","object":${object(name, version, data)}}\n`);
  });
  await assert(
    asyncProperty(
      integer({ min: 1, max: 10_000 }),
      bigInt({ min: 0n, max: 10n ** 20n }),
      async (levels, digits) => {
        deep = `${'{"a":'.repeat(levels)}${digits}${'}'.repeat(levels)}`;
        const stop = new AbortController();
        const client = plainClient(server.url, systemClock);
        const reflectors = createSharedReflectors({
          kube: client,
          clock: systemClock,
          random: () => 0,
          log: silentLogger,
          rediscover: async (known) => known,
        });
        const changed = Promise.withResolvers<void>();
        const sink = new (class extends RecordingSink {
          override async apply(...args: Parameters<RecordingSink['apply']>): Promise<void> {
            await super.apply(...args);
            if (args[0].key === 'a/good') changed.resolve();
          }
        })();
        await reflectors.subscribe({ resource: CONFIG_MAPS }, sink, stop.signal);
        const data = (key: string): string => stringifyJson(sink.state.get(key)?.['data']);
        expect(data('a/deep') === deep).toBe(true);
        await changed.promise;
        expect(data('a/deep') === deep.replace('}', ',"b":1}')).toBe(true);
        expect(data('a/good')).toBe('1234567890123456789');
        expect(sink.log).toEqual(['Modified a/deep@6', 'Modified a/good@7']);
        stop.abort();
        client.close();
      },
    ),
    { numRuns: 15, examples: [[10_000, 12345678901234567890n]] },
  );
  await server.stop();
});
