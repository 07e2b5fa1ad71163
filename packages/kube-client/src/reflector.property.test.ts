import { silentLogger } from '@addon-operator/base/log';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { CONFIG_MAPS, FakeKubeApi } from '../../../test/support/fake-kube-api.ts';
import { RecordingSink } from '../../../test/support/recording-sink.ts';
import type { KubeObject } from './kube-object.ts';
import { createSharedReflectors } from './reflector-shared.ts';

const KEYS = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b/3', 'b/4'];

type Step =
  | { readonly type: 'put' | 'delete'; readonly key: string }
  | {
      readonly type:
        | 'subscribe'
        | 'leave'
        | 'break'
        | 'close'
        | 'compact'
        | 'bookmark'
        | 'down'
        | 'up'
        | 'mute';
    }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'latency'; readonly turns: number };

const key = fc.constantFrom(...KEYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('put' as const), key }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('delete' as const), key }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        ...(['subscribe', 'leave', 'break', 'close', 'compact', 'bookmark', 'down', 'up', 'mute'] as const),
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 0, 1_000, 30_000, 80_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('latency' as const), turns: fc.integer({ min: 0, max: 3 }) }),
  },
);

/** A server that goes through a script, with all subscribers. */
class Play {
  readonly api = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly sinks: { readonly sink: RecordingSink; readonly stop: AbortController }[] = [];
  /** Every state the server ever had. */
  readonly states = new Set<string>();
  readonly #reflectors = createSharedReflectors({
    kube: this.api,
    clock: this.clock,
    random: () => 0.5,
    log: silentLogger,
    rediscover: this.api.rediscover,
  });

  constructor() {
    this.api.maxPageSize = 2;
    this.#note();
  }

  #note(): void {
    this.states.add(fingerprint(this.api.truth()));
  }

  #subscribe(): void {
    const entry = { sink: new RecordingSink(), stop: new AbortController() };
    this.sinks.push(entry);
    this.#reflectors.subscribe({ resource: CONFIG_MAPS }, entry.sink, entry.stop.signal).catch(() => {
      const index = this.sinks.indexOf(entry);
      if (index !== -1) this.sinks.splice(index, 1);
    });
  }

  async run(step: Step): Promise<void> {
    const { api } = this;
    switch (step.type) {
      case 'put':
        api.put(step.key, { data: { version: String(api.version) } });
        this.#note();
        break;
      case 'delete':
        api.delete(step.key);
        this.#note();
        break;
      case 'subscribe':
        this.#subscribe();
        break;
      case 'leave':
        this.sinks.shift()?.stop.abort();
        break;
      case 'break':
        api.breakWatches();
        break;
      case 'close':
        api.closeWatches();
        break;
      case 'compact':
        api.compact();
        break;
      case 'bookmark':
        api.bookmark();
        break;
      case 'down':
        api.isDown = true;
        api.breakWatches();
        break;
      case 'mute':
        api.isMute = true;
        break;
      case 'up':
        this.heal();
        break;
      case 'latency':
        api.latencyTurns = step.turns;
        break;
      case 'wait':
        await this.clock.advance(step.ms);
        break;
    }
    await nextTurn();
  }

  /** A watch that was mute has missed events for good, so it does not survive. */
  heal(): void {
    this.api.isDown = false;
    if (this.api.isMute) this.api.breakWatches();
    this.api.isMute = false;
  }

  async end(): Promise<void> {
    this.heal();
    for (let round = 0; round < 10; round += 1) {
      await settle();
      await this.clock.advance(10_000);
    }
    await settle();
  }
}

function fingerprint(objects: ReadonlyMap<string, KubeObject>): string {
  return [...objects]
    .map(([key, { metadata }]) => `${key}@${metadata.resourceVersion}`)
    .toSorted()
    .join(' ');
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

test('P2, P3: first state plus events is what the server has, and no first state is torn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (script) => {
      const play = new Play();
      await play.run({ type: 'subscribe' });
      for (const one of script) await play.run(one);
      await play.end();
      const truth = play.api.truth();
      for (const { sink } of play.sinks) {
        expect(sink.problems).toEqual([]);
        expect(play.states).toContain(fingerprint(sink.initial ?? new Map()));
        expect(sink.state).toEqual(truth);
      }
      expect(play.api.openWatches).toBe(play.sinks.length === 0 ? 0 : 1);
      for (const { stop } of play.sinks) stop.abort();
      await settle();
      expect([play.api.openWatches, play.clock.pendingDelaysMs]).toEqual([0, []]);
    }),
    { numRuns: 300 },
  );
}, 120_000);
