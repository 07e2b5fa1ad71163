import { OperatorError } from '@addon-operator/base/errors';
import { type LogFields, silentLogger } from '@addon-operator/base/log';
import { parseConfigMap } from '@addon-operator/kube-client/config-map-object';
import { array, assert, asyncProperty, boolean, constantFrom } from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { ConfigMapLab, until } from '../../test/support/config-map-lab.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { ConfigMapPresence, type PresenceMemory, presenceMemory } from './config-map-presence.ts';

const NEVER = new AbortController().signal;
const GRACE_MS = 10_000;
const OBJECT = parseConfigMap({ metadata: { resourceVersion: '1' }, data: { webEnabled: 'true' } });
const REFUSED = new OperatorError('KUBE_API', 'forbidden');
const AWAY = new OperatorError('KUBE_UNREACHABLE', 'connection refused');

/** A start of a daemon, on a cluster whose ConfigMap comes and goes. */
class Start {
  readonly clock = new FakeClock();
  readonly logged: { readonly fields: LogFields; readonly message: string }[] = [];
  isThere = false;
  reads = 0;
  trouble: Error | undefined;
  memoryTrouble: Error | undefined;
  isRemembered: boolean;
  writes: boolean[] = [];
  result: 'waits' | 'absent' | 'present' | Error = 'waits';
  readonly presence: ConfigMapPresence;

  constructor(isRemembered: boolean, graceMs = GRACE_MS) {
    this.isRemembered = isRemembered;
    const memory: PresenceMemory = {
      read: async () => {
        if (this.memoryTrouble !== undefined) throw this.memoryTrouble;
        return this.isRemembered;
      },
      write: async (isPresent) => {
        if (this.memoryTrouble !== undefined) throw this.memoryTrouble;
        this.isRemembered = isPresent;
        this.writes.push(isPresent);
      },
    };
    const note = (fields: LogFields, message: string): void => void this.logged.push({ fields, message });
    const log = { ...silentLogger, warn: note, info: note };
    const { clock } = this;
    this.presence = new ConfigMapPresence({
      memory,
      clock,
      log,
      graceMs,
      title: 'ns/name',
      random: () => 0,
    });
  }

  async begin(): Promise<void> {
    const read = async () => {
      this.reads += 1;
      if (this.trouble !== undefined) throw this.trouble;
      return this.isThere ? OBJECT : undefined;
    };
    this.result = 'waits';
    this.presence.firstRead(read, NEVER).then(
      (object) => {
        this.result = object === undefined ? 'absent' : 'present';
      },
      (error: Error) => {
        this.result = error;
      },
    );
    await settle();
  }
}

test('firstRead() believes an absent ConfigMap at once, when none existed before', async () => {
  const start = new Start(false);
  await start.begin();
  expect([start.result, start.logged, start.writes]).toEqual(['absent', [], []]);
});

test('firstRead() waits for a ConfigMap that existed before, and believes its absence only after the grace', async () => {
  const start = new Start(true);
  await start.begin();
  expect(start.logged).toEqual([
    {
      fields: { configMap: 'ns/name', graceMs: GRACE_MS },
      message:
        'ConfigMap is missing but existed before: waiting for it; after the grace period it is treated as deleted',
    },
  ]);
  await start.clock.advance(GRACE_MS - 1);
  expect([start.result, start.isRemembered]).toEqual(['waits', true]);
  await start.clock.advance(1);
  expect([start.result, start.isRemembered, start.reads]).toEqual(['absent', false, 11]);
  expect(start.logged.at(-1)?.message).toBe(
    'ConfigMap is still missing after the grace period and is treated as deleted',
  );
  await start.begin();
  expect(start.result).toBe('absent');
});

test('firstRead() goes on within a second, when the ConfigMap comes back', async () => {
  const start = new Start(true);
  await start.begin();
  await start.clock.advance(4_500);
  start.isThere = true;
  await start.clock.advance(500);
  expect([start.result, start.isRemembered]).toEqual(['present', true]);
  expect(start.logged.at(-1)?.message).toBe('ConfigMap exists again, the start continues');
});

test('firstRead() waits, when the memory cannot be read', async () => {
  const start = new Start(false);
  start.memoryTrouble = REFUSED;
  await start.begin();
  expect(start.result).toBe('waits');
  await start.clock.advance(GRACE_MS);
  expect(start.result).toBe('absent');
});

