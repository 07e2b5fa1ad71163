import { expect, test } from 'vitest';
import { kstatusOf, kstatusProblems } from '../../test/support/kstatus.ts';
import {
  HOOK_FAILURE as FAILURE,
  LONG_HOOK as HOOK,
  NEXT_ATTEMPT as NEXT,
  PAUSE,
  READY_MODULE as READY,
  BLOCKING_TASK as TASK,
} from '../../test/support/module-explanations.ts';
import { causesOf, NO_OBSTACLES, type Obstacles } from './module-causes.ts';
import { conditionsOf } from './module-conditions.ts';
import type { ModuleExplanation } from './module-explanation.ts';
import type { ModuleFacts } from './module-facts.ts';
import { modulePhase } from './module-phase.ts';
import { moduleStatus } from './module-status.ts';

type Explanation = Omit<ModuleExplanation, 'release'>;

const STALL = { ...FAILURE, attempts: 1, nextAttemptAt: null, isGivenUp: true };
const NEIGHBOUR_HOOK = { ...HOOK, hook: 'hang.sh', binding: 'schedule', task: 'GlobalHookRun', pid: null };
const DB = { name: 'db', range: null, isOptional: false, status: 'failing', unmet: null } as const;
const ABSENT = { type: 'absent', text: 'requires module db, which does not exist' } as const;
const DRIFTED = {
  resource: 'ns/Deployment/web',
  fields: ['/a'],
  changedBy: [],
  since: '',
  outlook: 'it is not corrected',
};

