import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RUN_START } from '../../test/support/run-start.ts';
import { Journal } from './journal.ts';
import type { JournalRun } from './run.ts';

const RUN = { ...RUN_START, module: '' };

const steps = fc.array(
  fc.record({
    act: fc.constantFrom('begin', 'end', 'end', 'look'),
    which: fc.nat({ max: 9 }),
  }),
  { maxLength: 200 },
);

/** More than the journal keeps, and more than it keeps changes. */
const MANY_THAT_GO_ON = Array.from({ length: 5 }, () => ({ act: 'begin', which: 0 }));

interface Step {
  readonly act: string;
  readonly which: number;
}

/** Takes the steps, and gives what a reader of the changes knows at the end, and what the journal has. */
function follow(steps: readonly Step[], runs: number) {
  const journal = new Journal({ clock: new FakeClock(), limits: { runs } });
  const going: JournalRun[] = [];
  let known = new Map<string, string>();
  let seen = 0;
  const all = (): [id: string, result: string][] =>
    journal.list({ limit: Number.POSITIVE_INFINITY }).runs.map(({ id, result }) => [id, result]);
  for (const { act, which } of [...steps, { act: 'look', which: 0 }]) {
    if (act === 'begin') going.push(journal.begin({ ...RUN, queue: String(journal.revision) }));
    else if (act === 'end') for (const run of going.splice(which, 1)) journal.end(run, { result: 'success' });
    else {
      const changes = journal.changedSince(seen);
      known = new Map([
        ...(changes.isComplete ? known : all()),
        ...changes.runs.map(({ id, result }) => [id, result] as const),
      ]);
      seen = journal.revision;
    }
  }
  const kept = all();
  return { known: kept.map(([id]) => [id, known.get(id)]), kept };
}

test('a reader of the changes knows all runs that are kept, or learns that some were dropped', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5 }), (acts, runs) => {
      const { known, kept } = follow(acts, runs);
      expect(known).toEqual(kept);
    }),
    { examples: [[MANY_THAT_GO_ON, 1]] },
  );
});
