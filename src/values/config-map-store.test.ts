import { beforeEach, expect, test } from 'vitest';
import { ConfigMapLab, summary, until } from '../../test/support/config-map-lab.ts';
import type { ConfigMapContent } from './config-map-content.ts';
import type { ConfigChange } from './config-map-store.ts';

const NEVER = new AbortController().signal;

let lab: ConfigMapLab;

beforeEach(async () => {
  lab = await ConfigMapLab.start();
});

test('load() reads the ConfigMap', async () => {
  lab.server.edit({ global: 'a: 1', web: 'b: 2', webEnabled: 'true' });
  const content = await lab.newStore().load(NEVER);
  expect(content.global).toStrictEqual({ a: 1 });
  expect([...content.flags]).toStrictEqual([['web', true]]);
});

test('load() takes an absent ConfigMap for an empty one', async () => {
  const store = lab.newStore();
  expect((await store.load(NEVER)).global).toBeUndefined();
  expect(store.state).toStrictEqual({ type: 'valid' });
});

test('load() refuses a ConfigMap that cannot be understood', async () => {
  lab.server.edit({ kubeDNS: 'a: 1' });
  await expect(lab.newStore().load(NEVER)).rejects.toThrow("bad module name 'kubeDNS': should be camelCased");
});

test.each([
  [500, 'InternalError'],
  [403, 'Forbidden'],
  [404, ''],
])('load() never takes a failed read (%i %s) for an empty ConfigMap', async (status, reason) => {
  lab.server.intercept('GET', () => ({ type: 'refuse', status, reason }));
  await expect(lab.newStore().load(NEVER)).rejects.toMatchObject({ code: 'KUBE_API' });
});

test('watch() reports what differs in meaning', async () => {
  lab.server.edit({ global: 'a: 1', web: 'b: 1' });
  const { store, changes } = await lab.watched();
  lab.server.edit({ global: 'a: 2', web: 'b: 1' });
  lab.server.edit({ global: 'a: 2', web: '# only a comment\nb:   1' });
  lab.server.edit({ global: 'a: 2', webEnabled: 'true' });
  expect(await lab.fence(changes)).toStrictEqual(['global', 'web webEnabled', 'fenceEnabled']);
  expect(store.content.global).toStrictEqual({ a: 2 });
});

test('watch() keeps the content as an object for as long as it means the same', async () => {
  lab.server.edit({ global: 'a: 1', web: 'b: 1' });
  const store = lab.newStore();
  const content = await store.load(NEVER);
  const seen: ConfigMapContent[] = [];
  const note = (change: ConfigChange): void => {
    seen.push(store.content);
    if (change.type === 'changed') seen.push(change.content);
  };
  store.watch(note, lab.stop.signal).catch(() => undefined);
  await until(() => lab.server.openWatches === 1);
  expect(store.content).toBe(content);
  lab.server.edit({ global: '# only a comment\na: 1', web: 'b: [' });
  await until(() => seen.length === 1);
  lab.server.edit({ global: '# only a comment\na: 1', web: 'b:   1' });
  await until(() => seen.length === 2);
  for (const each of seen) expect(each).toBe(content);
});

test('watch() reports what changed since the first reading', async () => {
  const store = lab.newStore();
  await store.load(NEVER);
  lab.server.edit({ web: 'a: 1' });
  const changes: ConfigChange[] = [];
  store.watch((change) => changes.push(change), lab.stop.signal).catch(() => undefined);
  await until(() => changes.length === 1);
  expect(summary(changes)).toStrictEqual(['web']);
});

test('watch() keeps the last valid content while the ConfigMap cannot be understood', async () => {
  lab.server.edit({ web: 'a: 1' });
  const { store, changes } = await lab.watched();
  lab.server.edit({ web: 'a: [', db: 'new: 1' });
  lab.server.edit({ web: 'a: [', db: 'new: 1', appEnabled: 'true' });
  await until(() => changes.length === 1);
  expect(store.state).toMatchObject({ type: 'invalid', error: { code: 'CONFIG_MAP_INVALID' } });
  expect([...store.content.sections]).toStrictEqual([['web', { a: 1 }]]);
  lab.server.edit({ web: 'a: 1' });
  await until(() => changes.length === 2);
  expect(store.state).toStrictEqual({ type: 'valid' });
  lab.server.edit({ web: 'a: [' });
  lab.server.edit({ web: 'a: 2' });
  expect(await lab.fence(changes)).toStrictEqual([
    'invalid',
    'valid',
    'invalid',
    'valid',
    'web',
    'fenceEnabled',
  ]);
});

