import type { Clock } from '@addon-operator/base/clock';
import { type Logger, silentLogger } from '@addon-operator/base/log';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import type { Selection, SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeClock, settle } from './fake-clock.ts';
import { CONFIG_MAPS, FakeKubeApi } from './fake-kube-api.ts';
import { RecordingSink } from './recording-sink.ts';

export const ALL_CONFIG_MAPS: Selection = { resource: CONFIG_MAPS };

/** What was set off before takes effect before time moves. */
class SettlingClock extends FakeClock {
  override async advance(ms: number): Promise<void> {
    await settle();
    await super.advance(ms);
  }
}

/** Reflectors on a server in memory; pauses have no jitter. */
export class ReflectorLab {
  readonly api = new FakeKubeApi();
  readonly clock = new SettlingClock();
  /** Kind and reason of each watch that ended. */
  readonly ended: string[] = [];
  /** Kind of each object that could not be used, each time. */
  readonly setAside: string[] = [];
  /** Messages of warnings, with their problem. */
  readonly warnings: string[] = [];
  readonly stop = new AbortController();
  readonly reflectors: SharedReflectors;

  constructor(logOf: (clock: Clock) => Logger = () => this.#log()) {
    this.reflectors = createSharedReflectors({
      kube: this.api,
      clock: this.clock,
      random: () => 0,
      log: logOf(this.clock),
      rediscover: this.api.rediscover,
      metrics: {
        watchEnded: (kind, reason) => this.ended.push(`${kind} ${reason}`),
        objectSetAside: (kind) => this.setAside.push(kind),
      },
    });
  }

  #log(): Logger {
    return {
      ...silentLogger,
      warn: ({ problem }, message) => this.warnings.push(`${message}: ${String(problem)}`),
    };
  }

  /** A new subscriber that has its first state. */
  async follow(selection = ALL_CONFIG_MAPS, signal = this.stop.signal): Promise<RecordingSink> {
    const sink = new RecordingSink();
    await this.reflectors.subscribe(selection, sink, signal);
    return sink;
  }
}

/** The sink knows exactly what the server has, and received nothing impossible. */
export function expectTruth({ api }: ReflectorLab, sink: RecordingSink): void {
  expect(sink.state).toEqual(api.truth());
  expect(sink.problems).toEqual([]);
}

/** A lab of its own for each test of a file, stopped at its end; returns how the test gets it. */
export function labOfEachTest(create = (): ReflectorLab => new ReflectorLab()): () => ReflectorLab {
  let lab = create();
  beforeEach(() => {
    lab = create();
  });
  afterEach(() => lab.stop.abort());
  return () => lab;
}
