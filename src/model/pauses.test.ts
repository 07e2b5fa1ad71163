import { type LogFields, type Logger, silentLogger } from '@addon-operator/base/log';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { createSharedReflectors } from '@addon-operator/kube-client/reflector-shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMapServer } from '../../test/support/config-map-server.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { plainClient } from '../../test/support/plain-client.ts';
import { ALL_MODULES, Pauses } from './pauses.ts';

const HOUR_MS = 3_600_000;
const { signal } = new AbortController();

let server: ConfigMapServer;
let client: HttpKubeClient;
let clock: FakeClock;
let reported: (readonly [string, LogFields])[];
const note = (fields: LogFields, message: string): void => {
  reported.push([message, fields]);
};
const log: Logger = { ...silentLogger, info: note, warn: note };

beforeEach(async () => {
  server = await ConfigMapServer.start();
  reported = [];
  clock = new FakeClock(Date.parse('2026-05-31T17:00:00Z'));
  client = plainClient(server.url, clock);
});

afterEach(async () => {
  client.close();
  await server.stop();
});

async function loaded(): Promise<Pauses> {
  const reflectors = createSharedReflectors({
    kube: client,
    clock,
    random: () => 0,
    log: silentLogger,
    rediscover: async (known) => known,
  });
  const hasModule = (name: string): boolean => ['web', 'dns'].includes(name);
  const deps = { kube: client, reflectors, ref: server.ref, clock, random: () => 0, log, hasModule };
  const pauses = new Pauses(deps);
  await pauses.load(signal);
  return pauses;
}

