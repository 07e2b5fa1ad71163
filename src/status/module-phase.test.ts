import { expect, test } from 'vitest';
import { PAUSE, READY_MODULE } from '../../test/support/module-explanations.ts';
import { causesOf, NO_OBSTACLES, type Obstacles } from './module-causes.ts';
import { conditionsOf } from './module-conditions.ts';
import type { ModuleExplanation, ModuleStatus } from './module-explanation.ts';
import { modulePhase } from './module-phase.ts';

const STATUSES: readonly ModuleStatus[] = [
  'undecided',
  'disabled',
  'unauthorized',
  'held',
  'deleting',
  'paused',
  'starting',
  'failing',
  'isolated',
  'ready',
];
const STEPS = ['not started', 'startup', 'synchronization', 'wait-for-synchronization', 'helm', 'ready'];
const FAILURE = { error: 'no disk', attempts: 1, nextAttemptAt: null };
const TASK = {
  queue: 'main',
  task: 'ModuleRun db',
  error: 'no disk',
  file: '',
  nextAttemptAt: null,
  hook: null,
};
const HOOK = { hook: 'web/a.sh', binding: 'schedule', queue: 'q', task: 'ModuleHookRun', pid: 1, since: '' };
const DRIFTED = { resource: '/Pod/a', fields: [], changedBy: [], since: '', outlook: '' };

const OBSTACLES: readonly Partial<Obstacles>[] = [
  {},
  { configProblem: 'replicas' },
  { unloadedFiles: ['hooks'] },
  { blocksAll: TASK },
  { blocksOwn: TASK },
  { hooks: [{ ...HOOK, isStuck: false }] },
  { hooks: [{ ...HOOK, isStuck: true }] },
  { staleBindings: [{ text: 'pods', isForbidden: true }] },
  { isRunDeferred: true },
  { notReady: 'its readiness probe says that it is not ready' },
  { progress: 'pending' },
  { progress: 'running' },
];

const EXPLAINED: readonly Partial<ModuleExplanation>[] = [
  {},
  { drift: { mode: 'warn', objects: [DRIFTED] } },
  { drift: { mode: 'heal', objects: [{ ...DRIFTED, correction: { at: '', isRefused: true } }] } },
  { failure: { ...FAILURE, isGivenUp: true } },
  { failure: { ...FAILURE, isGivenUp: false } },
  { pause: PAUSE },
  { pause: { ...PAUSE, handedOverTo: 'me' } },
];

const READY = { ...READY_MODULE, release: null };

test('a module is in the phase Succeeded if and only if it is ready, whatever is in its way', () => {
  const seen = new Set<unknown>();
  for (const status of STATUSES)
    for (const step of STEPS)
      for (const explained of EXPLAINED)
        for (const isDeployed of [true, false])
          for (const partial of OBSTACLES) {
            const facts = { ...READY, ...explained, status, step };
            const obstacles = { ...NO_OBSTACLES, isDeployed, ...partial };
            const causes = causesOf(facts, obstacles);
            const phase = modulePhase({ ...facts, causes }, obstacles);
            const { progress } = obstacles;
            const release = undefined;
            const explanation = { ...facts, causes, phase };
            const all = {
              explanation,
              release,
              isDeployed,
              progress,
              reconciledAtMs: undefined,
              hookRuns: [],
            };
            const ready = conditionsOf(all).find(({ type }) => type === 'Ready');
            const isSucceeded = phase === 'Succeeded';
            const context = { status, step, explained, partial, isDeployed };
            expect({ ...context, isSucceeded }).toEqual({
              ...context,
              isSucceeded: ready?.status === 'True',
            });
            seen.add(`${phase}`);
          }
  expect(seen).toEqual(new Set(['Deleting', 'Failed', 'Init', 'Progressing', 'Succeeded', 'null']));
});

test.each<[string, Partial<ModuleExplanation>, Partial<Obstacles>, string]>([
  ['behind a task of others that fails', {}, { blocksAll: TASK }, 'Init'],
  [
    'before its first run, behind others',
    { status: 'starting', step: 'not started' },
    { blocksOwn: TASK },
    'Init',
  ],
  ['with a refused ConfigMap', {}, { configProblem: 'replicas' }, 'Init'],
  ['whose hook runs for long', {}, { hooks: [{ ...HOOK, isStuck: false }] }, 'Progressing'],
  ['whose hook hangs', {}, { hooks: [{ ...HOOK, isStuck: true }] }, 'Failed'],
  ['whose readiness probe says that it is not', { status: 'starting' }, { notReady: 'no' }, 'Progressing'],
  ['without a permission', {}, { staleBindings: [{ text: 'pods', isForbidden: true }] }, 'Failed'],
])('a module %s is in its phase', (_name, explained, partial, expected) => {
  const facts = { ...READY, ...explained };
  const obstacles = { ...NO_OBSTACLES, ...partial };
  expect(modulePhase({ ...facts, causes: causesOf(facts, obstacles) }, obstacles)).toBe(expected);
});
