import type { FlowHookType, FlowModule, HookResult } from '@addon-operator/sdk';
import { expect, test } from 'vitest';
import { silentHookLog } from '../../../test/support/flow-hooks.ts';
import { continuousReconcile } from './create-flow-hooks.ts';

const MODULE: FlowModule = {
  name: 'web',
  path: '/modules/web',
  version: null,
  isEnabled: true,
  phase: 'Succeeded',
  operation: null,
  lastReconcileMs: 1_000,
  lastError: '',
  reconcileEvery: '10s',
  release: null,
};

async function response(type: FlowHookType, module: Partial<FlowModule>, nowMs: number): Promise<unknown> {
  const { hook } = continuousReconcile({
    now: () => nowMs,
    nextAfter: (_every, afterMs) => afterMs + 10_000,
  });
  return await hook({
    type,
    module: { ...MODULE, ...module },
    target: { namespace: 'ns' },
    error: undefined,
    log: silentHookLog,
    signal: new AbortController().signal,
  });
}

test.each<[string, FlowHookType, Partial<FlowModule>, number, HookResult | undefined]>([
  ['is wanted when its time has come', 'ShouldReconcile', {}, 11_000, { abortReconcile: false }],
  [
    'is wanted when it never was',
    'ShouldReconcile',
    { lastReconcileMs: null },
    11_000,
    { abortReconcile: false },
  ],
  [
    'is put off until its time',
    'ShouldReconcile',
    {},
    9_000,
    { abortReconcile: true, requeueAfterMs: 2_000 },
  ],
  ['has no opinion when there was a change', 'ShouldReconcile', { phase: 'Init' }, 9_000, undefined],
  [
    'has no opinion when the reconcile was requested',
    'ShouldReconcile',
    { operation: 'abort' },
    9_000,
    undefined,
  ],
  ['is asked for when one has ended', 'End', {}, 5_000, { requeueAfterMs: 10_000 }],
  ['is not asked for without a time', 'End', { reconcileEvery: null }, 5_000, undefined],
  ['is not asked for after a failure for good', 'End', { phase: 'Failed' }, 5_000, undefined],
  ['is not asked for when the module goes', 'End', { phase: 'Deleting' }, 5_000, undefined],
])('another reconcile %s', async (_name, type, module, nowMs, expected) => {
  expect(await response(type, module, nowMs)).toEqual(expected);
});