test('firstRead() fails, when the API server is away, and waits for the whole grace when it is called again', async () => {
  const start = new Start(true);
  start.memoryTrouble = AWAY;
  await start.begin();
  expect(start.result).toBe(AWAY);
  start.memoryTrouble = undefined;
  await start.begin();
  start.trouble = AWAY;
  await start.clock.advance(5_000);
  expect([start.result, start.isRemembered]).toEqual([AWAY, true]);
  await start.clock.advance(10 * GRACE_MS);
  start.trouble = undefined;
  await start.begin();
  await start.clock.advance(GRACE_MS - 1);
  expect(start.result).toBe('waits');
});

test('firstRead() does not wait, when the grace is 0', async () => {
  const start = new Start(true, 0);
  await start.begin();
  expect([start.result, start.isRemembered]).toEqual(['absent', false]);
});

test('record() writes a state that is remembered already no second time', async () => {
  const start = new Start(false);
  start.isThere = true;
  await start.begin();
  start.presence.record(true, NEVER);
  await settle();
  start.presence.record(true, NEVER);
  await settle();
  expect(start.writes).toEqual([true]);
});

test('record() remembers a state that changes while an earlier one is written', async () => {
  const written: boolean[] = [];
  const first = Promise.withResolvers<void>();
  const presence = new ConfigMapPresence({
    memory: {
      read: () => Promise.resolve(false),
      write: async (isPresent) => {
        written.push(isPresent);
        if (written.length === 1) await first.promise;
      },
    },
    clock: new FakeClock(),
    log: silentLogger,
    graceMs: GRACE_MS,
    title: 'ns/name',
    random: () => 0,
  });
  presence.record(true, NEVER);
  presence.record(false, NEVER);
  first.resolve();
  await settle();
  expect(written).toEqual([true, false]);
});

test('record() remembers the last state, however writes fail and states change', async () => {
  await assert(
    asyncProperty(
      array(boolean(), { minLength: 1 }),
      array(constantFrom(0, 1, 900)),
      async (states, waits) => {
        const start = new Start(false);
        start.isThere = true;
        start.memoryTrouble = REFUSED;
        await start.begin();
        for (const [index, isPresent] of states.entries()) {
          start.presence.record(isPresent, NEVER);
          start.memoryTrouble = index % 2 === 0 ? REFUSED : undefined;
          await start.clock.advance(waits[index] ?? 0);
        }
        start.memoryTrouble = undefined;
        await start.clock.advance(60_000);
        expect(start.isRemembered).toBe(states.at(-1));
      },
    ),
    { numRuns: 30 },
  );
});

let lab: ConfigMapLab;

beforeEach(async () => {
  lab = await ConfigMapLab.start();
});

test('watch() remembers that the ConfigMap exists, and forgets it only when its deletion is believed', async () => {
  const { store, changes } = await lab.watched(GRACE_MS);
  expect(lab.remembered).toBe(false);
  lab.server.edit({ webEnabled: 'true' });
  await until(() => lab.remembered === true);
  lab.server.delete();
  await until(() => store.state.type === 'missing');
  await lab.clock.advance(GRACE_MS - 1);
  expect(lab.remembered).toBe(true);
  await lab.clock.advance(1);
  await until(() => changes.length === 4 && lab.remembered === false);
});

test('save() remembers the ConfigMap that it makes', async () => {
  const store = lab.newStore(GRACE_MS);
  await store.load(NEVER);
  const patch = [{ op: 'add', path: '/global/a', value: 1 }] as const;
  await store.save('global', patch, () => undefined, NEVER);
  expect(lab.remembered).toBe(true);
});

test('presenceMemory() keeps other facts, and writes nothing that is remembered already', async () => {
  lab.server.edit({ directories: '[]' });
  const memory = presenceMemory(lab.client, lab.server.ref);
  for (const isPresent of [true, true, false, false]) await memory.write(isPresent, NEVER);
  expect(lab.server.count('PUT')).toBe(2);
  await memory.write(true, NEVER);
  expect([await memory.read(NEVER), lab.server.object?.data]).toEqual([
    true,
    { directories: '[]', configMap: 'present' },
  ]);
});
