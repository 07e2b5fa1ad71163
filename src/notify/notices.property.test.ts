import { silentLogger } from '@addon-operator/base/log';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { ModuleStatus, ModuleSummary } from '../status/module-explanation.ts';
import { NoticeSender } from './notice-sender.ts';
import { dueNotices, FLAPPING_MS, isProblem, type Notice, PROBLEMS, type SentNotices } from './notices.ts';

const MODULES = ['a', 'b', 'c'];
const STATES: readonly ModuleStatus[] = ['ready', 'ready', 'starting', ...PROBLEMS, 'failing'];
const LOOK_MS = 1_000;

const history = fc.array(
  fc.record({
    afterLooks: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 400 })),
    module: fc.constantFrom(...MODULES),
    status: fc.constantFrom(...STATES),
  }),
  { maxLength: 12 },
);
const responses = fc.array(fc.constantFrom(200, 500, 429, 'reset', 'silent'), { maxLength: 40 });

function summaryOf(module: string, status: ModuleStatus, since: string): ModuleSummary {
  const about = { source: null, reason: '', waitsFor: [], version: null, revision: null, nextTryAt: null };
  return { ...about, module, status, since, isEnabled: true, lastError: null, paused: null };
}

/** A sink that fails as the script says and then works, and an operator that looks each second. */
class Lab {
  readonly clock = new FakeClock();
  readonly due: (Notice & { readonly atMs: number })[] = [];
  /** Also those that it did not accept. */
  readonly received: Notice[] = [];
  readonly accepted: Notice[] = [];
  readonly current = new Map<string, ModuleSummary>();
  readonly sender: NoticeSender;
  #sent: SentNotices = new Map();

  constructor(script: readonly (number | string)[]) {
    const left = [...script];
    this.sender = new NoticeSender({
      clock: this.clock,
      random: () => 0.5,
      log: silentLogger,
      count: () => undefined,
      post: async (notice, signal) => {
        const response = left.shift() ?? 200;
        // A receiver may have processed a request without a response.
        this.received.push(notice);
        if (response === 200) this.accepted.push(notice);
        if (typeof response === 'number') return response;
        if (response === 'reset') throw new Error('reset');
        return await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    });
  }

  set(module: string, status: ModuleStatus): void {
    const since = new Date(this.clock.wallMs()).toISOString();
    if (this.current.get(module)?.status !== status)
      this.current.set(module, summaryOf(module, status, since));
  }

  async look(times: number): Promise<void> {
    for (let look = 0; look < times; look += 1) {
      const now = { steadyMs: this.clock.steadyMs(), iso: '' };
      const rules = { states: PROBLEMS, repeatMs: undefined };
      const { sent, notices } = dueNotices(this.#sent, [...this.current.values()], now, rules);
      this.#sent = sent;
      for (const notice of notices) {
        this.due.push({ ...notice, atMs: now.steadyMs });
        this.sender.add(notice);
      }
      await this.clock.advance(LOOK_MS);
    }
  }
}

test('a sink that fails gets every notice at least once, in the order of each module, and the last state', async () => {
  await fc.assert(
    fc.asyncProperty(history, responses, async (changes, script) => {
      const lab = new Lab(script);
      const stop = new AbortController();
      const ended = lab.sender.run(stop.signal);
      for (const { afterLooks, module, status } of changes) {
        lab.set(module, status);
        await lab.look(afterLooks);
      }
      // By then all that was put off is due, and the script of the sink has ended.
      await lab.look(FLAPPING_MS / LOOK_MS + 1);
      await lab.clock.advance(script.length * 70_000);
      stop.abort();
      await ended;
      for (const module of MODULES) {
        const idsOf = (notices: readonly Notice[]) =>
          notices.filter((notice) => notice.module === module).map(({ id }) => id);
        const received = idsOf(lab.received);
        expect(received.filter((id, index) => id !== received[index - 1])).toEqual(idsOf(lab.due));
        expect(idsOf(lab.accepted)).toEqual(idsOf(lab.due));
        const state = lab.current.get(module);
        const last = lab.due.findLast((notice) => notice.module === module);
        expect(last ?? NONE).toMatchObject(expectedLast(state));
      }
      for (const [index, { module, status, atMs }] of lab.due.entries()) {
        const next = lab.due
          .slice(index + 1)
          .find((each) => each.module === module && each.status === status);
        expect((next?.atMs ?? Number.POSITIVE_INFINITY) - atMs).toBeGreaterThanOrEqual(FLAPPING_MS);
      }
    }),
    { numRuns: 40 },
  );
});

const NONE = { type: 'resolved' };

/** The last problem is known, and no problem is thought to last that does not. */
function expectedLast(state: ModuleSummary | undefined): object {
  if (state === undefined || state.status === 'ready') return NONE;
  return isProblem(state.status) ? { status: state.status, since: state.since } : {};
}
