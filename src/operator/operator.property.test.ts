import { OperatorError } from '@addon-operator/base/errors';
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { OPERATIONS } from '../status/module-object.ts';
import { keyOfName } from '../values/module-key.ts';
import { askOperation } from './ask-operation.ts';
import { startUp } from './lifecycle.ts';
import { onPausesChange } from './pause-tasks.ts';
import { taskHandler } from './task-pipeline.ts';

const MODULES = ['a', 'b'] as const;

const HOOKS = Object.fromEntries([
  [
    'global/g.sh',
    {
      onStartup: 1,
      beforeAll: 1,
      afterAll: 1,
      kubernetes: [{ kind: 'Pod', name: 'own', queue: 'own' }],
    },
  ],
  ...MODULES.flatMap((module) => [
    [
      `${module}/life.sh`,
      { onStartup: 1, beforeHelm: 1, afterHelm: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 },
    ],
    [
      `${module}/watch.sh`,
      {
        schedule: [{ crontab: '* * * * *' }],
        kubernetes: [
          { kind: 'Pod', name: 'main' },
          { kind: 'Pod', name: 'own', queue: 'own' },
        ],
      },
    ],
  ]),
]);

/** What may happen to a daemon, in any order. */
const step = oneof(
  record({ do: constant('switch' as const), module: constantFrom(...MODULES) }),
  record({
    do: constantFrom('break' as const, 'mend' as const),
    part: constantFrom(
      'a/life.sh',
      'a/watch.sh',
      'b/watch.sh',
      'deploy a',
      'uninstall b',
      'discover',
      'global/g.sh',
      'config a',
      'monitor a/watch.sh/own',
    ),
  }),
  record({
    do: constantFrom('refuse' as const, 'hold' as const),
    part: constantFrom('deploy a', 'deploy b', 'uninstall a', 'uninstall b'),
  }),
  record({
    do: constantFrom('change' as const, 'look' as const, 'pause' as const, 'delete' as const),
    module: constantFrom(...MODULES),
  }),
  record({
    do: constant('ask' as const),
    module: constantFrom(...MODULES),
    operation: constantFrom(...OPERATIONS),
  }),
  record({
    do: constant('event' as const),
    binding: constantFrom('a/watch.sh/own', 'b/watch.sh/main'),
  }),
  record({
    do: constantFrom(
      'restart' as const,
      'converge' as const,
      'wait' as const,
      'reload' as const,
      'apply' as const,
    ),
  }),
);
const anySteps = array(tuple(step, nat({ max: 4 })), { minLength: 1, maxLength: 25 });

const anyOptions = record({
  failurePolicy: constantFrom('block' as const, 'isolate' as const),
  runsModulesInParallel: boolean(),
});

const AT_WORK = {
  phase: 'ready',
  isAtRest: true,
  asked: undefined,
  hearsCrontabs: true,
  seesEvents: true,
};

type Step = typeof step extends Arbitrary<infer T> ? T : never;

async function act(lab: OperatorLab, what: Step): Promise<void> {
  switch (what.do) {
    case 'switch':
      if (lab.flaggedOff.delete(what.module)) lab.enabled.add(what.module);
      else {
        lab.flaggedOff.add(what.module);
        lab.enabled.delete(what.module);
      }
      lab.content = { ...lab.content };
      lab.startOver();
      return;
    case 'break':
      lab.behaviours.set(what.part, failing);
      lab.obstacles.set(what.part, failing as () => void);
      return;
    case 'mend':
      lab.behaviours.delete(what.part);
      lab.obstacles.delete(what.part);
      return;
    case 'change':
      lab.operator.router.queueModuleRun(name(what.module), 'change');
      return;
    case 'refuse':
      lab.obstacles.set(what.part, () => {
        throw new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
      });
      return;
    case 'hold':
      lab.obstacles.set(what.part, () => {
        throw new OperatorError('RELEASE_NOT_READY', 'not yet', { retryAfterMs: 2_000 });
      });
      return;
    case 'look':
      lab.operator.router.requeues.ask(name(what.module), 2_000);
      return;
    case 'delete':
      if (lab.operator.converge.first === 'done' && !lab.operator.registry.isEnabled(name(what.module)))
        lab.main.append({ type: 'ModuleDelete', module: name(what.module), trigger: 'delete' });
      return;
    case 'pause':
      if (!lab.pauses.delete(what.module))
        lab.pauses.set(what.module, { reason: 'test', sinceMs: 0, untilMs: undefined });
      onPausesChange(lab.operator);
      return;
    case 'ask':
      askOperation(lab.operator, what.module, what.operation);
      return;
    case 'event':
      lab.emit(what.binding);
      return;
    case 'restart':
      lab.startOver();
      return;
    case 'converge':
      lab.operator.router.queueConverge('GlobalValuesChanged', 'converge');
      return;
    case 'reload':
      lab.main.prepend({ type: 'ReloadFiles', trigger: 'reload' });
      lab.main.cutDelay();
      return;
    case 'apply':
      lab.main.prepend({ type: 'ApplyKubeConfigValues', changedKeys: [keyOfName('a')], trigger: 'apply' });
      lab.main.cutDelay();
      return;
    case 'wait':
      await lab.clock.advance(5_000);
  }
}

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

test('whatever happens, the daemon comes to rest with exactly the enabled modules at work', async () => {
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const modules = MODULES.map((module) => moduleFor(module, 1));
      await using lab = await operatorLab(modules, HOOKS, options);
      startUp(lab.operator, taskHandler(lab.operator), { stop: lab.stop.signal, abort: lab.abort.signal });
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
}, 60_000);
