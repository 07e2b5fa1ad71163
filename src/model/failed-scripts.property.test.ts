import { array, assert, asyncProperty, constantFrom, nat, oneof, record, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';

const MODULES = ['a', 'b', 'c'] as const;
type Name = (typeof MODULES)[number];

const HOOKS = Object.fromEntries(
  MODULES.flatMap((module) => [
    [`${module}/life.sh`, { onStartup: 1, beforeHelm: 1, afterDeleteHelm: 1 }],
    [`${module}/watch.sh`, { kubernetes: [{ kind: 'Pod', name: 'pods' }] }],
  ]),
);

const step = oneof(
  record({
    do: constantFrom('break' as const, 'mend' as const, 'switch' as const),
    module: constantFrom(...MODULES),
  }),
  record({ do: constantFrom('change' as const, 'event' as const), module: constantFrom(...MODULES) }),
  record({ do: constantFrom('restart' as const, 'wait' as const) }),
);
const anySteps = array(tuple(step, nat({ max: 4 })), { minLength: 1, maxLength: 25 });

/** Switches of a module by its flag, which is a decision whatever its script does. */
function enable(lab: OperatorLab, wanted: ReadonlySet<Name>): void {
  for (const module of MODULES) {
    lab.enabled.delete(module);
    lab.flaggedOff.add(module);
    if (!wanted.has(module)) continue;
    lab.enabled.add(module);
    lab.flaggedOff.delete(module);
  }
  lab.content = { ...lab.content };
}

test('a module whose enabled script fails is never deleted, holds up no other, and runs when the script succeeds', async () => {
  await assert(
    asyncProperty(anySteps, async (steps) => {
      await using lab = await operatorLab(
        MODULES.map((module) => moduleFor(module, 1)),
        HOOKS,
        { failurePolicy: 'isolate' },
      );
      const wanted = new Set<Name>(MODULES);
      /** Modules that a flag has disabled at any time. */
      const disabled = new Set<Name>();
      lab.start();
      lab.operator.router.queueConverge('OperatorStartup', 'start');
      for (const [what, turns] of steps) {
        switch (what.do) {
          case 'break':
            lab.failingScripts.add(what.module);
            break;
          case 'mend':
            lab.failingScripts.delete(what.module);
            break;
          case 'switch':
            if (wanted.delete(what.module)) disabled.add(what.module);
            else wanted.add(what.module);
            enable(lab, wanted);
            lab.startOver();
            break;
          case 'change':
            lab.operator.router.queueModuleRun(name(what.module), 'change');
            break;
          case 'event':
            lab.emit(`${what.module}/watch.sh/pods`);
            break;
          case 'restart':
            lab.startOver();
            break;
          case 'wait':
            await lab.clock.advance(5_000);
        }
        await lab.turns(turns);
      }
      for (const module of MODULES) wanted.add(module);
      enable(lab, wanted);
      lab.failingScripts.clear();
      lab.failingScripts.add('b');
      lab.startOver();
      await lab.pass(40_000, 5);
      expect(lab.operator.converge.first).toBe('done');
      for (const module of ['a', 'c'] as const) expect(phaseOf(lab, module)).toBe('ready');
      const held = lab.calls.length;
      lab.operator.router.queueModuleRun(name('b'), 'change');
      lab.startOver();
      await lab.pass(40_000, 2);
      expect(lab.calls.slice(held).filter((call) => / b\b/u.test(call))).toEqual([]);
      const before = lab.calls.length;
      await lab.pass(40_000, 5);
      // Only scripts run again while nothing else changes.
      expect(new Set(lab.calls.slice(before))).toEqual(new Set(['rediscover']));
      lab.failingScripts.clear();
      await lab.pass(40_000, 3);
      for (const module of MODULES) {
        expect(phaseOf(lab, module)).toBe('ready');
      }
      const kept = MODULES.filter((module) => !disabled.has(module)).map((module) => `uninstall ${module}`);
      expect(lab.calls.filter((call) => kept.includes(call))).toEqual([]);
      expect(lab.operator.router.main.entries).toEqual([]);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 20_000 },
  );
}, 120_000);

function phaseOf(lab: OperatorLab, module: Name): string {
  return lab.operator.registry.tracked.get(name(module))?.phase ?? 'gone';
}
