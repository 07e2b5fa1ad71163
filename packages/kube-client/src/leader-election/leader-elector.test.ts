import { silentLogger } from '@addon-operator/base/log';
import { shortened } from '@addon-operator/concurrency/jitter';
import { array, assert, asyncProperty, constant, integer, nat, oneof, record } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { type LeaseClient, LeaseServer } from '../../../../test/support/lease-server.ts';
import { LeaderElector, type LeaseLoss } from './leader-elector.ts';
import { LeaseStore } from './lease-store.ts';
import type { LeaseTerm } from './lease-term.ts';

const TIMES = { durationMs: 35_000, renewDeadlineMs: 30_000, retryPeriodMs: 10_000 };
const SECOND = 1_000;

/** A replica in an election. */
class Replica {
  readonly client: LeaseClient;
  readonly elector: LeaderElector;
  readonly terms: LeaseTerm[] = [];
  readonly stop = new AbortController();
  failures = 0;
  loss: LeaseLoss | undefined;

  constructor(server: LeaseServer, clock: FakeClock, identity: string, wallOffsetMs = 0, random = () => 0) {
    this.client = server.client();
    this.elector = new LeaderElector({
      store: new LeaseStore(this.client, { namespace: 'ns', name: 'leader' }, 10_000),
      identity,
      times: TIMES,
      steadyClock: clock,
      random,
      wallClock: { wallMs: () => Date.UTC(2026, 0, 1) + wallOffsetMs + clock.steadyMs() },
      log: silentLogger,
      onTerm: (term) => this.terms.push(term),
      onFailure: () => {
        this.failures += 1;
      },
    });
  }

  get isLeader(): boolean {
    return this.terms.length > 0 && this.loss === undefined;
  }

  /** Acquires and holds in the background. */
  async run(): Promise<void> {
    const { signal } = this.stop;
    const running = (async () => {
      await this.elector.acquire(signal);
      this.loss = await this.elector.hold(signal);
    })();
    running.catch(() => undefined);
    await settle();
  }
}

function lab() {
  const server = new LeaseServer();
  const clock = new FakeClock(0, 1_000_000);
  const replica = (name: string, wallOffsetMs?: number, random?: () => number) =>
    new Replica(server, clock, name, wallOffsetMs, random);
  return { server, clock, replica };
}

test('acquire() creates the Lease, hold() renews it every retry period', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  await one.run();
  expect(server.spec).toEqual({
    holderIdentity: 'one',
    leaseDurationSeconds: 35,
    acquireTime: '2026-01-01T00:16:40.000000Z',
    renewTime: '2026-01-01T00:16:40.000000Z',
    leaseTransitions: 0,
  });
  await clock.advance(60 * SECOND);
  expect(one.client.methods).toEqual(['GET', 'POST', 'PUT', 'PUT', 'PUT', 'PUT', 'PUT', 'PUT']);
  expect(one.terms.at(-1)?.stopAtMs).toBe(clock.steadyMs() + 30 * SECOND);
  expect(server.spec).toMatchObject({ renewTime: '2026-01-01T00:17:40.000000Z' });
});

test('hold() renews with jitter, never later than the retry period', async () => {
  await assert(
    asyncProperty(
      array(integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 20 }),
      async (thousandths) => {
        const { clock, replica } = lab();
        const numbers: number[] = [];
        const random = (): number => {
          numbers.push((thousandths[numbers.length % thousandths.length] ?? 0) / 1_000);
          return numbers.at(-1) ?? 0;
        };
        const one = replica('one', 0, random);
        await one.run();
        await clock.advance(120 * SECOND);
        const pausesMs = one.terms
          .slice(1)
          .map(({ stopAtMs }, index) => stopAtMs - (one.terms[index]?.stopAtMs ?? 0));
        expect(pausesMs.length).toBeGreaterThanOrEqual(12);
        expect(Math.max(...pausesMs)).toBeLessThanOrEqual(TIMES.retryPeriodMs);
        // The first number is for acquire().
        const expected = numbers.slice(1).map((number) => shortened(TIMES.retryPeriodMs, () => number));
        expect(pausesMs).toEqual(expected.slice(0, pausesMs.length));
      },
    ),
    { numRuns: 30 },
  );
});

test('a candidate waits while the holder lives, and takes over when it was silent for the whole duration', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  const two = replica('two', -86_400_000);
  await one.run();
  await two.run();
  await clock.advance(100 * SECOND);
  expect([one.isLeader, two.isLeader, two.elector.holder]).toEqual([true, false, 'one']);
  one.stop.abort(new Error('killed'));
  await clock.advance(34 * SECOND);
  expect(two.isLeader).toBe(false);
  await clock.advance(2 * SECOND);
  expect(two.isLeader).toBe(true);
  expect(server.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
});

test('release() lets another take over within two seconds', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  const two = replica('two');
  await one.run();
  await two.run();
  await clock.advance(15 * SECOND);
  one.stop.abort(new Error('stopping'));
  await one.elector.release(new AbortController().signal);
  await clock.advance(2 * SECOND);
  expect(two.isLeader).toBe(true);
});

