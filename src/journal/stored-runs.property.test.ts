import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RUN_START } from '../../test/support/run-start.ts';
import { Journal } from './journal.ts';
import { JournalFile } from './journal-file.ts';
import type { JournalRun } from './run.ts';

/** One life of the operator. */
const life = fc.record({
  acts: fc.array(fc.constantFrom('begin', 'begin', 'end'), { maxLength: 30 }),
  /** How much of the file survives it; undefined: it stops in order. */
  kept: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
});

type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

const idsOf = (journal: Journal): number[] => journal.list({ limit: 1_000 }).runs.map(({ id }) => Number(id));

/** Lives through it, and checks what each start reads against what was recorded before. */
async function liveThrough(lives: readonly Life[], directory: string): Promise<void> {
  const clock = new FakeClock(1_000_000);
  let ended: number[] = [];
  let given: number[] = [];
  let isWhole = true;
  for (const { acts, kept } of [...lives, { acts: ['begin'], kept: undefined }]) {
    const warn = (): void => undefined;
    const file = await JournalFile.open({ directory, log: { warn } });
    const journal = new Journal({ clock, bootId: String(clock.wallMs()), file });
    const restored = idsOf(journal);
    expect(restored.toSorted((a, b) => a - b)).toEqual(
      ended.slice(0, restored.length).toSorted((a, b) => a - b),
    );
    const least = isWhole ? ended.length : 0;
    expect(restored.length).toBeGreaterThanOrEqual(least);
    ended = ended.slice(0, restored.length);
    const begun: number[] = [];
    const going: JournalRun[] = [];
    for (const act of acts) {
      await clock.advance(1);
      const run = act === 'begin' ? undefined : going.shift();
      if (act === 'begin') {
        going.push(journal.begin({ ...RUN_START, queue: String(journal.revision) }));
        begun.push(going.at(-1)?.id ?? 0);
      } else if (run !== undefined) {
        journal.end(run, { result: 'success' });
        ended.push(run.id);
      }
    }
    for (const id of begun) expect([...given, ...restored]).not.toContain(id);
    if (kept === undefined) journal.close();
    await file[Symbol.asyncDispose]();
    isWhole = kept === undefined || kept === 1;
    given = isWhole ? begun : [];
    const path = join(directory, 'runs');
    if (kept !== undefined) await truncate(path, Math.floor(kept * (await readFile(path)).length));
  }
}

// FAULT-D22
test('after crashes at any byte a start knows a prefix of the runs that had ended, and gives no id twice', async () => {
  const root = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    let round = 0;
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 4 }), async (lives) => {
        round += 1;
        await liveThrough(lives, join(root, String(round)));
      }),
      {
        examples: [
          [
            [
              { acts: ['begin'], kept: 1 },
              { acts: ['begin', 'end'], kept: undefined },
            ],
          ],
        ],
      },
    );
  } finally {
    await rm(root, { recursive: true });
  }
});
