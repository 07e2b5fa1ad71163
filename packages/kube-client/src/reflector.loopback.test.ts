import type { ServerResponse } from 'node:http';
import { type Clock, systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { CONFIG_MAPS } from '../../../test/support/fake-kube-api.ts';
import { responseJson, startLoopbackServer } from '../../../test/support/loopback-server.ts';
import { plainClient } from '../../../test/support/plain-client.ts';
import { RecordingSink } from '../../../test/support/recording-sink.ts';
import type { KubeObject } from './kube-object.ts';
import { createSharedReflectors } from './reflector-shared.ts';
import type { ReflectorEvent } from './reflector-sink.ts';

const LINE = `${JSON.stringify({ type: 'ADDED', object: configMap('käse', '7') })}\n`;
const LIST_PAGES = [
  JSON.stringify({ metadata: { resourceVersion: '5', continue: 'next' }, items: [configMap('one', '1')] }),
  JSON.stringify({ metadata: { resourceVersion: '5' }, items: [configMap('two', '2')] }),
];

/** Pauses between two attempts take no time; the limit on silence never ends. */
const impatientClock: Clock = {
  wallMs: () => 0,
  steadyMs: () => 0,
  sleep: (ms, signal) => systemClock.sleep(ms < 60_000 ? 0 : ms, signal),
};

function configMap(name: string, resourceVersion: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'a', uid: name, resourceVersion },
    data: { text: 'grün' },
  };
}

class WaitingSink extends RecordingSink {
  readonly first = Promise.withResolvers<void>();

  override async apply(event: ReflectorEvent): Promise<void> {
    await super.apply(event);
    this.first.resolve();
  }
}

async function follow(url: string, sink: RecordingSink, signal: AbortSignal): Promise<void> {
  const client = plainClient(url, systemClock);
  signal.addEventListener('abort', () => client.close(), { once: true });
  const reflectors = createSharedReflectors({
    kube: client,
    clock: impatientClock,
    random: () => 0,
    log: silentLogger,
    rediscover: async (known) => known,
  });
  await reflectors.subscribe({ resource: CONFIG_MAPS }, sink, signal);
}

function cutAfter(response: ServerResponse, text: string, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  response.write(Buffer.from(text).subarray(0, bytes), () => response.destroy());
}

test('FAULT-A8: an event cut at any byte is delivered once, whole, after the reconnect', async () => {
  let cutAt = 0;
  let watches = 0;
  const server = await startLoopbackServer((request, response) => {
    if (request.query['watch'] === undefined) {
      responseJson(response, 200, { metadata: { resourceVersion: '5' }, items: [] });
    } else if ((watches += 1) === 1) {
      cutAfter(response, LINE, cutAt);
    } else {
      response.writeHead(request.query['resourceVersion'] === '5' ? 200 : 410);
      response.write(LINE);
    }
  });
  for (cutAt = 0; cutAt < Buffer.byteLength(LINE); cutAt += 1) {
    const stop = new AbortController();
    const sink = new WaitingSink();
    watches = 0;
    await follow(server.url, sink, stop.signal);
    await sink.first.promise;
    expect(sink.log).toEqual(['Added a/käse@7']);
    expect(sink.state.get('a/käse')).toEqual(configMap('käse', '7'));
    stop.abort();
  }
  await server.stop();
}, 120_000);

test('FAULT-A7: a list cut at any byte is no list', async () => {
  let cutPage = 0;
  let cutAt = 0;
  const server = await startLoopbackServer((request, response) => {
    const page = request.query['continue'] === undefined ? 0 : 1;
    if (page === cutPage) cutAfter(response, LIST_PAGES[page] ?? '', cutAt);
    else response.writeHead(200).end(LIST_PAGES[page]);
  });
  for (cutPage = 0; cutPage < LIST_PAGES.length; cutPage += 1) {
    for (cutAt = 0; cutAt < (LIST_PAGES[cutPage]?.length ?? 0); cutAt += 7) {
      const stop = new AbortController();
      const sink = new RecordingSink();
      const following = follow(server.url, sink, stop.signal);
      await expect(following).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' });
      expect(sink.initial).toBeUndefined();
      stop.abort();
    }
  }
  await server.stop();
}, 120_000);