test('release() gives a Lease back that another client has written to', async () => {
  const { server, replica } = lab();
  const one = replica('one');
  await one.run();
  one.stop.abort(new Error('stopping'));
  server.edit({ preferredHolder: 'nobody' });
  await one.elector.release(new AbortController().signal);
  expect(server.spec).toMatchObject({ holderIdentity: '', preferredHolder: 'nobody' });
});

test('release() keeps a Lease that another replica has taken', async () => {
  const { server, replica } = lab();
  const one = replica('one');
  await one.run();
  one.stop.abort(new Error('stopping'));
  server.edit({ holderIdentity: 'two' });
  await one.elector.release(new AbortController().signal);
  expect(server.spec).toMatchObject({ holderIdentity: 'two' });
});

test('a holder that cannot reach the server tries every two seconds and is out at the renew deadline, before anyone else is in', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  const two = replica('two');
  await one.run();
  await two.run();
  await clock.advance(25 * SECOND);
  one.client.outcome = 'unreachable';
  await clock.advance(24 * SECOND);
  expect([one.isLeader, one.failures]).toEqual([true, 10]);
  await clock.advance(SECOND);
  expect([one.loss, two.isLeader]).toEqual([{ type: 'not-renewed' }, false]);
  await clock.advance(6 * SECOND);
  expect(two.isLeader).toBe(true);
});

test('a renewal counts from before its request was sent, and one whose response is late does not count', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  await one.run();
  const response = Promise.withResolvers<void>();
  const { client } = one;
  const request = client.request.bind(client);
  client.request = async (...args) => {
    const result = await request(...args);
    await response.promise;
    return result;
  };
  await clock.advance(15 * SECOND);
  response.resolve();
  await settle();
  expect(one.terms.at(-1)?.stopAtMs).toBe(clock.steadyMs() + 25 * SECOND);
  client.request = (_request, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  await clock.advance(25 * SECOND);
  expect(one.loss).toEqual({ type: 'not-renewed' });
});

test('a renewal is not sent after the end of the term, when the process was stopped before it went out', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  await one.run();
  const { client } = one;
  const request = client.request.bind(client);
  const sendBeforeMs: (number | undefined)[] = [];
  client.request = async (sent, signal) => {
    if (sent.method === 'PUT') sendBeforeMs.push(sent.sendBeforeMs);
    return await request(sent, signal);
  };
  await clock.advance(25 * SECOND);
  expect(sendBeforeMs).toEqual(one.terms.slice(0, -1).map(({ stopAtMs }) => stopAtMs));
  expect(sendBeforeMs).toHaveLength(2);
});

test('a renewal whose response was lost is recognised as ours', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  await one.run();
  one.client.outcome = 'applied-but-unanswered';
  await clock.advance(11 * SECOND);
  one.client.outcome = 'ok';
  await clock.advance(2 * SECOND);
  expect([one.isLeader, one.failures]).toEqual([true, 1]);
  expect(one.client.methods.slice(2)).toEqual(['PUT', 'GET', 'PUT']);
});

test('a label that another client sets on the Lease disturbs neither holder nor candidate', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  const two = replica('two');
  await one.run();
  await two.run();
  for (let second = 0; second < 120; second += 1) {
    server.edit({});
    await clock.advance(SECOND);
  }
  expect([one.isLeader, two.isLeader]).toEqual([true, false]);
  one.stop.abort(new Error('killed'));
  for (let second = 0; second < 37; second += 1) {
    server.edit({});
    await clock.advance(SECOND);
  }
  expect(two.isLeader).toBe(true);
});

test('a holder writes a deleted Lease again, and a candidate that knew it does not jump in', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  const two = replica('two');
  await one.run();
  await two.run();
  await clock.advance(21 * SECOND);
  server.delete();
  await clock.advance(60 * SECOND);
  expect([one.isLeader, two.isLeader, server.spec?.['holderIdentity']]).toEqual([true, false, 'one']);
});

test('a candidate that was cut off while the Lease was renewed waits its whole time when it finds it deleted', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  const two = replica('two');
  await one.run();
  await two.run();
  await clock.advance(SECOND);
  two.client.outcome = 'unreachable';
  await clock.advance(36 * SECOND);
  server.delete();
  two.client.outcome = 'ok';
  await clock.advance(2 * SECOND);
  expect([one.isLeader, two.isLeader, server.spec]).toEqual([true, false, undefined]);
  two.client.outcome = 'unreachable';
  await clock.advance(38 * SECOND);
  server.delete();
  two.client.outcome = 'ok';
  await clock.advance(2 * SECOND);
  expect([one.isLeader, two.isLeader, server.spec]).toEqual([true, false, undefined]);
  one.stop.abort(new Error('killed'));
  await clock.advance(37 * SECOND);
  expect(two.isLeader).toBe(true);
});

test('a holder notices at its next renewal that the lease was given to another', async () => {
  const { server, clock, replica } = lab();
  const one = replica('one');
  await one.run();
  server.edit({ holderIdentity: 'two' });
  await clock.advance(10 * SECOND);
  expect(one.loss).toEqual({ type: 'taken', by: 'two' });
});