test('watch() falls back to nothing when the ConfigMap is deleted, and notices the next one', async () => {
  lab.server.edit({ global: 'a: 1', web: 'b: 1', webEnabled: 'true' });
  const { store, changes } = await lab.watched();
  lab.server.delete();
  await until(() => changes.length === 1);
  expect(store.content.global).toBeUndefined();
  expect(store.content.sections.size + store.content.flags.size).toBe(0);
  lab.server.edit({ webEnabled: 'true' });
  await until(() => changes.length === 2);
  expect(summary(changes)).toStrictEqual(['global web webEnabled', 'webEnabled']);
});

test('watch() notices a ConfigMap that was deleted after it was loaded', async () => {
  lab.server.edit({ webEnabled: 'true' });
  const store = lab.newStore();
  await store.load(new AbortController().signal);
  lab.server.delete();
  store.watch(() => undefined, lab.stop.signal).catch(() => undefined);
  await until(() => store.content.flags.size === 0);
  expect(store.state).toEqual({ type: 'valid' });
});

test('watch() believes a deletion only when the ConfigMap cannot be read by its name either', async () => {
  lab.server.edit({ webEnabled: 'true' });
  const { store, changes } = await lab.watched();
  lab.server.intercept('GET', () => ({ type: 'refuse', status: 500, reason: 'InternalError' }));
  lab.server.delete();
  await until(() => lab.warnings.length === 1);
  expect(store.content.flags.size).toBe(1);
  await lab.clock.advance(1_000);
  await until(() => changes.length === 1);
  expect(store.content.flags.size).toBe(0);
});

test('watch() takes a list that is refused as unknown for no deletion', async () => {
  lab.server.edit({ webEnabled: 'true' });
  const { store, changes } = await lab.watched();
  const reads = lab.server.count('GET');
  lab.isKindServed = false;
  lab.server.intercept('WATCH', () => ({ type: 'refuse', status: 410, reason: 'Expired' }));
  // The first request after the break reads the version of the store.
  for (const status of [404, 404, 404])
    lab.server.intercept('LIST', () => ({ type: 'refuse', status, reason: '' }));
  lab.server.breakWatches();
  const isBack = (): boolean => lab.server.openWatches === 1 && lab.server.count('GET') > reads;
  const isPausing = (): boolean => lab.clock.pendingDelaysMs.some((delayMs) => delayMs <= 30_000);
  while (!isBack()) {
    await until(() => isBack() || isPausing());
    if (isPausing()) await lab.clock.advance(Math.min(...lab.clock.pendingDelaysMs));
  }
  expect(await lab.fence(changes)).toStrictEqual(['fenceEnabled']);
  expect(store.content.flags.size).toBe(2);
});

test('watch() goes on when the connection breaks, and tries again when it cannot begin', async () => {
  lab.server.edit({ web: 'a: 1' });
  const store = lab.newStore();
  await store.load(NEVER);
  const changes: ConfigChange[] = [];
  lab.server.intercept('LIST', () => ({ type: 'refuse', status: 503, reason: 'ServiceUnavailable' }));
  store.watch((change) => changes.push(change), lab.stop.signal).catch(() => undefined);
  await until(() => lab.warnings.length === 1);
  expect(lab.warnings[0]?.message).toBe('cannot watch the ConfigMap, will retry');
  await lab.clock.advance(1_000);
  await until(() => lab.server.openWatches === 1);
  lab.server.breakWatches();
  lab.server.edit({ web: 'a: 2' });
  await until(() => lab.clock.pendingDelaysMs.some((delayMs) => delayMs <= 1_000));
  await lab.clock.advance(1_000);
  await until(() => changes.length === 1);
  expect(summary(changes)).toStrictEqual(['web']);
});

test('watch() rejects with the reason of the abort, whenever it comes', async () => {
  const store = lab.newStore();
  await expect(store.watch(() => undefined, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  const running = store.watch(() => undefined, lab.stop.signal);
  await until(() => lab.server.openWatches === 1);
  lab.stop.abort(new Error('late'));
  await expect(running).rejects.toThrow('late');
});

test('documents behind the first one of a section are warned of', async () => {
  lab.server.edit({ web: 'a: 1\n---\nb: 2\n', global: 'a: 1\n---\nb: 2\n', db: '---\na: 1\n' });
  expect((await lab.newStore().load(NEVER)).global).toStrictEqual({ a: 1 });
  expect(lab.warnings).toMatchObject([
    {
      message: 'only the first YAML document of a section of the ConfigMap is used',
      fields: { keys: ['web', 'global'] },
    },
  ]);
});

test('binaryData is ignored with a warning', async () => {
  lab.server.edit({ web: 'a: 1' }, { binaryData: { db: 'e30=' } });
  expect([...(await lab.newStore().load(NEVER)).sections.keys()]).toStrictEqual(['web']);
  expect(lab.warnings).toMatchObject([
    { message: 'binaryData of the ConfigMap is ignored', fields: { keys: ['db'] } },
  ]);
});
