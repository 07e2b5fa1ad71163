import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMapServer } from '../../test/support/config-map-server.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { plainClient } from '../../test/support/plain-client.ts';
import type { HttpKubeClient } from '../kube/http-kube-client.ts';
import { silentLogger } from '../lib/log.ts';
import { ALL_MODULES, Pauses } from './pauses.ts';

const HOUR_MS = 3_600_000;
const { signal } = new AbortController();

let server: ConfigMapServer;
let client: HttpKubeClient;
let clock: FakeClock;

beforeEach(async () => {
  server = await ConfigMapServer.start();
  clock = new FakeClock(Date.parse('2026-05-31T17:00:00Z'));
  client = plainClient(server.url, clock);
});

afterEach(async () => {
  client.close();
  await server.stop();
});

async function loaded(): Promise<Pauses> {
  const pauses = new Pauses({ kube: client, ref: server.ref, clock, log: silentLogger });
  await pauses.load(signal);
  return pauses;
}

test('pauses are kept in the cluster until they are ended', async () => {
  const pauses = await loaded();
  await pauses.pause('web', { reason: 'disks', untilMs: clock.now() + HOUR_MS }, signal);
  expect(server.object?.data).toEqual({
    web: '{"reason":"disks","since":"2026-05-31T17:00:00.000Z","until":"2026-05-31T18:00:00.000Z"}',
  });
  const later = await loaded();
  expect(later.of('web')).toEqual({
    reason: 'disks',
    sinceMs: clock.now(),
    untilMs: clock.now() + HOUR_MS,
  });
  expect(later.of('dns')).toBeUndefined();
  expect(await later.resume('web', signal)).toBe(true);
  expect(await later.resume('web', signal)).toBe(false);
  expect(server.object?.data).toEqual({});
});

test('a pause of all modules counts where a module has none of its own', async () => {
  const pauses = await loaded();
  await pauses.pause(ALL_MODULES, { reason: 'night', untilMs: undefined }, signal);
  await pauses.pause('web', { reason: 'disks', untilMs: undefined }, signal);
  expect([pauses.of('web')?.reason, pauses.isOfAll('web')]).toEqual(['disks', false]);
  expect([pauses.of('dns')?.reason, pauses.isOfAll('dns')]).toEqual(['night', true]);
});

test('a pause whose time is over counts for nothing, and goes with the next write', async () => {
  const pauses = await loaded();
  await pauses.pause('web', { reason: 'disks', untilMs: clock.now() + 1_000 }, signal);
  await clock.advance(1_000);
  expect(pauses.of('web')).toBeUndefined();
  await pauses.pause('dns', { reason: 'x', untilMs: undefined }, signal);
  expect(Object.keys(server.object?.data ?? {})).toEqual(['dns']);
});

test('what others write at the same time is kept', async () => {
  const pauses = await loaded();
  server.edit({});
  server.intercept('PUT', () => {
    server.edit({ dns: '{"reason":"others"}' });
    return undefined;
  });
  await pauses.pause('web', { reason: 'disks', untilMs: undefined }, signal);
  expect(Object.keys(server.object?.data ?? {}).toSorted()).toEqual(['dns', 'web']);
});

test('an entry that cannot be read is a pause all the same', async () => {
  server.edit({ web: 'do not touch' });
  expect((await loaded()).of('web')).toEqual({ reason: 'do not touch', sinceMs: 0, untilMs: undefined });
});

test('watch() tells of changes and of the end of a pause, until the signal aborts', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  const watching = pauses.watch(() => {
    changes += 1;
  }, stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: clock.now() + HOUR_MS }, signal);
  await settle();
  expect(changes).toBe(1);
  await clock.advance(HOUR_MS);
  expect(changes).toBe(2);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test('watch() does not miss a pause that ends while a change is told', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  let hour = Promise.resolve();
  const watching = pauses.watch(() => {
    changes += 1;
    if (changes === 1) hour = clock.advance(HOUR_MS);
  }, stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: clock.now() + HOUR_MS }, signal);
  await settle();
  await hour;
  await clock.advance(0);
  expect(changes).toBe(2);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test('load() goes on without pauses where the role does not allow to read them', async () => {
  server.edit({ web: '{"reason":"disks"}' });
  server.intercept('GET', () => ({ type: 'refuse', status: 403, reason: 'Forbidden' }));
  expect((await loaded()).of('web')).toBeUndefined();
});
