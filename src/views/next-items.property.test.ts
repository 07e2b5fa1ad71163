import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { act, anyOptions, anySteps, HOOKS, MODULES } from '../../test/support/operator-histories.ts';
import { moduleFor, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { moduleNameOf } from '../hooks/hook.ts';
import type { RunView } from '../journal/run-view.ts';
import { startUp } from '../operator/lifecycle.ts';
import { allRuntimes } from '../queues/binding-problems.ts';
import type { NextItem } from '../status/next-item.ts';
import { nextItems } from './next-items.ts';

const DAY_MS = 86_400_000;
const LOOKS = 4;

test('in any history what is announced happens at that time, not before, and the log has its event', async () => {
  let happened = 0;
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const modules = MODULES.map((module) => moduleFor(module, 1));
      await using lab = await operatorLab(modules, HOOKS, options);
      startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
      for (const [what, turns] of steps) {
        await act(lab, what);
        await lab.turns(turns);
      }
      for (let look = 0; look < LOOKS; look += 1) {
        await quiet(lab);
        await checkTicks(lab);
        const [first, ...others] = announced(lab);
        if (first === undefined) return;
        happened += 1;
        const before = newest(lab);
        const waitMs = Date.parse(first.at) - lab.clock.wallMs();
        await lab.clock.advance(Math.max(0, waitMs - 1));
        await quiet(lab);
        const early = waitMs > 0 ? since(lab, before) : [];
        expect(early).toEqual([]);
        await lab.clock.advance(1);
        await quiet(lab);
        const runs = since(lab, before);
        // Several may be due at once, and the first of them can make the others pointless.
        const due = [first, ...others.filter(({ at }) => at === first.at)];
        expect({ due, runs, isSeen: due.some((item) => hasHappened(lab, item, runs)) }).toMatchObject({
          isSeen: true,
        });
        const logged = new Set(lab.log.records.map((record) => record['event.id']));
        expect(runs.filter(({ eventId }) => eventId !== '' && !logged.has(eventId))).toEqual([]);
      }
    }),
    { numRuns: 15, interruptAfterTimeLimit: 6_000 },
  );
  expect(happened).toBeGreaterThan(0);
}, 60_000);

/** A tick is announced for the hooks that would run at it, and for no others. */
async function checkTicks(lab: OperatorLab): Promise<void> {
  const scheduled = items(lab).filter(({ kind }) => kind === 'schedule');
  const takers: string[] = [];
  for (const runtime of allRuntimes(lab.operator))
    for (const binding of runtime.hook.config.schedule) {
      const ticks = countTicks(lab);
      lab.operator.router.onScheduleTick(runtime, binding);
      if (countTicks(lab) > ticks) takers.push(moduleNameOf(runtime.hook));
    }
  expect(scheduled.map(({ module }) => module)).toEqual(takers);
  await quiet(lab);
}

function countTicks(lab: OperatorLab): number {
  const tasks = lab.operator.queues.all.flatMap(({ entries }) => entries.map(({ task }) => task));
  return tasks.filter(({ trigger }) => trigger === 'Schedule').length;
}

/** The items that are announced with a time of their own: crontabs have no clock here. */
function announced(lab: OperatorLab): readonly NextItem[] {
  return items(lab).filter(({ kind }) => kind !== 'schedule');
}

function items({ operator, pauses }: OperatorLab): readonly NextItem[] {
  const parts = { ...operator, pauses: { of: (name: string) => pauses.get(name), isOfAll: () => false } };
  return nextItems(parts, DAY_MS);
}

/** A retry is an attempt of the task; a check of a module waits behind what blocks its queue. */
function hasHappened(lab: OperatorLab, { kind, module, hook }: NextItem, runs: readonly RunView[]): boolean {
  if (kind === 'retry') return runs.some((run) => run.module === module && run.hook === hook);
  const waits = lab.operator.queues.all.flatMap(({ entries }) => entries.map(({ task }) => task));
  return (
    runs.some((run) => run.module === module) ||
    waits.some((task) => task.type === 'ModuleRun' && task.module === module)
  );
}

/** Until no run begins or ends any more without time. */
async function quiet(lab: OperatorLab): Promise<void> {
  let revision = -1;
  while (revision !== lab.journal.revision) {
    revision = lab.journal.revision;
    await lab.settle();
  }
}

function newest({ journal }: OperatorLab): number {
  return Number(journal.list({ limit: 1 }).runs[0]?.id ?? 0);
}

function since({ journal }: OperatorLab, before: number): readonly RunView[] {
  return journal
    .list({ limit: 1_000 })
    .runs.filter(({ id, parent }) => Number(id) > before && parent === null);
}
