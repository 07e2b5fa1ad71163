import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  oneof,
  record,
} from 'fast-check';
import { expect, test } from 'vitest';
import {
  DeliveryModel,
  type DeliveryStep,
  MINORS,
  MODULES,
  type Mode,
} from '../../test/support/delivery-model.ts';

const module = constantFrom(...MODULES);
const minor = constantFrom(...MINORS);
const bool = boolean();
const mostly = constantFrom(true, true, true, false);
const mode = constantFrom<Mode>('auto', 'auto', 'patch', 'manual');
const STEPS: Arbitrary<readonly DeliveryStep[]> = array(
  oneof(
    {
      weight: 4,
      arbitrary: record({
        type: constantFrom('push' as const, 'release' as const, 'release' as const),
        module,
        minor,
        isSigned: mostly,
        isGood: mostly,
      }),
    },
    { weight: 4, arbitrary: record({ type: constant('move' as const), module, minor }) },
    {
      weight: 2,
      arbitrary: record({
        type: constant('edit' as const),
        module,
        mode,
        isHeld: constantFrom(true, false, false, false),
        rollback: bool,
        isRange: bool,
      }),
    },
    {
      weight: 3,
      arbitrary: record({ type: constantFrom('approve' as const, 'untag' as const), module, minor }),
    },
    { weight: 1, arbitrary: record({ type: constant('retag' as const), module, minor, to: minor }) },
    {
      weight: 2,
      arbitrary: record({
        type: constantFrom('delete' as const, 'create' as const, 'empty' as const, 'rollback' as const),
        module,
      }),
    },
    {
      weight: 2,
      arbitrary: record({
        type: constantFrom(
          'outage' as const,
          'recovery' as const,
          'recovery' as const,
          'lose' as const,
          'newDefinitions' as const,
          'noSource' as const,
          'source' as const,
          'source' as const,
        ),
      }),
    },
    { weight: 2, arbitrary: record({ type: constant('restart' as const), losesStore: bool }) },
    {
      weight: 1,
      arbitrary: record({ type: constantFrom('refuse' as const, 'accept' as const), module }),
    },
    {
      weight: 6,
      arbitrary: record({ type: constant('wait' as const), minutes: constantFrom(1, 11, 25) }),
    },
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
);

const RUNS = 200;

test('whatever happens, what runs was verified and decided, and nothing is removed but by its install', async () => {
  const counts = { switches: 0, returns: 0, downgrades: 0 };
  await assert(
    asyncProperty(STEPS, async (steps) => {
      const model = new DeliveryModel();
      const { lab } = model;
      for (const name of MODULES) {
        model.specs.set(name, { onFailure: { rollback: true } });
        await model.play({ type: 'push', module: name, minor: 0, isSigned: true, isGood: true });
        await model.play({ type: 'move', module: name, minor: 0 });
      }
      await lab.start();
      await model.apply();
      try {
        for (const step of steps) {
          await model.play(step);
          expect(model.check()).toEqual([]);
        }
        // At last everything is there again: each module with an install runs with whole content.
        for (const type of ['recovery', 'source'] as const) await model.play({ type });
        lab.refusals.clear();
        await lab.wait(25 * 60_000);
        expect(model.check()).toEqual([]);
        expect(lab.delivery.unavailable()).toEqual(new Map());
        const digests = [...lab.store.linked.values()];
        expect(digests.filter((digest) => !lab.store.contents.has(digest))).toEqual([]);
        const kept = [...model.specs.keys()].filter((name) => !model.deleted.has(name));
        expect(Object.keys(lab.running)).toEqual(expect.arrayContaining(kept));
        for (const kind of ['switches', 'returns', 'downgrades'] as const) counts[kind] += model.counts[kind];
      } finally {
        await lab.stop();
      }
    }),
    { numRuns: RUNS },
  );
  // The histories do something.
  expect(counts.switches).toBeGreaterThan(RUNS);
  expect(Math.min(counts.returns, counts.downgrades)).toBeGreaterThan(0);
});
