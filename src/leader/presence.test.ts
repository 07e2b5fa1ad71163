import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { type LeaseClient, LeaseServer } from '../../test/support/lease-server.ts';
import { LeaseStore } from './lease-store.ts';
import { showPresence } from './presence.ts';

const PERIOD_MS = 30_000;

/** Operators on one namespace; each has a log of its own. */
function lab() {
  const clock = new FakeClock(1_000_000);
  const server = new LeaseServer();
  const operator = (identity: string, client: LeaseClient = server.client()) => {
    const log = new CapturedLog(clock);
    const stop = new AbortController();
    const store = new LeaseStore(client, { namespace: 'ns', name: 'presence' }, 1_000);
    const ended = showPresence(
      { store, identity, steadyClock: clock, wallClock: clock, log: log.logger },
      stop.signal,
    );
    const others = () => log.records.filter(({ level }) => level === 'warn').map(({ other }) => other);
    return { client, stop, ended, others, log };
  };
  return { clock, server, operator };
}

test('an operator that is alone leaves signs of life and warns of nobody', async () => {
  const { clock, server, operator } = lab();
  const one = operator('one');
  await clock.advance(10 * PERIOD_MS);
  expect(server.spec).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 90 });
  expect(one.others()).toEqual([]);
  one.stop.abort(new Error('stopping'));
  expect(await one.ended).toBeUndefined();
});

test('a successor does not warn of a predecessor that is dead', async () => {
  const { clock, operator } = lab();
  const one = operator('one');
  await clock.advance(3 * PERIOD_MS);
  one.stop.abort(new Error('killed'));
  const two = operator('two');
  await clock.advance(10 * PERIOD_MS);
  expect(two.others()).toEqual([]);
});

test('two that live warn of each other, once', async () => {
  const { clock, operator } = lab();
  const one = operator('one');
  await clock.advance(PERIOD_MS / 2);
  const two = operator('two');
  await clock.advance(10 * PERIOD_MS);
  expect([one.others(), two.others()]).toEqual([['two'], ['one']]);
});

test('a server that is away, or somebody who deletes the Lease, is no reason to warn', async () => {
  const { clock, server, operator } = lab();
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
