import { expect, test } from 'vitest';
import { HOOK_FAILURE, NEXT_ATTEMPT, PAUSE, READY_MODULE } from '../../test/support/module-explanations.ts';
import { causesOf, NO_OBSTACLES } from './module-causes.ts';
import { conditionsOf } from './module-conditions.ts';
import type { ModuleExplanation } from './module-explanation.ts';
import type { ModuleFacts } from './module-facts.ts';
import { modulePhase } from './module-phase.ts';
import { moduleStatus, statusUntilDecided } from './module-status.ts';
import { statusChange } from './status-change.ts';

type Explanation = Omit<ModuleExplanation, 'release'>;

const READY: Explanation = {
  ...READY_MODULE,
  reason: 'webEnabled is true',
  lastRun: { startedAt: '2026-01-01T00:00:00.000Z', durationMs: 5, result: 'success' },
};
const { code: _code, ...FAILURE } = HOOK_FAILURE;
const TASK = { queue: 'main', file: '', nextAttemptAt: NEXT_ATTEMPT, hook: null };
const DRIFT = { resource: 'ns/Deployment/web', fields: ['/a'], changedBy: [], since: '', outlook: '' };

function facts(explanation: Partial<Explanation> = {}, other: Partial<ModuleFacts> = {}): ModuleFacts {
  const { isDeployed = true, progress = 'none' } = other;
  const all = { ...READY, ...explanation };
  const causes = causesOf(all, { ...NO_OBSTACLES, isDeployed, progress });
  const phase = modulePhase({ ...all, causes }, { isDeployed, progress });
  return {
    explanation: { ...all, causes, phase },
    release: { revision: 3, digest: 'abc' },
    isDeployed,
    progress,
    reconciledAtMs: Date.parse('2026-01-01T00:00:00Z'),
    hookRuns: [],
    ...other,
  };
}

const CONTEXT = { nowMs: 0, operator: 'ns/cm', generation: 1, before: undefined };

test.each<[string, Partial<Explanation>, boolean, string | undefined, Record<string, string>]>([
  ['ready', {}, true, 'Succeeded', { Ready: 'True Succeeded', Stalled: 'False NotStalled' }],
  [
    'undecided',
    { status: 'undecided', isEnabled: false, source: null },
    false,
    'Init',
    { Enabled: 'Unknown NotDecided', Ready: 'Unknown NotDecided', Reconciling: 'True Running' },
  ],
  ['waiting', { status: 'starting', step: 'not started' }, false, 'Init', { Ready: 'False Progressing' }],
  ['running', { status: 'starting', step: 'helm' }, false, 'Progressing', { Reconciling: 'True Running' }],
  [
    'failing',
    { status: 'failing', failure: FAILURE },
    false,
    'Failed',
    { Ready: 'False RunFailed', Reconciling: 'False RunFailed', Stalled: 'True RunFailed' },
  ],
  [
    'given up',
    { status: 'failing', failure: { ...FAILURE, nextAttemptAt: null, isGivenUp: true } },
    false,
    'Failed',
    { Ready: 'False RunFailed', Reconciling: 'False RunFailed', Stalled: 'True RunFailed' },
  ],
  ['isolated', { status: 'isolated' }, false, 'Failed', { Ready: 'False RequirementFailed' }],
  [
    'paused',
    { status: 'paused', pause: PAUSE },
    true,
    'Succeeded',
    { Ready: 'True Paused', Stalled: 'False NotStalled' },
  ],
  [
    'unauthorized',
    { status: 'unauthorized', source: 'authorization', reason: 'not authorized: no signature' },
    true,
    'Failed',
    {
      Enabled: 'True Authorization',
      Ready: 'False Unauthorized',
      Reconciling: 'False Unauthorized',
      Stalled: 'True Unauthorized',
    },
  ],
  ['paused early', { status: 'paused', pause: PAUSE }, false, 'Init', { Ready: 'False Paused' }],
  [
    'deleting',
    { status: 'deleting', isEnabled: false },
    false,
    'Deleting',
    { Enabled: 'False ConfigMap', Ready: 'False Deleting', Reconciling: 'True Deleting' },
  ],
  ['disabled', { status: 'disabled', isEnabled: false }, false, undefined, { Ready: 'False Disabled' }],
  ['in sync', { drift: { mode: 'warn', objects: [] } }, true, 'Succeeded', { Drifted: 'False InSync' }],
  [
    'not comparable',
    { drift: { mode: 'warn', objects: [], uncompared: [{ resource: '/Secret/web', error: 'forbidden' }] } },
    true,
    'Succeeded',
    { Drifted: 'Unknown CannotCompare' },
  ],
  [
    'drifted',
    { drift: { mode: 'warn', objects: [DRIFT] } },
    true,
    'Succeeded',
    { Drifted: 'True ChangedByOthers' },
  ],
])('a module that is %s has its phase and conditions', (_name, explanation, isDeployed, phase, expected) => {
  const given = facts(explanation, { isDeployed });
  const said = conditionsOf(given).map(({ type, status, reason }) => [type, `${status} ${reason}`]);
  expect(Object.fromEntries(said)).toMatchObject(expected);
  expect(moduleStatus(given, CONTEXT).phase).toBe(phase);
});

