import type { PatchOperation } from '@addon-operator/kube-client/object-patch/patch-operation';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { HookRunEnd } from '../hook-runs/hook-execution.ts';
import { noteReadiness } from '../hook-runs/note-readiness.ts';
import type { ModuleName } from '../values/module-key.ts';
import { notReadyText, type Readiness, readinessOfFailure, takeReadiness } from './probe-readiness.ts';
import { TrackedModule } from './tracked-module.ts';

function merge(status: unknown, target: object = {}): PatchOperation {
  return {
    operation: 'MergePatch',
    target: { apiVersion: 'deckhouse.io/v1alpha1', kind: 'Module', namespace: '', name: 'web', ...target },
    subresource: '/status',
    ignoreMissingObject: false,
    mergePatch: { status },
  };
}

const condition = (type: string, status: string, message?: string) => ({ type, status, message });

test.each<[string, unknown, Readiness | undefined]>([
  [
    'the condition IsReady counts, not the phase',
    { phase: 'Ready', conditions: [condition('Other', 'True'), condition('IsReady', 'False', 'no pods')] },
    { type: 'not-ready', message: 'no pods' },
  ],
  ['a true condition', { conditions: [condition('IsReady', 'True')] }, { type: 'ready' }],
  ['the phase without a condition', { phase: 'Reconciling' }, { type: 'not-ready', message: '' }],
  ['the phase Ready', { phase: 'Ready', conditions: [] }, { type: 'ready' }],
  ['neither', { conditions: [7] }, undefined],
  ['no status', undefined, undefined],
])('takeReadiness(): %s', (_what, status, readiness) => {
  expect(takeReadiness([merge(status)])).toEqual({ readiness, others: [] });
});

test('takeReadiness() leaves operations on anything else to be applied', () => {
  const others: PatchOperation[] = [
    merge({ phase: 'Ready' }, { apiVersion: 'addon-operator.io/v1alpha1' }),
    merge({ phase: 'Ready' }, { kind: 'ModuleConfig' }),
    { ...(merge({}) as Extract<PatchOperation, { operation: 'MergePatch' }>), subresource: undefined },
    { operation: 'Create', object: { kind: 'Module', apiVersion: 'deckhouse.io/v1alpha1', metadata: {} } },
  ];
  expect(takeReadiness(others)).toEqual({ readiness: undefined, others });
});

test('a probe that fails says nothing where the kind that it reads does not exist', () => {
  expect(readinessOfFailure('no pods', true)).toEqual({ type: 'not-ready', message: 'no pods' });
  expect(notReadyText(readinessOfFailure('no object', false))).toBeNull();
  expect(notReadyText({ type: 'not-ready', message: 'no pods' })).toBe(
    'its readiness probe says that it is not ready: no pods',
  );
});

test('a change of the readiness is logged once', () => {
  const log = new CapturedLog(new FakeClock());
  const tracked = new TrackedModule(moduleFor('web'));
  const registry = { tracked: new Map([['web' as ModuleName, tracked]]) };
  const hook = {
    name: 'hooks/batch-readiness',
    path: '/batch',
    transport: 'executable',
    owner: { type: 'module', module: 'web' as ModuleName },
    config: NO_BINDINGS,
  };
  const note = (readiness: Readiness | undefined): void =>
    noteReadiness({ registry, log: log.logger }, {
      run: { hook: { hook } },
      readiness,
    } as unknown as HookRunEnd);
  note({ type: 'ready' });
  note({ type: 'not-ready', message: 'no pods' });
  note(undefined);
  note({ type: 'not-ready', message: 'one pod' });
  expect(tracked.readiness).toEqual({ type: 'not-ready', message: 'one pod' });
  note({ type: 'ready' });
  note({ type: 'unknown', message: 'no object' });
  note({ type: 'unknown', message: 'no object' });
  expect(log.records.map(({ level, reason }) => [level, reason])).toEqual([
    ['warn', 'no pods'],
    ['info', undefined],
    ['warn', 'no object'],
  ]);
});
