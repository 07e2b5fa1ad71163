import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';

const REQUIRED = { a: [], b: ['a'], c: ['b'], d: ['a'] } as const;
const MODULES = ['a', 'b', 'c', 'd'] as const;
type Name = (typeof MODULES)[number];

const HOOKS = Object.fromEntries(
  MODULES.flatMap((module) => [
    [`${module}/life.sh`, { onStartup: 1, beforeHelm: 1, afterDeleteHelm: 1 }],
    [
      `${module}/watch.sh`,
      {
        kubernetes: [
          { kind: 'Pod', name: 'main' },
          { kind: 'Pod', name: 'own', queue: 'own' },
        ],
      },
    ],
  ]),
);

const anyModule = constantFrom(...MODULES);
const step = oneof(
  record({
    do: constantFrom('break' as const, 'mend' as const),
    hook: tuple(anyModule, constantFrom('life.sh', 'watch.sh')).map((parts) => parts.join('/')),
  }),
  record({ do: constantFrom('switch' as const, 'change' as const, 'event' as const), module: anyModule }),
  record({ do: constantFrom('restart' as const, 'converge' as const, 'wait' as const) }),
);
const anySteps = array(tuple(step, nat({ max: 4 })), { minLength: 1, maxLength: 25 });

type Step = typeof step extends Arbitrary<infer T> ? T : never;
type History = [broken: Name, hasCrds: boolean, isParallel: boolean, steps: [Step, turns: number][]];

function history(broken: Name, ...steps: [Step, turns: number][]): History {
  return [broken, false, false, steps];
}

/** A module waited behind a failing one that it does not require, since one it does require had waited there before. */
const HELD_BY_A_STRANGER = history(
  'b',
  [{ do: 'event', module: 'a' }, 1],
  [{ do: 'switch', module: 'a' }, 0],
  [{ do: 'break', hook: 'b/life.sh' }, 1],
);

/** A run waited for a Synchronization that was dropped when its module was disabled for a moment. */
const WAITING_FOR_NOBODY = history(
  'a',
  [{ do: 'break', hook: 'b/watch.sh' }, 0],
  [{ do: 'wait' }, 0],
  [{ do: 'mend', hook: 'b/watch.sh' }, 0],
  [{ do: 'switch', module: 'd' }, 1],
  [{ do: 'switch', module: 'a' }, 0],
  [{ do: 'break', hook: 'a/life.sh' }, 1],
  [{ do: 'wait' }, 0],
  [{ do: 'restart' }, 0],
);

/** A deletion waited behind a failing module that requires what was to be deleted, and was enabled again. */
const OUTDATED_DELETION = history(
  'd',
  [{ do: 'break', hook: 'b/watch.sh' }, 0],
  [{ do: 'restart' }, 1],
  [{ do: 'break', hook: 'd/life.sh' }, 0],
  [{ do: 'change', module: 'd' }, 0],
  [{ do: 'switch', module: 'a' }, 0],
  [{ do: 'wait' }, 0],
);

/** Modules that a failure of this one concerns: those that require it. */
function dependents(module: Name): readonly Name[] {
  const required = (other: Name): readonly Name[] => REQUIRED[other];
  return MODULES.filter(
    (other) =>
      required(other).includes(module) || required(other).some((next) => required(next).includes(module)),
  );
}

/** As discovery does it: a module is enabled with all it requires. */
function enable(lab: OperatorLab, wanted: ReadonlySet<Name>): void {
  lab.enabled.clear();
  lab.flaggedOff.clear();
  for (const module of MODULES) {
    if (!wanted.has(module)) lab.flaggedOff.add(module);
    else if (REQUIRED[module].every((other) => lab.enabled.has(other))) lab.enabled.add(module);
  }
  lab.content = { ...lab.content };
}

/** The tasks of a module that are left in queues, and whether each is in its place. */
function outcomeOf(lab: OperatorLab, module: Name) {
  const phase = lab.operator.registry.tracked.get(name(module))?.phase ?? 'gone';
  const tasks = lab.operator.queues.all.flatMap((queue) =>
    lab.tasks(queue.name).filter((task) => task.split(':')[1] === module),
  );
  return { phase, tasks };
}

test('with isolate one failing module holds up those that require it, and no other, after any earlier failures', async () => {
  await assert(
    asyncProperty(anyModule, boolean(), boolean(), anySteps, async (broken, hasCrds, isParallel, steps) => {
      const modules = MODULES.map((module) => {
        const requires = REQUIRED[module].map((other) => ({
          name: name(other),
          version: undefined,
          isOptional: false,
        }));
        return moduleFor(module, module === 'a' ? 1 : 2, { manifest: { ...NO_MANIFEST, requires } });
      });
      const options = { failurePolicy: 'isolate', runsModulesInParallel: isParallel } as const;
      await using lab = await operatorLab(modules, HOOKS, options);
      if (hasCrds) for (const module of MODULES) lab.withCrds.add(module);
      const wanted = new Set<Name>(MODULES);
      lab.start();
      lab.operator.router.queueConverge('OperatorStartup', 'start');
      for (const [what, turns] of steps) {
        switch (what.do) {
          case 'break':
            lab.behaviours.set(what.hook, failing);
            break;
          case 'mend':
            lab.behaviours.delete(what.hook);
            break;
          case 'switch':
            if (!wanted.delete(what.module)) wanted.add(what.module);
            enable(lab, wanted);
            lab.startOver();
            break;
          case 'change':
            lab.operator.router.queueModuleRun(name(what.module), 'change');
            break;
          case 'event':
            lab.emit(`${what.module}/watch.sh/main`);
            break;
          case 'restart':
            lab.startOver();
            break;
          case 'converge':
            lab.operator.router.queueConverge('GlobalValuesChanged', 'converge');
            break;
          case 'wait':
            await lab.clock.advance(5_000);
        }
        await lab.turns(turns);
      }
      for (const module of MODULES) wanted.add(module);
      enable(lab, wanted);
      lab.behaviours.clear();
      lab.behaviours.set(`${broken}/life.sh`, failing);
      lab.startOver();
      await lab.pass(40_000, 5);
      expect(lab.operator.converge.first).toBe('done');
      const others = MODULES.filter((module) => module !== broken && !dependents(broken).includes(module));
      for (const module of others) expect(outcomeOf(lab, module)).toEqual({ phase: 'ready', tasks: [] });
      lab.behaviours.clear();
      await lab.pass(40_000, 3);
      for (const module of MODULES) expect(outcomeOf(lab, module)).toEqual({ phase: 'ready', tasks: [] });
    }),
    {
      numRuns: 25,
      interruptAfterTimeLimit: 20_000,
      examples: [HELD_BY_A_STRANGER, WAITING_FOR_NOBODY, OUTDATED_DELETION],
    },
  );
}, 120_000);
