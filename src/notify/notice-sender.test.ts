import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { FLUSH_MS, MAX_QUEUED, type NoticeResult, NoticeSender, TIMEOUT_MS } from './notice-sender.ts';
import type { Notice } from './notices.ts';

/** A status, no connection, or no response at all. */
type Response = number | 'reset' | 'silent';

function noticeOf(id: string, module = 'web'): Notice {
  return {
    id,
    type: 'problem',
    module,
    status: 'failing',
    since: '2026-01-01T00:00:00.000Z',
    problemSince: '2026-01-01T00:00:00.000Z',
    message: 'helm failed',
    remedy: null,
    version: null,
    revision: null,
  };
}

/** A sender whose receiver responds as the script says, and at its end as in the last entry. */
function start(...script: readonly Response[]) {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const received: string[] = [];
  const results: NoticeResult[] = [];
  const stop = new AbortController();
  const sender = new NoticeSender({
    clock,
    random: () => 0.5,
    log: log.logger,
    count: (result) => results.push(result),
    post: async ({ id }, signal) => {
      const response = script[Math.min(received.length, script.length - 1)] ?? 200;
      received.push(id);
      if (response === 'reset') throw new Error('the connection was reset');
      if (response !== 'silent') return response;
      return await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  const ended = sender.run(stop.signal);
  const messages = () => log.records.map(({ msg }) => msg);
  return { clock, received, results, stop, sender, ended, messages, log };
}

test('a notice is sent again with pauses that double up to a minute, until it is accepted', async () => {
  await using stack = new AsyncDisposableStack();
  const lab = start(500, 'reset', 503, 408, 429, 500, 500, 500, 500, 200);
  stack.defer(() => lab.stop.abort());
  lab.sender.add(noticeOf('a'));
  lab.sender.add(noticeOf('b'));
  await settle();
  const pauses: (number | undefined)[] = [];
  while (lab.received.length < 10) {
    pauses.push(lab.clock.pendingDelaysMs[0]);
    await lab.clock.advance(lab.clock.pendingDelaysMs[0] ?? 0);
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(lab.received.slice(8)).toEqual(['a', 'a', 'b']);
  expect(lab.results.slice(8)).toEqual(['failed', 'sent', 'sent']);
  expect(lab.messages()).toEqual([
    'a notification cannot be sent, which is tried again',
    'notifications are sent again',
  ]);
});

test('a receiver that never responds is given up after 10 s', async () => {
  const lab = start('silent', 200);
  lab.sender.add(noticeOf('a'));
  await settle();
  await lab.clock.advance(TIMEOUT_MS);
  expect(lab.results).toEqual(['failed']);
  expect(lab.log.records).toMatchObject([{ error: 'no response within 10 s', module: 'web' }]);
  await lab.clock.advance(1_000);
  expect(lab.results).toEqual(['failed', 'sent']);
  lab.stop.abort();
  await lab.ended;
});

test.each([400, 401, 404, 410, 301, 307])(
  'a notice is dropped, when the receiver responds %i',
  async (status) => {
    const lab = start(status, status, 204);
    for (const id of ['a', 'b', 'c']) lab.sender.add(noticeOf(id));
    await settle();
    expect(lab.received).toEqual(['a', 'b', 'c']);
    expect(lab.results).toEqual(['refused', 'refused', 'sent']);
    expect(lab.messages()).toEqual([
      'a notification was refused, and is dropped',
      'notifications are sent again',
    ]);
    lab.stop.abort();
    await lab.ended;
  },
);

test('a full queue drops the oldest notice that a later one of its module follows, and counts it', async () => {
  const lab = start(500, 200);
  lab.sender.add(noticeOf('first', 'first'));
  await settle();
  lab.sender.add(noticeOf('db-0', 'db'));
  for (let index = 0; index <= MAX_QUEUED; index += 1) lab.sender.add(noticeOf(`web-${index}`));
  expect(lab.results).toEqual(['failed', 'dropped', 'dropped']);
  await lab.clock.advance(1_000);
  expect(lab.received.slice(1, 5)).toEqual(['first', 'db-0', 'web-2', 'web-3']);
  expect(lab.received.at(-1)).toBe(`web-${MAX_QUEUED}`);
  lab.stop.abort();
  await lab.ended;
});

test('a full queue of as many modules drops the oldest notice, and the stop says how many were not sent', async () => {
  const lab = start(500);
  for (let index = 0; index <= MAX_QUEUED + 1; index += 1) {
    lab.sender.add(noticeOf(`${index}`, `module-${index}`));
    if (index === 0) await settle();
  }
  expect(lab.results).toEqual(['failed', 'dropped']);
  lab.stop.abort();
  await lab.ended;
  expect(lab.log.records.at(-1)).toMatchObject({ unsent: MAX_QUEUED + 1 });
});

test('a notice that waits already is not queued twice', async () => {
  const lab = start(500, 200);
  lab.sender.add(noticeOf('a'));
  await settle();
  for (const id of ['a', 'b', 'b']) lab.sender.add(noticeOf(id));
  await lab.clock.advance(1_000);
  expect(lab.received).toEqual(['a', 'a', 'b']);
  lab.stop.abort();
  await lab.ended;
});

test('at a stop what waits is sent at once, each notice once', async () => {
  const lab = start(500, 200, 200, 500);
  for (const id of ['a', 'b', 'c', 'd']) lab.sender.add(noticeOf(id));
  await settle();
  lab.stop.abort();
  await lab.ended;
  expect(lab.received).toEqual(['a', 'a', 'b', 'c']);
  expect(lab.messages().at(-1)).toBe('notifications were not sent before the stop');
});

test('a stop waits for at most 2 s for a receiver that does not respond', async () => {
  const lab = start('silent');
  lab.sender.add(noticeOf('a'));
  await settle();
  lab.stop.abort();
  await lab.clock.advance(FLUSH_MS - 1);
  expect(lab.results).toEqual([]);
  await lab.clock.advance(1);
  await lab.ended;
  expect(lab.clock.pendingDelaysMs).toEqual([]);
});

test('nothing more is sent, when another replica leads', async () => {
  const lab = start(500, 200);
  lab.sender.add(noticeOf('a'));
  await settle();
  lab.stop.abort(new OperatorError('LEASE_LOST', 'the lease was lost'));
  await lab.ended;
  expect(lab.received).toEqual(['a']);
});
