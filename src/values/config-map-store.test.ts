import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMapServer } from '../../test/support/config-map-server.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { plainClient } from '../../test/support/plain-client.ts';
import type { HttpKubeClient } from '../kube/http-kube-client.ts';
import { createSharedReflectors } from '../kube/reflector-shared.ts';
import type { Json } from '../lib/json.ts';
import { type LogFields, type Logger, silentLogger } from '../lib/log.ts';
import type { ConfigMapContent } from './config-map-content.ts';
import { type ConfigChange, ConfigMapStore } from './config-map-store.ts';
import type { ModuleName } from './module-key.ts';
import type { PatchOperation } from './values-patch.ts';

const web = 'web' as ModuleName;
const NEVER = new AbortController().signal;

let server: ConfigMapServer;
let client: HttpKubeClient;
let clock: FakeClock;
let stop: AbortController;
let warnings: { readonly fields: LogFields; readonly message: string }[];

const log: Logger = {
  ...silentLogger,
  warn: (fields, message) => {
    warnings.push({ fields, message });
  },
};

beforeEach(async () => {
  server = await ConfigMapServer.start();
  clock = new FakeClock();
  stop = new AbortController();
  warnings = [];
  client = plainClient(server.url, clock);
});

afterEach(async () => {
  stop.abort(new Error('test is over'));
  client.close();
  await server.stop();
});

function newStore(): ConfigMapStore {
  const reflectors = createSharedReflectors({ kube: client, clock, random: () => 0, log: silentLogger });
  return new ConfigMapStore({ kube: client, reflectors, ref: server.ref, clock, random: () => 0, log });
}

/** Loads, watches, and collects what is reported. */
async function watched(): Promise<{ readonly store: ConfigMapStore; readonly changes: ConfigChange[] }> {
  const store = newStore();
  const changes: ConfigChange[] = [];
  await store.load(NEVER);
  store.watch((change) => changes.push(change), stop.signal).catch(() => undefined);
  await until(() => server.openWatches === 1);
  return { store, changes };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 50_000; turn += 1) {
    if (isTrue()) return;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  throw new Error('what the test waits for does not happen');
}

/** What a list of changes says, in short. */
function summary(changes: readonly ConfigChange[]): string[] {
  return changes.map((change) => {
    if (change.type !== 'changed') return change.type;
    const { isGlobalChanged, sections, flags } = change.difference;
    return [isGlobalChanged ? 'global' : '', ...sections, ...flags.map((key) => `${key}Enabled`)]
      .filter((part) => part !== '')
      .join(' ');
  });
}

/** Makes one more foreign edit and waits for it: whatever was to be reported before it has been by then. */
async function fence(changes: readonly ConfigChange[]): Promise<string[]> {
  const before = changes.length;
  server.edit({ ...server.object?.data, fenceEnabled: 'true' });
  await until(() => summary(changes.slice(before)).at(-1)?.includes('fenceEnabled') === true);
  return summary(changes);
}

const add = (path: string, value: Json): PatchOperation => ({ op: 'add', path, value });

const accept = (): void => undefined;

test('load() reads the ConfigMap', async () => {
  server.edit({ global: 'a: 1', web: 'b: 2', webEnabled: 'true' });
  const content = await newStore().load(NEVER);
  expect(content.global).toStrictEqual({ a: 1 });
  expect([...content.flags]).toStrictEqual([['web', true]]);
});

test('load() takes an absent ConfigMap for an empty one', async () => {
  const store = newStore();
  expect((await store.load(NEVER)).global).toBeUndefined();
  expect(store.state).toStrictEqual({ type: 'valid' });
});

test('load() refuses a ConfigMap that cannot be understood', async () => {
  server.edit({ kubeDNS: 'a: 1' });
  await expect(newStore().load(NEVER)).rejects.toThrow("bad module name 'kubeDNS': should be camelCased");
});

test.each([
  [500, 'InternalError'],
  [403, 'Forbidden'],
  [404, ''],
])('load() never takes a failed read (%i %s) for an empty ConfigMap', async (status, reason) => {
  server.intercept('GET', () => ({ type: 'refuse', status, reason }));
  await expect(newStore().load(NEVER)).rejects.toMatchObject({ code: 'KUBE_API' });
});