test('a successor under the same identity takes over at once, and a predecessor that lives notices', async () => {
  const { clock, replica } = lab();
  const one = replica('pod');
  await one.run();
  await clock.advance(5 * SECOND);
  const two = replica('pod');
  await two.run();
  expect(two.isLeader).toBe(true);
  await clock.advance(10 * SECOND);
  expect([one.loss, two.isLeader]).toEqual([{ type: 'taken', by: 'pod' }, true]);
});

test('of several candidates for a free Lease one wins', async () => {
  const { server, clock, replica } = lab();
  const all = ['a', 'b', 'c', 'd'].map((name) => replica(name));
  await Promise.all(all.map((one) => one.run()));
  await clock.advance(20 * SECOND);
  const leaders = all.filter(({ isLeader }) => isLeader);
  expect(leaders.map(({ elector }) => elector.holder)).toEqual([server.spec?.['holderIdentity']]);
});

test('hold() pauses between attempts, when the server responds to every write with a conflict', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  await one.run();
  one.client.methods.splice(0);
  one.client.outcome = 'conflict';
  await clock.advance(10 * SECOND);
  expect([one.failures, one.client.methods.filter((method) => method === 'PUT').length]).toEqual([1, 6]);
});

test('a renewal whose response is read after the end of the term does not count', async () => {
  /** The process is stopped: time passes, and no timer ends. */
  class StoppedClock extends FakeClock {
    stoppedMs = 0;

    override steadyMs(): number {
      return super.steadyMs() + this.stoppedMs;
    }
  }
  const clock = new StoppedClock();
  const one = new Replica(new LeaseServer(), clock, 'one');
  await one.run();
  const request = one.client.request.bind(one.client);
  one.client.request = async (...sent) => {
    const response = await request(...sent);
    if (sent[0].method === 'PUT') clock.stoppedMs = 31 * SECOND;
    return response;
  };
  await clock.advance(10 * SECOND);
  expect([one.loss, one.terms.length]).toEqual([{ type: 'not-renewed' }, 1]);
});

test('acquire() goes on trying while the server is away, and ends when its signal aborts', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  one.client.outcome = 'unreachable';
  await one.run();
  await clock.advance(9 * SECOND);
  expect([one.isLeader, one.failures]).toEqual([false, 5]);
  one.client.outcome = 'ok';
  await clock.advance(2 * SECOND);
  expect(one.isLeader).toBe(true);
  const stop = new AbortController();
  const two = replica('two');
  const acquiring = two.elector.acquire(stop.signal);
  await settle();
  stop.abort(new Error('stopping'));
  await expect(acquiring).rejects.toThrow('stopping');
});

test('acquire() pauses between requests, when the server responds to every write with a conflict', async () => {
  const { clock, replica } = lab();
  const one = replica('one');
  one.client.outcome = 'conflict';
  await one.run();
  await clock.advance(9 * SECOND);
  expect(one.client.methods.filter((method) => method === 'POST')).toHaveLength(5);
  one.client.outcome = 'ok';
  await clock.advance(2 * SECOND);
  expect(one.isLeader).toBe(true);
});

test('no two replicas act at the same time, in any history of network failures, stops and deletions of the Lease', async () => {
  const event = oneof(
    record({ type: constant('wait' as const), seconds: integer({ min: 1, max: 40 }) }),
    record({ type: constant('cut' as const), who: nat(2) }),
    record({ type: constant('deaf' as const), who: nat(2) }),
    record({ type: constant('mend' as const), who: nat(2) }),
    record({ type: constant('die' as const), who: nat(2) }),
    record({ type: constant('delete' as const) }),
  );
  await assert(
    asyncProperty(array(event, { maxLength: 25 }), async (events) => {
      const { server, clock, replica } = lab();
      const all = [replica('a'), replica('b'), replica('c')];
      // A dead leader may have had its last hook killed only when its term ended.
      const isActing = ({ isLeader, terms }: Replica): boolean =>
        isLeader && clock.steadyMs() < (terms.at(-1)?.killAtMs ?? 0);
      await Promise.all(all.map((one) => one.run()));
      await clock.advance(3 * SECOND);
      for (const one of events) {
        const who = 'who' in one ? all[one.who] : undefined;
        if (one.type === 'cut' && who !== undefined) who.client.outcome = 'unreachable';
        if (one.type === 'deaf' && who !== undefined) who.client.outcome = 'applied-but-unanswered';
        if (one.type === 'mend' && who !== undefined) who.client.outcome = 'ok';
        if (one.type === 'die') who?.stop.abort(new Error('killed'));
        if (one.type === 'delete') server.delete();
        for (let second = 0; second < (one.type === 'wait' ? one.seconds : 0); second += 1) {
          await clock.advance(SECOND);
          expect(all.filter(isActing).length).toBeLessThanOrEqual(1);
        }
      }
    }),
    { numRuns: 200 },
  );
});