test.each([
  ['none', 'Succeeded'],
  ['pending', 'Init'],
  ['running', 'Progressing'],
] as const)('the phase of a module that was deployed before, with progress %s, is %s', (progress, phase) => {
  expect(moduleStatus(facts({}, { progress }), CONTEXT).phase).toBe(phase);
});

test('moduleStatus() says everything there is, and leaves out the rest', () => {
  const hookRuns = [
    { hook: 'a', binding: 'beforeHelm', startedAtMs: 1_000, durationMs: 2, error: undefined },
    { hook: 'b', binding: 'schedule', startedAtMs: 2_000, durationMs: 3, error: 'broken' },
  ];
  const status = moduleStatus(facts({ status: 'failing', failure: FAILURE }, { hookRuns }), CONTEXT);
  expect(status).toMatchObject({
    observedGeneration: 1,
    operator: 'ns/cm',
    enablement: { enabled: true, source: 'config-map', reason: 'webEnabled is true' },
    version: '1.2.3',
    release: { name: 'web', revision: 3, digest: 'abc' },
    lastError: 'no disk',
    failedAttempts: 2,
    nextRetry: '2026-01-01T00:00:05.000Z',
    lastReconcileTime: '2026-01-01T00:00:00.000Z',
    hookRuns: [
      { hook: 'a', startedAt: '1970-01-01T00:00:01.000Z', durationMs: 2, result: 'success' },
      { hook: 'b', result: 'failure', error: 'broken' },
    ],
  });
  const bare = moduleStatus(facts({ version: null, lastRun: null }, { release: undefined }), CONTEXT);
  for (const field of ['version', 'release', 'lastError', 'nextRetry', 'lastRun', 'hookRuns'])
    expect(bare).not.toHaveProperty(field);
});

