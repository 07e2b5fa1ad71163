import { expect, test } from 'vitest';
import {
  about,
  busy,
  DRIFTED,
  FAILING,
  factsOf,
  runningHook,
  SINCE,
  summary,
} from '../../test/support/operator-facts.ts';
import type { OperatorFacts } from './operator-facts.ts';
import { operatorProblems } from './operator-problems.ts';

const NOWHERE = {
  since: null,
  module: '',
  hook: '',
  binding: '',
  queue: '',
  run: '',
  advice: [],
  actions: [],
};

test.each<[string, Partial<OperatorFacts>, object]>([
  [
    'a module at the head of a queue',
    {
      queues: [{ ...FAILING, since: SINCE, run: '12', file: '/m/web/hooks/a.sh', hook: 'web/hooks/a.sh' }],
    },
    {
      since: SINCE,
      module: 'web',
      hook: 'web/hooks/a.sh',
      queue: 'main',
      run: '12',
      advice: [
        'correct /m/web/hooks/a.sh or what its error names; the operator retries by itself',
        '`addon-operator queue retry main` tries it again now',
        '`addon-operator module pause web --reason WHY` pauses the module and frees the 2 tasks behind it',
        '`--module-failure-policy isolate` lets other modules run while one fails',
      ],
      actions: ['retry', 'pause'],
    },
  ],
  [
    'a hook at the head of a queue, while it is tried again',
    { queues: [busy({ ...FAILING, isFreedByPause: false, retryInMs: undefined })] },
    {
      module: 'web',
      queue: 'main',
      advice: ['correct what the error names; the operator retries by itself'],
    },
  ],
  [
    'a hook that requested another attempt',
    { queues: [busy({ failures: 1, isNotYet: true, retryInMs: 900, since: SINCE })] },
    {
      since: SINCE,
      module: 'web',
      queue: 'main',
      advice: ['`addon-operator queue retry main` tries it again now'],
      actions: ['retry', 'pause'],
    },
  ],
  [
    'a hook that hangs',
    { runningHooks: [runningHook(600_000)] },
    {
      since: SINCE,
      hook: 'hang.sh',
      binding: 'schedule',
      queue: 'main',
      run: '7',
      advice: ['if it hangs, end it with `addon-operator hook abort hang.sh`, and set --hook-timeout'],
      actions: ['abort-hook', 'drop-hook'],
    },
  ],
  [
    'a hook for which others wait',
    { runningHooks: [{ ...runningHook(20_000), isDroppable: false }] },
    { since: SINCE, hook: 'hang.sh', binding: 'schedule', queue: 'main', run: '7', actions: ['abort-hook'] },
  ],
  [
    'a module that failed for good',
    { modules: [summary('web', { status: 'failing', since: SINCE, lastError: 'x', remedy: 'fix it' })] },
    { since: SINCE, module: 'web', advice: ['fix it'], actions: ['reconcile'] },
  ],
  [
    'a paused module',
    {
      modules: [summary('web', { status: 'paused', since: SINCE, paused: { reason: 'disks', until: null } })],
    },
    {
      since: SINCE,
      module: 'web',
      advice: ['`addon-operator module resume web` ends the pause'],
      actions: ['resume'],
    },
  ],
  [
    'a pause of all modules',
    { pause: { reason: 'night', since: SINCE, until: null } },
    { since: SINCE, advice: ['`addon-operator resume` ends the pause'], actions: ['resume-all'] },
  ],
  [
    'a module with drift',
    { drifted: [DRIFTED] },
    {
      since: SINCE,
      module: 'db',
      advice: ['`addon-operator explain module db` names the fields'],
      actions: ['heal-drift'],
    },
  ],
  [
    'a hook that failed for good',
    {
      unfinished: {
        waiting: [],
        debounced: [],
        failed: [{ ...about('it failed'), remedy: 'correct the cause', isTriggerable: true }],
      },
    },
    { since: SINCE, hook: 'a.sh', binding: 'pods', advice: ['correct the cause'], actions: ['trigger-hook'] },
  ],
  [
    'a refused ConfigMap',
    { configProblem: 'web: nope' },
    { advice: ['correct it with `kubectl -n op edit configmap values`'] },
  ],
])('the problem of %s has time, place, advice and actions', (_name, facts, expected) => {
  expect(operatorProblems(factsOf(facts))).toEqual([
    { ...NOWHERE, level: expect.any(String) as string, text: expect.any(String) as string, ...expected },
  ]);
});