test('watch() reports what differs in meaning', async () => {
  server.edit({ global: 'a: 1', web: 'b: 1' });
  const { store, changes } = await watched();
  server.edit({ global: 'a: 2', web: 'b: 1' });
  server.edit({ global: 'a: 2', web: '# only a comment\nb:   1' });
  server.edit({ global: 'a: 2', webEnabled: 'true' });
  expect(await fence(changes)).toStrictEqual(['global', 'web webEnabled', 'fenceEnabled']);
  expect(store.content.global).toStrictEqual({ a: 2 });
});

test('watch() keeps the content as an object for as long as it means the same', async () => {
  server.edit({ global: 'a: 1', web: 'b: 1' });
  const store = newStore();
  const content = await store.load(NEVER);
  const seen: ConfigMapContent[] = [];
  const note = (change: ConfigChange): void => {
    seen.push(store.content);
    if (change.type === 'changed') seen.push(change.content);
  };
  store.watch(note, stop.signal).catch(() => undefined);
  await until(() => server.openWatches === 1);
  expect(store.content).toBe(content);
  server.edit({ global: '# only a comment\na: 1', web: 'b: [' });
  await until(() => seen.length === 1);
  server.edit({ global: '# only a comment\na: 1', web: 'b:   1' });
  await until(() => seen.length === 2);
  for (const each of seen) expect(each).toBe(content);
});

test('watch() reports what changed since the first reading', async () => {
  const store = newStore();
  await store.load(NEVER);
  server.edit({ web: 'a: 1' });
  const changes: ConfigChange[] = [];
  store.watch((change) => changes.push(change), stop.signal).catch(() => undefined);
  await until(() => changes.length === 1);
  expect(summary(changes)).toStrictEqual(['web']);
});

test('watch() keeps the last valid content while the ConfigMap cannot be understood', async () => {
  server.edit({ web: 'a: 1' });
  const { store, changes } = await watched();
  server.edit({ web: 'a: [', db: 'new: 1' });
  server.edit({ web: 'a: [', db: 'new: 1', appEnabled: 'true' });
  await until(() => changes.length === 1);
  expect(store.state).toMatchObject({ type: 'invalid', error: { code: 'CONFIG_MAP_INVALID' } });
  expect([...store.content.sections]).toStrictEqual([['web', { a: 1 }]]);
  server.edit({ web: 'a: 1' });
  await until(() => changes.length === 2);
  expect(store.state).toStrictEqual({ type: 'valid' });
  server.edit({ web: 'a: [' });
  server.edit({ web: 'a: 2' });
  expect(await fence(changes)).toStrictEqual(['invalid', 'valid', 'invalid', 'web', 'fenceEnabled']);
});

test('watch() falls back to nothing when the ConfigMap is deleted, and notices the next one', async () => {
  server.edit({ global: 'a: 1', web: 'b: 1', webEnabled: 'true' });
  const { store, changes } = await watched();
  server.delete();
  await until(() => changes.length === 1);
  expect(store.content.global).toBeUndefined();
  expect(store.content.sections.size + store.content.flags.size).toBe(0);
  server.edit({ webEnabled: 'true' });
  await until(() => changes.length === 2);
  expect(summary(changes)).toStrictEqual(['global web webEnabled', 'webEnabled']);
});

test('watch() believes a deletion only when the ConfigMap cannot be read by its name either', async () => {
  server.edit({ webEnabled: 'true' });
  const { store, changes } = await watched();
  server.intercept('GET', () => ({ type: 'refuse', status: 500, reason: 'InternalError' }));
  server.delete();
  await until(() => warnings.length === 1);
  expect(store.content.flags.size).toBe(1);
  await clock.advance(1_000);
  await until(() => changes.length === 1);
  expect(store.content.flags.size).toBe(0);
});

test('watch() takes a list that is refused as unknown for no deletion', async () => {
  server.edit({ webEnabled: 'true' });
  const { store, changes } = await watched();
  const reads = server.count('GET');
  server.intercept('WATCH', () => ({ type: 'refuse', status: 410, reason: 'Expired' }));
  for (const status of [404, 404]) server.intercept('LIST', () => ({ type: 'refuse', status, reason: '' }));
  server.breakWatches();
  const isBack = (): boolean => server.openWatches === 1 && server.count('GET') > reads;
  const isPausing = (): boolean => clock.pendingDelaysMs.some((delayMs) => delayMs <= 30_000);
  while (!isBack()) {
    await until(() => isBack() || isPausing());
    if (isPausing()) await clock.advance(Math.min(...clock.pendingDelaysMs));
  }
  expect(await fence(changes)).toStrictEqual(['fenceEnabled']);
  expect(store.content.flags.size).toBe(2);
});

