import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { type LeaseObject, LeaseStore } from '@addon-operator/kube-client/leader-election/lease-store';
import { leaseChange } from '@addon-operator/kube-client/leader-election/lease-watch';
import { describe, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { type LeaseClient, LeaseServer } from '../../test/support/lease-server.ts';
import { showPresence } from './presence.ts';

const PERIOD_MS = 30_000;

/** Operators on one namespace; each has a log of its own. */
function lab(mayWatch = true) {
  const clock = new FakeClock(1_000_000);
  const server = new LeaseServer();
  const operator = (identity: string, client: LeaseClient = server.client()) => {
    client.mayWatch = mayWatch;
    const log = new CapturedLog(clock);
    const stop = new AbortController();
    const store = new LeaseStore(client, { namespace: 'ns', name: 'presence' }, 1_000);
    const deps = { kube: client, clock, random: () => 0 };
    const changed = (lease: LeaseObject, signal: AbortSignal) => leaseChange(deps, store.ref, lease, signal);
    const ended = showPresence(
      { store, changed, identity, steadyClock: clock, wallClock: clock, log: log.logger },
      stop.signal,
    );
    const others = () => log.records.filter(({ level }) => level === 'warn').map(({ other }) => other);
    return { client, stop, ended, others, log };
  };
  return { clock, server, operator };
}

describe.each([
  { name: 'with a watch', mayWatch: true },
  { name: 'without permission to watch', mayWatch: false },
])('$name', ({ mayWatch }) => {
  test('an operator that is alone renews its Lease and logs no warning', async () => {
    const { clock, server, operator } = lab(mayWatch);
    const one = operator('one');
    await clock.advance(10 * PERIOD_MS);
    expect(server.spec).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 90 });
    expect(one.others()).toEqual([]);
    one.stop.abort(new Error('stopping'));
    expect(await one.ended).toBeUndefined();
  });

  test('a successor does not warn of a predecessor that is dead', async () => {
    const { clock, operator } = lab(mayWatch);
    const one = operator('one');
    await clock.advance(3 * PERIOD_MS);
    one.stop.abort(new Error('killed'));
    const two = operator('two');
    await clock.advance(10 * PERIOD_MS);
    expect(two.others()).toEqual([]);
  });

  test('two that live warn of each other, once', async () => {
    const { clock, operator } = lab(mayWatch);
    const one = operator('one');
    await clock.advance(PERIOD_MS / 2);
    const two = operator('two');
    await clock.advance(10 * PERIOD_MS);
    expect([one.others(), two.others()]).toEqual([['two'], ['one']]);
  });

  test('an unreachable server, or a deleted Lease, is no reason to warn', async () => {
    const { clock, server, operator } = lab(mayWatch);
    const one = operator('one');
    await clock.advance(2 * PERIOD_MS);
    one.client.outcome = 'unreachable';
    await clock.advance(2 * PERIOD_MS);
    one.client.outcome = 'applied-but-unanswered';
    await clock.advance(2 * PERIOD_MS);
    one.client.outcome = 'ok';
    server.delete();
    await clock.advance(2 * PERIOD_MS);
    expect([one.others(), server.spec?.['holderIdentity']]).toEqual([[], 'one']);
  });
});

test('an operator that is alone sends no requests but one for its next watch when the server ends one', async () => {
  const { clock, server, operator } = lab();
  const one = operator('one');
  await clock.advance(10_000);
  expect(one.client.methods).toEqual(['GET', 'POST', 'WATCH']);
  for (let minutes = 0; minutes < 5; minutes += 1) {
    await clock.advance(2 * PERIOD_MS);
    server.bookmark();
    await settle();
  }
  expect(one.client.methods).toEqual(['GET', 'POST', 'WATCH']);
  server.closeWatches();
  await settle();
  expect(one.client.methods).toEqual(['GET', 'POST', 'WATCH', 'WATCH']);
});

test('an operator writes its name ten seconds after its start, and reacts to another one after half a minute', async () => {
  const { clock, server, operator } = lab();
  const one = operator('one');
  await clock.advance(9_999);
  expect(one.client.methods).toEqual([]);
  await clock.advance(1);
  expect(server.spec).toMatchObject({ holderIdentity: 'one' });
  const two = operator('two');
  await clock.advance(10_000 + PERIOD_MS - 1);
  expect(one.others()).toEqual([]);
  await clock.advance(1);
  expect([one.others(), two.others()]).toEqual([['two'], []]);
  await clock.advance(PERIOD_MS);
  expect(two.others()).toEqual(['one']);
});

test('an operator reads the Lease after its watch broke, and does not write what is still there', async () => {
  const { clock, server, operator } = lab();
  const one = operator('one');
  await clock.advance(PERIOD_MS);
  // Long before its time.
  server.closeWatches();
  await settle();
  await clock.advance(PERIOD_MS);
  expect(one.client.methods).toEqual(['GET', 'POST', 'WATCH', 'GET', 'WATCH']);
});

test('without permission to watch, an operator reads and writes the Lease every half minute', async () => {
  const { clock, operator } = lab(false);
  const one = operator('one');
  await clock.advance(3 * PERIOD_MS);
  expect(one.client.methods).toEqual(['GET', 'POST', 'WATCH', 'GET', 'PUT', 'GET', 'PUT']);
});

test('an operator writes its name again half a minute after the Lease was deleted', async () => {
  const { clock, server, operator } = lab();
  operator('one');
  await clock.advance(PERIOD_MS);
  server.delete();
  await settle();
  expect(server.spec).toBeUndefined();
  await clock.advance(PERIOD_MS);
  expect(server.spec).toMatchObject({ holderIdentity: 'one' });
});

test('without permission it ends, in silence', async () => {
  const { clock, server, operator } = lab();
  const client = server.client();
  client.request = () => Promise.reject(new KubeApiError('no', { status: 403, reason: 'Forbidden' }));
  const one = operator('one', client);
  await clock.advance(PERIOD_MS);
  await settle();
  await one.ended;
  expect(one.log.records.map(({ level }) => level)).toEqual(['debug']);
});