test('pauses are kept in the cluster until they are ended', async () => {
  const pauses = await loaded();
  await pauses.pause('web', { reason: 'disks', untilMs: clock.wallMs() + HOUR_MS }, signal);
  expect(server.object?.data).toEqual({
    web: '{"reason":"disks","since":"2026-05-31T17:00:00.000Z","until":"2026-05-31T18:00:00.000Z"}',
  });
  const later = await loaded();
  expect(later.of('web')).toEqual({
    reason: 'disks',
    sinceMs: clock.wallMs(),
    untilMs: clock.wallMs() + HOUR_MS,
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
  await pauses.pause('web', { reason: 'disks', untilMs: clock.wallMs() + 1_000 }, signal);
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

test('the files that a rollback holds a module at are read again', async () => {
  await (await loaded()).pause('web', { reason: 'rolled back', untilMs: undefined, files: 'abc' }, signal);
  expect((await loaded()).of('web')).toMatchObject({ reason: 'rolled back', files: 'abc' });
});

test('an end that is null is none', async () => {
  server.edit({ web: '{"reason":"disks","until":null}' });
  expect((await loaded()).of('web')).toEqual({ reason: 'disks', sinceMs: 0, untilMs: undefined });
  expect(reported.map(([message]) => message)).toEqual(['paused']);
});

test('watch() reports changes and of the end of a pause, until the signal aborts', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  const watching = pauses.watch(() => {
    changes += 1;
  }, stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: clock.wallMs() + HOUR_MS }, signal);
  await settle();
  expect(changes).toBe(1);
  await clock.advance(HOUR_MS);
  expect(changes).toBe(2);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test('watch() does not miss a pause that ends while a change is reported', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  let hour = Promise.resolve();
  const watching = pauses.watch(() => {
    changes += 1;
    if (changes === 1) hour = clock.advance(HOUR_MS);
  }, stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: clock.wallMs() + HOUR_MS }, signal);
  await settle();
  await hour;
  await clock.advance(0);
  expect(changes).toBe(2);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test('watch() reports the end of a pause within 30 s, when the wall clock is set forward', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  const watching = pauses.watch(() => {
    changes += 1;
  }, stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: clock.wallMs() + HOUR_MS }, signal);
  await clock.advance(60_000);
  expect(changes).toBe(1);
  clock.setWall(HOUR_MS);
  await clock.advance(30_000);
  expect(changes).toBe(2);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test('load() goes on without pauses where the role does not allow to read them', async () => {
  server.edit({ web: '{"reason":"disks"}' });
  server.intercept('GET', () => ({ type: 'refuse', status: 403, reason: 'Forbidden' }));
  expect((await loaded()).of('web')).toBeUndefined();
});

async function until(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 50_000 && !isTrue(); turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  expect(isTrue()).toBe(true);
}

test('follow() takes over what others write, and reports what changed', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  await pauses.follow(stop.signal);
  server.edit({ web: '{"reason":"disks","until":"2026-05-31T18:00:00Z"}' });
  await until(() => pauses.of('web')?.untilMs === Date.parse('2026-05-31T18:00:00Z'));
  server.edit({ dns: 'do not touch' });
  await until(() => pauses.of('web') === undefined);
  expect(pauses.of('dns')?.reason).toBe('do not touch');
  server.delete();
  await until(() => pauses.of('dns') === undefined);
  expect(reported.map(([message, { target }]) => [message, target])).toEqual([
    ['paused', 'web'],
    ['paused', 'dns'],
    ['resumed', 'web'],
    ['resumed', 'dns'],
  ]);
  stop.abort();
});

test('an entry whose time is over is not reported as a pause, and one that is set back to the past is over', async () => {
  server.edit({ web: '{"reason":"disks","until":"2026-05-31T16:00:00Z"}', dns: '{"reason":"night"}' });
  const pauses = await loaded();
  server.edit({ dns: '{"reason":"night","until":"2026-05-31T16:59:59Z"}' });
  await pauses.load(signal);
  await pauses.load(signal);
  expect(pauses.of('dns')).toBeUndefined();
  expect(reported.map(([message, { target }]) => [message, target])).toEqual([
    ['paused', 'dns'],
    ['resumed', 'dns'],
  ]);
});

test('a pause of a module that does not exist is reported as one that does not count yet', async () => {
  server.edit({ webb: 'disks', web: 'disks', ALL: 'night' });
  await loaded();
  const unknown = reported.filter(([message]) => message.startsWith('no module has the name of this pause'));
  expect(unknown.map(([, { target }]) => target)).toEqual(['webb']);
});

test('follow() does not take an older state for news while the operator writes', async () => {
  const pauses = await loaded();
  const stop = new AbortController();
  let changes = 0;
  await pauses.follow(stop.signal);
  const watching = pauses.watch(() => (changes += 1), stop.signal);
  await pauses.pause('web', { reason: 'disks', untilMs: undefined }, signal);
  await until(() => server.count('GET') >= 4);
  await settle();
  expect([pauses.of('web')?.reason, changes]).toEqual(['disks', 1]);
  stop.abort();
  await expect(watching).rejects.toBe(stop.signal.reason);
});

test.each([
  ['{"reason":', 'it is not a JSON object'],
  ['{"until":"2026-05-31T18:00:00Z"}', 'it has no "reason"'],
  ['{"reason":"x","until":"tomorrow"}', '"until" is not a time such as 2030-05-31T18:00:00Z'],
])('an entry %s is reported, and what was known before stays', async (text, problem) => {
  server.edit({ web: '{"reason":"disks","until":"2026-05-31T18:00:00Z"}' });
  const pauses = await loaded();
  server.edit({ web: text, dns: text });
  await pauses.load(signal);
  await pauses.load(signal);
  expect(pauses.of('web')).toMatchObject({ reason: 'disks', untilMs: Date.parse('2026-05-31T18:00:00Z') });
  expect(pauses.of('dns')).toMatchObject({ untilMs: undefined });
  const problems = reported.filter(([, fields]) => fields['problem'] === problem);
  expect(problems.map(([, { target }]) => target)).toEqual(['web', 'dns']);
});

test('follow() says once that the role does not allow to watch, and goes on with what is known', async () => {
  const pauses = await loaded();
  server.intercept('LIST', () => ({ type: 'refuse', status: 403, reason: 'Forbidden' }));
  await pauses.follow(signal);
  expect(reported.map(([message]) => message)).toEqual([
    'cannot watch the ConfigMap of pauses: edits take effect after a restart; grant list and watch on it',
  ]);
});