test('moduleStatus() keeps the release it does not know yet, and the times of conditions that are the same', () => {
  const before = moduleStatus(facts(), CONTEXT);
  const later = { ...CONTEXT, nowMs: 60_000, before };
  const status = moduleStatus(
    facts(
      { status: 'starting', step: 'helm', lastRun: null },
      { release: undefined, reconciledAtMs: undefined },
    ),
    later,
  );
  expect(status.release).toEqual(before.release);
  expect(status.lastReconcileTime).toBe(before.lastReconcileTime);
  const since = status.conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`);
  expect(since).toEqual([
    'Enabled 1970-01-01T00:00:00Z',
    'Ready 1970-01-01T00:01:00Z',
    'Reconciling 1970-01-01T00:01:00Z',
    'Drifted 1970-01-01T00:00:00Z',
    'Stalled 1970-01-01T00:00:00Z',
  ]);
  expect(moduleStatus(facts({ status: 'disabled' }, { release: undefined }), later)).not.toHaveProperty(
    'release',
  );
});

test('moduleStatus() bounds long texts and the number of hook runs', () => {
  const run = { hook: 'a', binding: 'b', startedAtMs: 0, durationMs: 0, error: 'x'.repeat(5_000) };
  const failure = { ...FAILURE, error: 'y'.repeat(1_000_000) };
  const status = moduleStatus(
    facts({ status: 'failing', failure }, { hookRuns: Array.from({ length: 50 }, () => run) }),
    CONTEXT,
  );
  expect(status.hookRuns).toHaveLength(10);
  expect(JSON.stringify(status).length).toBeLessThan(20_000);
});

test('durations are whole numbers, as the definition of the kind demands', () => {
  const hookRuns = [{ hook: 'a', binding: 'b', startedAtMs: 0.4, durationMs: 2.6, error: undefined }];
  const lastRun = { startedAt: '2026-01-01T00:00:00.000Z', durationMs: 5.25, result: 'success' as const };
  const status = moduleStatus(facts({ status: 'ready', lastRun }, { hookRuns }), CONTEXT);
  expect([status.lastRun?.durationMs, status.hookRuns?.[0]?.durationMs]).toEqual([5, 3]);
});

test('conditions name the code of a failure before its message', () => {
  const failure = { ...FAILURE, code: 'HOOK_FAILED' } as const;
  const messages = conditionsOf(facts({ status: 'failing', failure }))
    .filter(({ type }) => type === 'Ready' || type === 'Stalled')
    .map(({ message }) => message);
  const message = 'HOOK_FAILED: no disk';
  expect(messages).toEqual([message, message]);
});

test.each([
  ['not for another number in the error', 'ModuleRun db', 'no disk (pid 12, 10:00:01)', 'none'],
  ['for another error', 'ModuleRun db', 'no network (pid 1, 10:00:00)', 'substance'],
  ['for another task', 'ModuleRun db2', 'no disk (pid 1, 10:00:00)', 'substance'],
])('the status of a module behind a task that fails is written again %s', (_name, task, error, change) => {
  const behind = (head: string, text: string): ModuleFacts => {
    const blocksAll = { ...TASK, task: head, error: text };
    return facts({}, { explanation: { ...READY, causes: causesOf(READY, { ...NO_OBSTACLES, blocksAll }) } });
  };
  const before = moduleStatus(behind('ModuleRun db', 'no disk (pid 1, 10:00:00)'), CONTEXT);
  expect(before.conditions[1]?.message).toContain('no disk');
  expect(statusChange(moduleStatus(behind(task, error), { ...CONTEXT, before }), before)).toBe(change);
});

test('the message of Ready is one line, which keeps the beginning and the end of a long error', () => {
  const error = `helm upgrade failed:\n${'x'.repeat(500)}\n\u001b[31mno such key`;
  const failure = { error, attempts: 1, nextAttemptAt: null, isGivenUp: false };
  const [, ready] = conditionsOf(facts({ status: 'failing', failure }, { isDeployed: true }));
  expect(ready?.message).toHaveLength(240);
  expect(ready?.message).toMatch(/^helm upgrade failed: x+ … x+ \\u001b\[31mno such key$/);
});

test('before the first discovery a status stays, except for what is in the way of the discovery', () => {
  const before = {
    ...moduleStatus(facts({ status: 'failing', failure: FAILURE }), CONTEXT),
    endpoint: 'https://web',
  };
  const later = { ...CONTEXT, nowMs: 60_000, before };
  const undecided = facts({ status: 'undecided', isEnabled: false, source: null });
  expect(statusUntilDecided(undecided, later)).toBeUndefined();
  const causes = causesOf(undecided.explanation, { ...NO_OBSTACLES, configProblem: 'no map' });
  const blocked = { ...undecided, explanation: { ...undecided.explanation, causes } };
  const status = statusUntilDecided(blocked, later);
  expect(status).toMatchObject({
    phase: 'Failed',
    enablement: { enabled: true, source: 'config-map' },
    lastRun: before.lastRun,
    release: before.release,
  });
  expect(status).not.toHaveProperty('lastError');
  expect(status).not.toHaveProperty('endpoint');
  expect(
    status?.conditions.map(({ type, status: value, reason, lastTransitionTime }) => [
      type,
      `${value} ${reason} ${lastTransitionTime}`,
    ]),
  ).toEqual([
    ['Enabled', 'True ConfigMap 1970-01-01T00:00:00Z'],
    ['Ready', 'False ConfigMapRefused 1970-01-01T00:00:00Z'],
    ['Reconciling', 'False ConfigMapRefused 1970-01-01T00:00:00Z'],
    ['Drifted', 'Unknown NotWatched 1970-01-01T00:00:00Z'],
    ['Stalled', 'True ConfigMapRefused 1970-01-01T00:00:00Z'],
  ]);
});
