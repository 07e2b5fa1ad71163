import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  actorsAfterTick,
  type Event,
  Holder,
  happen,
  TIMES,
  ticksUntil,
  World,
} from '../../test/hand-over-world.ts';

const TICKS = 300;

const events: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    type: fc.constantFrom('start', 'force', 'force', 'crash', 'give-back'),
    holder: fc.nat({ max: 5 }),
  }),
  fc.record({ type: fc.constantFrom('want-back', 'remove', 'restart-owner') }),
);

/** An owner that starts anew just after the entry was removed by hand knows nothing of its holder. */
function isTooMuch(script: readonly (readonly [number, Event])[]): boolean {
  const types = new Set(script.map(([, { type }]) => type));
  return types.has('remove') && types.has('restart-owner');
}

/** Random numbers below a bound, always the same for a seed. */
function randomBelow(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** A further process gets it, unless its requests take too long, and ends. Returns when the owner acts after that, in ticks. */
function lastReturn(world: World, end: 'crash' | 'giveBack'): number | undefined {
  for (const holder of world.holders) holder.crash();
  const last = new Holder(world, 'last', true);
  world.holders.push(last);
  ticksUntil(world, () => last.acts || last.isOver);
  last[end]();
  return ticksUntil(world, () => world.owner.acts);
}

test('no two act at the same time, whatever happens, and each is handed over and taken back', () => {
  let handedOver = 0;
  let takenBack = 0;
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(fc.tuple(fc.nat({ max: TICKS }), events), { minLength: 4, maxLength: 16 }),
      (seed, script) => {
        fc.pre(!isTooMuch(script));
        const random = randomBelow(seed);
        const world = new World(random);
        let last = '';
        for (let tick = 0; tick < TICKS; tick += 1) {
          for (const [at, event] of script) if (at === tick) happen(world, event);
          const active = actorsAfterTick(world);
          expect(active.length, `${active.join(' and ')} at ${world.now}`).toBeLessThanOrEqual(1);
          const [now = last] = active;
          if (now !== last && last !== '') {
            if (now === 'owner') takenBack += 1;
            else handedOver += 1;
          }
          last = now;
        }
        const end = seed % 2 === 0 ? 'crash' : 'giveBack';
        expect(lastReturn(world, end), `until the owner acts after ${end}`).not.toBeUndefined();
      },
    ),
    { numRuns: 250 },
  );
  // Otherwise the property says nothing.
  expect(Math.min(handedOver, takenBack)).toBeGreaterThan(20);
});

test.each([0, 1, 2])(
  'what is given back is taken back before it lapses, and what lapses is waited for once, with requests of %i ticks',
  (delay) => {
    const random = (bound: number): number => Math.min(delay, bound - 1);
    expect(lastReturn(new World(random), 'giveBack')).toBeLessThan(TIMES.duration - TIMES.retry);
    const afterCrash = lastReturn(new World(random), 'crash');
    expect(afterCrash).toBeGreaterThan(TIMES.duration - TIMES.retry - 4 * delay);
    expect(afterCrash).toBeLessThan(2 * (TIMES.duration - TIMES.retry));
  },
);

test.each<Event>([{ type: 'want-back' }, { type: 'force', holder: 0 }])(
  'a holder that loses it ($type) is waited for until it has ended, not until it would have lapsed',
  (event) => {
    const world = new World((bound) => Math.min(1, bound - 1));
    const first = new Holder(world, 'first', false);
    world.holders.push(first);
    ticksUntil(world, () => first.acts);
    happen(world, event);
    const [, second] = world.holders;
    const nextActs = (): boolean => (second === undefined ? world.owner.acts : second.acts);
    expect(ticksUntil(world, nextActs)).toBeLessThan(TIMES.duration);
  },
);

test('no two act at the same time, however soon something follows on a hand-over', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(fc.tuple(fc.nat({ max: 20 }), events), { minLength: 1, maxLength: 4 }),
      (seed, script) => {
        fc.pre(!isTooMuch(script));
        const world = new World(randomBelow(seed));
        const first = new Holder(world, 'first', false);
        world.holders.push(first);
        ticksUntil(world, () => first.acts || first.isOver);
        let most: readonly string[] = [];
        const pass = (ticks: number): void => {
          for (let tick = 0; tick < ticks; tick += 1) {
            const active = actorsAfterTick(world);
            if (active.length > most.length) most = active;
          }
        };
        for (const [gap, event] of script) {
          pass(gap);
          happen(world, event);
        }
        pass(2 * TIMES.duration);
        expect(most.length, `${most.join(' and ')} act`).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 1_000 },
  );
});
