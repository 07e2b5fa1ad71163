import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ContextDocument,
  contextText,
  type NumberedContext,
  writeContexts,
} from './context-document.ts';

const NO_LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxContexts: Number.MAX_SAFE_INTEGER };

function numbered(contexts: readonly object[]): readonly NumberedContext[] {
  return contexts.map((context, index) => ({ context: { ...context }, covered: index + 1 }));
}

/** The contexts of all runs that are needed for them. */
async function runsOf(contexts: readonly object[], limits: Parameters<typeof writeContexts>[1]) {
  const texts: string[] = [];
  let left = contexts;
  while (left.length > 0) {
    const { document, covered } = await writeContexts(numbered(left), limits);
    texts.push(await contextText(document));
    left = left.slice(covered());
  }
  return texts;
}

const anyItem = fc.record({
  object: fc.jsonValue(),
  filterResult: fc.option(fc.jsonValue(), { nil: undefined }),
});
const anyContexts = fc
  .array(fc.array(anyItem, { maxLength: 4 }), { minLength: 1, maxLength: 3 })
  .chain((snapshots) =>
    fc.array(
      fc.record(
        {
          binding: fc.string(),
          object: fc.jsonValue(),
          objects: fc.constantFrom(...snapshots),
          snapshots: fc.dictionary(fc.string(), fc.constantFrom(...snapshots)),
          absent: fc.constant(undefined),
        },
        { requiredKeys: ['binding'] },
      ),
      { minLength: 1, maxLength: 8 },
    ),
  );

test('writeContexts() writes what JSON.stringify() does', async () => {
  await fc.assert(
    fc.asyncProperty(anyContexts, async (contexts) => {
      const { document, covered } = await writeContexts(numbered(contexts), NO_LIMITS);
      expect(await contextText(document)).toBe(JSON.stringify(contexts));
      expect(covered()).toBe(contexts.length);
    }),
  );
  expect((await writeContexts([], NO_LIMITS)).document).toBe('[]');
});

test('contexts that do not fit go into the next runs, in order, and none is lost or written twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyContexts,
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 4 }),
      async (contexts, maxBytes, maxContexts) => {
        const runs = await runsOf(contexts, { maxBytes, maxContexts });
        const parsed = runs.map((text) => JSON.parse(text) as unknown[]);
        expect(parsed.flat()).toEqual(JSON.parse(JSON.stringify(contexts)));
        for (const [index, run] of parsed.entries()) {
          expect(run.length).toBeLessThanOrEqual(maxContexts);
          const bytes = Buffer.byteLength(runs[index] ?? '');
          expect(run.length <= 1 || bytes <= maxBytes).toBe(true);
        }
      },
    ),
  );
});

/** An item that counts how often it is serialized. */
function counted(bytes: number) {
  const item = { count: 0, toJSON: (): object => ({ text: 'x'.repeat(bytes), n: (item.count += 1) }) };
  return item;
}

test('a snapshot that many contexts hold is serialized once', async () => {
  const item = counted(1_000);
  const snapshots = { pods: [item] };
  const contexts = Array.from({ length: 50 }, () => ({ binding: 'b', snapshots }));
  const { document } = await writeContexts(numbered(contexts), NO_LIMITS);
  await contextText(document);
  expect(item.count).toBe(1);
});

test('a long document is made in pieces, and lets the event loop turn in between', async () => {
  const contexts = Array.from({ length: 40 }, () => ({ binding: 'b', object: 'x'.repeat(100_000) }));
  const { document } = await writeContexts(numbered(contexts), NO_LIMITS);
  expect(typeof document).toBe('object');
  let turns = 0;
  const tick = setInterval(() => {
    turns += 1;
  }, 0);
  const sizes = await sizesOf(document);
  clearInterval(tick);
  expect(sizes.length).toBeGreaterThan(10);
  expect(Math.max(...sizes)).toBeLessThan(400_000);
  expect(turns).toBeGreaterThan(0);
});

async function sizesOf(document: ContextDocument): Promise<readonly number[]> {
  const sizes: number[] = [];
  if (typeof document !== 'string') for await (const piece of document) sizes.push(piece.length);
  return sizes;
}
