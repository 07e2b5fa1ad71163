import type { OperatorError } from '@addon-operator/base/errors';
import { type LogFields, type Logger, silentLogger } from '@addon-operator/base/log';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { onTestFinished } from 'vitest';
import type { PresenceMemory } from '../../src/values/config-map-presence.ts';
import { type ConfigChange, ConfigMapStore } from '../../src/values/config-map-store.ts';
import { ConfigMapServer } from './config-map-server.ts';
import { FakeClock } from './fake-clock.ts';
import { plainClient } from './plain-client.ts';

const NEVER = new AbortController().signal;

/** An API server with one ConfigMap, and stores on it; all ends with the test. */
export class ConfigMapLab {
  readonly server: ConfigMapServer;
  readonly clock = new FakeClock();
  readonly client;
  /** Ends what {@link watched} has begun. */
  readonly stop = new AbortController();
  /** What discovery says of ConfigMaps. */
  isKindServed = true;
  /** Whether the cluster remembers that the ConfigMap existed; an error is thrown to the caller. */
  remembered: boolean | OperatorError = false;
  readonly memory: PresenceMemory = {
    read: async () => {
      if (typeof this.remembered === 'boolean') return this.remembered;
      throw this.remembered;
    },
    write: async (isPresent) => {
      if (typeof this.remembered !== 'boolean') throw this.remembered;
      this.remembered = isPresent;
    },
  };
  readonly warnings: { readonly fields: LogFields; readonly message: string }[] = [];

  private constructor(server: ConfigMapServer) {
    this.server = server;
    this.client = plainClient(server.url, this.clock);
  }

  static async start(): Promise<ConfigMapLab> {
    const lab = new ConfigMapLab(await ConfigMapServer.start());
    onTestFinished(async () => {
      lab.stop.abort(new Error('test is over'));
      lab.client.close();
      await lab.server.stop();
    });
    return lab;
  }

  /** @param graceMs default 0: a deletion counts at once */
  newStore(graceMs = 0): ConfigMapStore {
    const common = { kube: this.client, clock: this.clock, random: () => 0 };
    const warn = (fields: LogFields, message: string): void => void this.warnings.push({ fields, message });
    const log: Logger = { ...silentLogger, warn };
    const reflectors = createSharedReflectors({
      ...common,
      log: silentLogger,
      rediscover: async (known) => (this.isKindServed ? known : undefined),
    });
    const { memory } = this;
    const { ref } = this.server;
    return new ConfigMapStore({ ...common, reflectors, ref, log, graceMs, memory });
  }

  /** Loads, watches, and collects what is reported. */
  async watched(graceMs = 0): Promise<{ readonly store: ConfigMapStore; readonly changes: ConfigChange[] }> {
    const store = this.newStore(graceMs);
    const changes: ConfigChange[] = [];
    await store.load(NEVER);
    store.watch((change) => changes.push(change), this.stop.signal).catch(() => undefined);
    await until(() => this.server.openWatches === 1);
    return { store, changes };
  }

  /** Makes one more foreign edit and waits for it: whatever was to be reported before it has been by then. */
  async fence(changes: readonly ConfigChange[]): Promise<string[]> {
    const before = changes.length;
    this.server.edit({ ...this.server.object?.data, fenceEnabled: 'true' });
    await until(() => summary(changes.slice(before)).at(-1)?.includes('fenceEnabled') === true);
    return summary(changes);
  }
}

/** Lets everything go on until the condition holds. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 50_000; turn += 1) {
    if (isTrue()) return;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  throw new Error('what the test waits for does not happen');
}

/** What a list of changes says, in short. */
export function summary(changes: readonly ConfigChange[]): string[] {
  return changes.map((change) => {
    if (change.type !== 'changed') return change.type;
    const { isGlobalChanged, sections, flags } = change.difference;
    return [isGlobalChanged ? 'global' : '', ...sections, ...flags.map((key) => `${key}Enabled`)]
      .filter((part) => part !== '')
      .join(' ');
  });
}
