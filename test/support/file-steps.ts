import { type Arbitrary, array, boolean, constant, constantFrom, nat, oneof, record } from 'fast-check';
import { MODULE_DAMAGES, TREE_DAMAGES } from './file-damage.ts';

const keysOf = <K extends string>(of: Readonly<Record<K, unknown>>): readonly K[] => Object.keys(of) as K[];

const moduleShape = record({
  hasChart: oneof(
    { weight: 4, arbitrary: constantFrom(true) },
    { weight: 1, arbitrary: constantFrom(false) },
  ),
  isLink: boolean(),
  tree: nat({ max: 1 }),
  flagIn: constantFrom('own' as const, 'common' as const, 'config' as const),
});

const worldShape = record({
  modules: array(moduleShape, { minLength: 1, maxLength: 5 }),
  trees: constantFrom(1, 2),
  watchesFiles: boolean(),
});

const someModule = nat({ max: 4 });
const someTree = nat({ max: 1 });
const change = oneof(
  {
    weight: 6,
    arbitrary: record({
      do: constantFrom('damage' as const),
      module: someModule,
      damage: constantFrom(...keysOf(MODULE_DAMAGES)),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      do: constantFrom('damage tree' as const),
      tree: someTree,
      damage: constantFrom(...keysOf(TREE_DAMAGES)),
    }),
  },
  { weight: 1, arbitrary: record({ do: constantFrom('swap trees' as const) }) },
  { weight: 3, arbitrary: record({ do: constantFrom('repair' as const), module: someModule }) },
  { weight: 2, arbitrary: record({ do: constantFrom('repair all' as const) }) },
  {
    weight: 4,
    arbitrary: record({
      do: constantFrom('decide' as const),
      module: someModule,
      by: constantFrom('flag' as const, 'script' as const, 'config' as const, 'entry' as const),
    }),
  },
  { weight: 2, arbitrary: record({ do: constantFrom('confirm' as const), module: someModule }) },
  { weight: 1, arbitrary: record({ do: constantFrom('nothing' as const) }) },
);

/** What happens, and to whom. */
const step = record({
  change,
  /** While the daemon is down, or while it runs. */
  isDown: boolean(),
  /** The daemon is killed after so many further requests, and started again. */
  killAfter: oneof({ weight: 4, arbitrary: constant(null) }, { weight: 1, arbitrary: nat({ max: 40 }) }),
  /** Whether everything comes to rest before the next step. */
  settles: oneof({ weight: 3, arbitrary: constantFrom(true) }, { weight: 1, arbitrary: constantFrom(false) }),
});

export const anyHistory = record({ shape: worldShape, steps: array(step, { minLength: 1, maxLength: 10 }) });

export type WorldShape = typeof worldShape extends Arbitrary<infer T> ? T : never;
export type Step = typeof step extends Arbitrary<infer T> ? T : never;
