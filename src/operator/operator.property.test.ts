import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { act, anyOptions, anySteps, HOOKS, MODULES } from '../../test/support/operator-histories.ts';
import { moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import { startUp } from './lifecycle.ts';

const AT_WORK = {
  phase: 'ready',
  isAtRest: true,
  asked: undefined,
  hearsCrontabs: true,
  seesEvents: true,
};

/** Mends everything and gives the daemon the time to do what is left. */
async function comeToRest(lab: OperatorLab): Promise<void> {
  lab.behaviours.clear();
  lab.obstacles.clear();
  lab.pauses.clear();
  onPausesChange(lab.operator);
  await lab.pass(300_000, 2);
  // What was given up waits for a change.
  lab.startOver();
  await lab.pass(300_000, 4);
}

function stateOf(lab: OperatorLab, module: string) {
  const tracked = lab.operator.registry.tracked.get(name(module));
  if (tracked === undefined || !tracked.isStarted) return 'gone';
  const hooks = tracked.hooks ?? [];
  const watching = hooks.filter(({ hook }) => hook.config.kubernetes.length > 0);
  return {
    phase: tracked.phase,
    isAtRest: tracked.ongoing === undefined && tracked.stall === undefined && !tracked.isUnfinished,
    asked: lab.operator.operations.of(name(module)),
    hearsCrontabs: watching.every((runtime) => runtime.areSchedulesEnabled),
    seesEvents: ['main', 'own'].every((binding) => {
      const monitor = lab.monitors.get(`${module}/watch.sh/${binding}`);
      return monitor?.isUnlocked === true && !monitor.isStopped;
    }),
  };
}

test('the daemon comes to rest with exactly the enabled modules running, after any sequence of events', async () => {
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const modules = MODULES.map((module) => moduleFor(module, 1));
      await using lab = await operatorLab(modules, HOOKS, options);
      startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
      for (const [what, turns] of steps) {
        await act(lab, what);
        // Between two steps the daemon gets more or less far.
        await lab.turns(turns);
      }
      await comeToRest(lab);
      expect(lab.operator.queues.all.flatMap((queue) => lab.tasks(queue.name))).toEqual([]);
      expect(lab.operator.converge.first).toBe('done');
      expect([...lab.releases].toSorted()).toEqual([...lab.enabled].toSorted());
      expect(Object.fromEntries(MODULES.map((module) => [module, stateOf(lab, module)]))).toEqual(
        Object.fromEntries(MODULES.map((module) => [module, lab.enabled.has(module) ? AT_WORK : 'gone'])),
      );
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  );
}, 120_000);