function factsOf(explanation: Partial<Explanation>, obstacles: Partial<Obstacles>): ModuleFacts {
  const facts = { ...READY, ...explanation };
  const all = { ...NO_OBSTACLES, ...obstacles };
  const causes = causesOf(facts, all);
  return {
    explanation: { ...facts, causes, phase: modulePhase({ ...facts, causes }, all) },
    release: undefined,
    isDeployed: all.isDeployed,
    progress: all.progress,
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}

/** Name, state, obstacles, what kstatus reads, `Ready`, its message. */
type Row = readonly [
  string,
  Partial<Explanation>,
  Partial<Obstacles>,
  'Current' | 'InProgress' | 'Failed',
  string,
  string,
];

const NEW = { status: 'starting', step: 'startup' } as const;

const ROWS: readonly Row[] = [
  ['nothing in the way', {}, {}, 'Current', 'True Succeeded', 'The last run succeeded'],
  [
    'no decision yet',
    { status: 'undecided', isEnabled: false, reason: 'the first discovery is not finished yet' },
    {},
    'InProgress',
    'Unknown NotDecided',
    'the first discovery is not finished yet',
  ],
  [
    'disabled',
    { status: 'disabled', reason: 'off' },
    {},
    'InProgress',
    'False Disabled',
    'The module is disabled: off',
  ],
  [
    'a refused ConfigMap and a disabled module',
    { status: 'disabled', reason: 'off' },
    { configProblem: 'replicas', blocksAll: TASK },
    'InProgress',
    'False Disabled',
    'The module is disabled: off',
  ],
  [
    'a requirement that is missing',
    {
      status: 'disabled',
      source: 'requirement',
      reason: 'requires module db, which does not exist',
      requires: [{ ...DB, status: null, unmet: ABSENT }],
    },
    {},
    'Failed',
    'False RequirementMissing',
    'requires module db, which does not exist',
  ],
  ['the first run', NEW, { progress: 'running' }, 'InProgress', 'False Progressing', 'The module is running'],
  [
    'others in front of its first run',
    { ...NEW, waits: [{ type: 'queue', text: 'ModuleRun:main:db:Start in front of it in queue main' }] },
    {},
    'InProgress',
    'False Progressing',
    'The module is queued',
  ],
  [
    'a change that is queued',
    {},
    { progress: 'pending' },
    'InProgress',
    'Unknown Progressing',
    'A run after a change is queued',
  ],
  [
    'a task of others at the head of its queue that fails',
    NEW,
    { blocksOwn: { ...TASK, task: 'ModuleRun db', error: 'no database' } },
    'Failed',
    'False QueueBlocked',
    `ModuleRun db at the head of queue main fails: no database`,
  ],
  [
    'a hook of others at the head of its queue that runs for long',
    {},
    { progress: 'pending', blocksOwn: { ...TASK, error: '', nextAttemptAt: null, hook: NEIGHBOUR_HOOK } },
    'InProgress',
    'Unknown HookRunning',
    'hook hang.sh (schedule, queue main, task GlobalHookRun) has been running since 2026-01-01T00:00:00.000Z',
  ],
  [
    'a global hook that fails',
    {},
    { blocksAll: TASK },
    'Failed',
    'False QueueBlocked',
    `GlobalHookRun a.sh at the head of queue main fails: no network`,
  ],
  [
    'a global hook that hangs',
    {},
    { blocksAll: { ...TASK, error: '', nextAttemptAt: null, hook: { ...NEIGHBOUR_HOOK, isStuck: true } } },
    'Failed',
    'False HookHangs',
    'hook hang.sh (schedule, queue main, task GlobalHookRun) has been running since 2026-01-01T00:00:00.000Z',
  ],
  [
    'an enabled script that fails before the first decision',
    { status: 'undecided', isEnabled: false },
    { blocksAll: { ...TASK, task: 'ConvergeModules', error: "the enabled script of module 'db' failed" } },
    'Failed',
    'False QueueBlocked',
    `ConvergeModules at the head of queue main fails: the enabled script of module 'db' failed`,
  ],
  [
    'a refused ConfigMap',
    {},
    { configProblem: 'web.replicas: must be integer', blocksAll: { ...TASK, task: 'ApplyKubeConfigValues' } },
    'Failed',
    'False ConfigMapRefused',
    'the ConfigMap is refused, so older values stay in use: web.replicas: must be integer',
  ],
  [
    'changed files that cannot be loaded',
    {},
    { unloadedFiles: ['changed files cannot be loaded, the modules are as they were: values.yaml:3: bad'] },
    'Failed',
    'False FilesNotLoaded',
    'changed files cannot be loaded, the modules are as they were: values.yaml:3: bad',
  ],
  [
    'a hook of its own that runs for long',
    {},
    { progress: 'running', hooks: [HOOK] },
    'InProgress',
    'Unknown HookRunning',
    'hook web/hooks/hang.sh (beforeHelm, queue main, task ModuleRun, pid 4711) has been running since 2026-01-01T00:00:00.000Z',
  ],
  [
    'a hook of its own that hangs',
    NEW,
    { progress: 'running', hooks: [{ ...HOOK, isStuck: true }] },
    'Failed',
    'False HookHangs',
    'hook web/hooks/hang.sh (beforeHelm, queue main, task ModuleRun, pid 4711) has been running since 2026-01-01T00:00:00.000Z',
  ],
  [
    'a failure',
    { status: 'failing', failure: FAILURE },
    {},
    'Failed',
    'False RunFailed',
    `HOOK_FAILED: no disk`,
  ],
  [
    'a failure for good',
    { status: 'failing', failure: STALL },
    {},
    'Failed',
    'False RunFailed',
    'HOOK_FAILED: no disk; it is not retried until something about the module changes',
  ],
  [
    'a failure for good, and a change',
    { status: 'failing', failure: STALL },
    { progress: 'pending' },
    'InProgress',
    'False RunFailed',
    'HOOK_FAILED: no disk; it is run again after a change or a request',
  ],
  [
    'an extension that makes it wait',
    { status: 'isolated', failure: { ...FAILURE, code: 'RELEASE_BLOCKED', error: 'not now' } },
    {},
    'InProgress',
    'False RunFailed',
    `RELEASE_BLOCKED: not now`,
  ],
  [
    'a requirement that fails',
    { status: 'isolated', requires: [DB] },
    {},
    'Failed',
    'False RequirementFailed',
    'It waits for module db, which fails',
  ],
  [
    'a missing permission',
    {},
    {
      staleBindings: [
        { text: "hook a.sh, kubernetes binding 'pods' has no snapshot: forbidden", isForbidden: true },
      ],
    },
    'Failed',
    'False Forbidden',
    "hook a.sh, kubernetes binding 'pods' has no snapshot: forbidden",
  ],
  [
    'a stale watch',
    {},
    {
      staleBindings: [
        { text: "hook a.sh, kubernetes binding 'pods' has an old snapshot: EOF", isForbidden: false },
      ],
    },
    'Failed',
    'False WatchFailed',
    "hook a.sh, kubernetes binding 'pods' has an old snapshot: EOF",
  ],
  ['a pause', { status: 'paused', pause: PAUSE }, {}, 'Current', 'True Paused', 'Paused: disks'],
  [
    'a pause with an end',
    { status: 'paused', pause: { ...PAUSE, until: NEXT } },
    {},
    'Current',
    'True Paused',
    `Paused until ${NEXT}: disks`,
  ],
  [
    'a pause before its run finished',
    { status: 'paused', pause: PAUSE },
    { isDeployed: false },
    'Failed',
    'False Paused',
    'Paused before its run finished: disks',
  ],
  [
    'a pause with an end, and a change',
    { status: 'paused', pause: { ...PAUSE, until: NEXT } },
    { isRunDeferred: true },
    'InProgress',
    'False Paused',
    `Paused until ${NEXT}, and a run waits for the end of the pause: disks`,
  ],
  [
    'the policy',
    { status: 'unauthorized', reason: 'not authorized: no signature' },
    {},
    'Failed',
    'False Unauthorized',
    'not authorized: no signature',
  ],
  [
    'a directory that is gone',
    { status: 'held', reason: 'its directory is gone; 1 release waits', waitsFor: ['a decision'] },
    {},
    'Failed',
    'False DirectoryGone',
    'its directory is gone; 1 release waits',
  ],
  [
    'its deletion',
    { status: 'deleting', isEnabled: false },
    {},
    'InProgress',
    'False Deleting',
    'The module is disabled and being deleted',
  ],
  [
    'its deletion, which fails',
    { status: 'deleting', isEnabled: false, failure: FAILURE },
    {},
    'Failed',
    'False RunFailed',
    `HOOK_FAILED: no disk`,
  ],
  [
    'drift that nothing corrects',
    { drift: { mode: 'warn', objects: [DRIFTED] } },
    {},
    'Current',
    'True Drifted',
    'The last run succeeded; others changed ns/Deployment/web, it is not corrected',
  ],
  [
    'drift whose correction is refused',
    {
      drift: {
        mode: 'heal',
        objects: [
          {
            ...DRIFTED,
            outlook: `the API server refused the correction, which is tried again`,
            correction: { at: NEXT, isRefused: true },
          },
        ],
      },
    },
    {},
    'Failed',
    'False DriftNotCorrected',
    `ns/Deployment/web was changed by others; the API server refused the correction, which is tried again`,
  ],
];

test.each(ROWS)(
  'with %s, kstatus reads from the status of a module what its message says',
  (_name, explanation, obstacles, kstatus, ready, message) => {
    const facts = factsOf(explanation, obstacles);
    const status = moduleStatus(facts, { nowMs: 0, operator: 'ns/cm', generation: 1, before: undefined });
    const said = status.conditions.find(({ type }) => type === 'Ready');
    expect([`${said?.status} ${said?.reason}`, said?.message]).toEqual([ready, message]);
    const object = { metadata: { generation: 1 }, status };
    expect(kstatusOf(object)).toBe(kstatus);
    // A module that is disabled is not ready, and nothing is done about it.
    expect(kstatusProblems(object)).toEqual([]);
    expect(status.phase === 'Succeeded').toBe(said?.status === 'True');
  },
);

test.each(ROWS)(
  'with %s, the message of Ready stays the same between two moments',
  (_name, explanation, obstacles) => {
    const facts = factsOf(explanation, obstacles);
    expect(conditionsOf(facts)).toEqual(conditionsOf(factsOf(explanation, obstacles)));
    for (const { message } of conditionsOf(facts))
      expect(message).not.toMatch(/\b\d+ (s|seconds|minutes)\b/u);
  },
);

test('each thing in the way that needs a person has a remedy', () => {
  const causes = ROWS.flatMap(
    ([, explanation, obstacles]) => factsOf(explanation, obstacles).explanation.causes,
  );
  const without = causes.filter(({ isStalled, remedy }) => isStalled && remedy === null);
  // A watch that fails is opened again until it succeeds.
  expect(without.map(({ reason }) => reason)).toEqual(['WatchFailed']);
});
