import { OperatorError } from '@addon-operator/base/errors';
import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { onPausesChange } from '../../src/requests/pause-tasks.ts';
import { requestOperation } from '../../src/requests/request-operation.ts';
import { OPERATIONS } from '../../src/status/module-object.ts';
import { keyOfName } from '../../src/values/module-key.ts';
import { failing, name, type OperatorLab } from './operator-lab.ts';

export const MODULES = ['a', 'b'] as const;

export const HOOKS = Object.fromEntries([
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
/** What happens, each time with how many turns of the event loop the daemon gets after it. */
export const anySteps = array(tuple(step, nat({ max: 4 })), { minLength: 1, maxLength: 25 });

export const anyOptions = record({
  failurePolicy: constantFrom('block' as const, 'isolate' as const),
  runsModulesInParallel: boolean(),
});

type Step = typeof step extends Arbitrary<infer T> ? T : never;

export async function act(lab: OperatorLab, what: Step): Promise<void> {
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
      lab.operator.router.requeues.request(name(what.module), 2_000);
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
      requestOperation(lab.operator, what.module, what.operation);
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
      lab.main.prepend({ type: 'ReloadFiles', saved: [], trigger: 'reload' });
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