test('watch() goes on when the connection breaks, and tries again when it cannot begin', async () => {
  server.edit({ web: 'a: 1' });
  const store = newStore();
  await store.load(NEVER);
  const changes: ConfigChange[] = [];
  server.intercept('LIST', () => ({ type: 'refuse', status: 503, reason: 'ServiceUnavailable' }));
  store.watch((change) => changes.push(change), stop.signal).catch(() => undefined);
  await until(() => warnings.length === 1);
  expect(warnings[0]?.message).toBe('cannot watch the ConfigMap, will retry');
  await clock.advance(1_000);
  await until(() => server.openWatches === 1);
  server.breakWatches();
  server.edit({ web: 'a: 2' });
  await until(() => clock.pendingDelaysMs.some((delayMs) => delayMs <= 1_000));
  await clock.advance(1_000);
  await until(() => changes.length === 1);
  expect(summary(changes)).toStrictEqual(['web']);
});

test('watch() rejects with the reason of the abort, whenever it comes', async () => {
  const store = newStore();
  await expect(store.watch(() => undefined, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  const running = store.watch(() => undefined, stop.signal);
  await until(() => server.openWatches === 1);
  stop.abort(new Error('late'));
  await expect(running).rejects.toThrow('late');
});

test('save() creates an absent ConfigMap with that key only', async () => {
  const { store, changes } = await watched();
  expect(await store.save(web, [add('/web/b', [1]), add('/web/a', 'yes')], accept, NEVER)).toStrictEqual({
    a: 'yes',
    b: [1],
  });
  expect(server.object?.data).toStrictEqual({ web: "a: 'yes'\nb:\n    - 1\n" });
  expect(await fence(changes)).toStrictEqual(['fenceEnabled']);
});

test('save() leaves everything else in the ConfigMap as it is', async () => {
  server.edit(
    { global: 'a: 1 # mine', db: 'x: [', web: 'a: 1' },
    { binaryData: { b: 'aGk=' }, immutable: false },
  );
  const store = newStore();
  expect(await store.save('global', [add('/global/b', 2)], accept, NEVER)).toStrictEqual({ a: 1, b: 2 });
  expect(server.object).toMatchObject({
    data: { global: 'a: 1\nb: 2\n', db: 'x: [', web: 'a: 1' },
    binaryData: { b: 'aGk=' },
    immutable: false,
  });
});

test('save() is no change, but what a person does afterwards is', async () => {
  server.edit({ global: 'a: 1', web: 'a: 1' });
  const { store, changes } = await watched();
  await store.save(web, [add('/web/a', 2)], accept, NEVER);
  await store.save('global', [add('/global/b', 2)], accept, NEVER);
  expect(store.content.global).toStrictEqual({ a: 1, b: 2 });
  server.edit({ ...server.object?.data, web: 'a: 1' });
  expect(await fence(changes)).toStrictEqual(['web', 'fenceEnabled']);
});

test('save() writes nothing when the patch changes nothing', async () => {
  server.edit({ web: 'a: 1' });
  expect(await newStore().save(web, [add('/web/a', 1)], accept, NEVER)).toStrictEqual({ a: 1 });
  expect(server.count('PUT')).toBe(0);
});

test('save() puts its patch on top of what a person wrote at the same moment, and that is noticed', async () => {
  server.edit({ web: 'a: 1', db: 'a: 1' });
  const { store, changes } = await watched();
  server.intercept('PUT', () => {
    server.edit({ web: 'a: 1\nperson: 1', db: 'a: 2' });
    return undefined;
  });
  const saved = await store.save(web, [add('/web/hook', 1)], accept, NEVER);
  expect(saved).toStrictEqual({ a: 1, hook: 1, person: 1 });
  expect(server.object?.data).toStrictEqual({ web: 'a: 1\nhook: 1\nperson: 1\n', db: 'a: 2' });
  await until(() => changes.length === 1);
  expect(await fence(changes)).toStrictEqual(['db web', 'fenceEnabled']);
});

test('save() is not undone by older news that the watch brings later', async () => {
  server.edit({ web: 'a: 1', db: 'a: 1' });
  const { store, changes } = await watched();
  const seen = server.version;
  server.holdWatches();
  server.edit({ web: 'a: 1', db: 'a: 2' });
  await store.save(web, [add('/web/a', 2)], accept, NEVER);
  await store.save(web, [add('/web/a', 3)], accept, NEVER);
  server.releaseWatches(seen);
  await until(() => changes.length === 1);
  expect(await fence(changes)).toStrictEqual(['db', 'fenceEnabled']);
  expect([...store.content.sections.values()]).toStrictEqual([{ a: 3 }, { a: 2 }]);
});

test('save() loses none of a hundred patches made at once', async () => {
  const { store, changes } = await watched();
  const saves = Array.from({ length: 100 }, (_, index) =>
    store.save(web, [add(`/web/k${index}`, index)], accept, NEVER),
  );
  await Promise.all(saves);
  expect(Object.keys(store.content.sections.values().next().value ?? {})).toHaveLength(100);
  expect(await fence(changes)).toStrictEqual(['fenceEnabled']);
});

test('save() gives up when others are faster six times in a row', async () => {
  server.edit({ web: 'a: 1' });
  for (let round = 0; round < 6; round += 1) {
    server.intercept('PUT', () => {
      server.edit({ web: `a: ${round}` });
      return undefined;
    });
  }
  await expect(newStore().save(web, [add('/web/b', 1)], accept, NEVER)).rejects.toMatchObject({
    code: 'CONFIG_MAP_CONFLICT',
  });
  expect(server.count('PUT')).toBe(6);
});

test('save() reads again when nobody knows whether the write arrived, and does not repeat one that did', async () => {
  server.edit({ web: 'l: [1]' });
  const { store, changes } = await watched();
  server.intercept('PUT', () => ({ type: 'carry-out-and-cut' }));
  expect(await store.save(web, [add('/web/l/-', 2)], accept, NEVER)).toStrictEqual({ l: [1, 2] });
  expect(server.count('PUT')).toBe(1);
  expect(await fence(changes)).toStrictEqual(['fenceEnabled']);
});

test.each([{ type: 'cut' } as const, { type: 'refuse', status: 504, reason: 'Timeout' } as const])(
  'save() repeats a write that did not arrive: %j',
  async (trouble) => {
    server.edit({ web: 'l: [1]' });
    server.intercept('PUT', () => trouble);
    expect(await newStore().save(web, [add('/web/l/-', 2)], accept, NEVER)).toStrictEqual({ l: [1, 2] });
    expect(server.object?.data).toStrictEqual({ web: 'l:\n    - 1\n    - 2\n' });
  },
);

test.each<{
  name: string;
  data: Record<string, string>;
  operation: PatchOperation;
  code: string;
  message: string;
}>([
  {
    name: 'a patch that does not fit',
    data: { web: 'a: 1' },
    operation: { op: 'remove', path: '/web/b' },
    code: 'VALUES_PATCH_INVALID',
    message: 'cannot apply config values patch for module values: ',
  },
  {
    name: 'a section that cannot be understood',
    data: { web: 'a: [' },
    operation: add('/web/b', 1),
    code: 'CONFIG_MAP_INVALID',
    message: "bad yaml at key 'web'",
  },
  {
    name: 'more than a ConfigMap can hold',
    data: { db: 'x'.repeat(600_000) },
    operation: add('/web/b', 'x'.repeat(500_000)),
    code: 'CONFIG_MAP_INVALID',
    message: 'it would hold 1100004 bytes, more than the 1048576',
  },
])('save() refuses $name before it writes', async ({ data, operation, code, message }) => {
  server.edit(data);
  const failure: unknown = await newStore()
    .save(web, [operation], accept, NEVER)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code });
  expect(String(failure)).toContain(message);
  expect(server.count('PUT')).toBe(0);
});

test('save() fails when the API server refuses, and the content stays as it was', async () => {
  server.edit({ web: 'a: 1' });
  const { store } = await watched();
  server.intercept('PUT', () => ({ type: 'refuse', status: 422, reason: 'Invalid' }));
  await expect(store.save(web, [add('/web/a', 2)], accept, NEVER)).rejects.toMatchObject({
    code: 'KUBE_API',
    status: 422,
  });
  expect([...store.content.sections.values()]).toStrictEqual([{ a: 1 }]);
});

test('binaryData is ignored with a warning', async () => {
  server.edit({ web: 'a: 1' }, { binaryData: { db: 'e30=' } });
  expect([...(await newStore().load(NEVER)).sections.keys()]).toStrictEqual(['web']);
  expect(warnings).toMatchObject([
    { message: 'binaryData of the ConfigMap is ignored', fields: { keys: ['db'] } },
  ]);
});
