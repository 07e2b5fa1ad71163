import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { HOOK_FIELD_MANAGER, hookStatus } from './hook-status.ts';

const READY = { type: 'Ready', status: 'True', reason: 'So', message: '' };
const DNS = { type: 'DnsReady', status: 'True', reason: 'So', message: '' };

/** An object whose fields were reported by the hook before. */
function moduleWith(
  status: Readonly<Record<string, unknown>>,
  owned: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return {
    kind: 'Module',
    metadata: {
      name: 'web',
      managedFields: [
        { manager: 'addon-operator', operation: 'Apply', fieldsV1: { 'f:status': { 'f:phase': {} } } },
        { manager: HOOK_FIELD_MANAGER, operation: 'Apply', fieldsV1: { 'f:status': owned } },
      ],
    },
    status,
  };
}

const REPORTED = { 'f:endpoint': {}, 'f:conditions': { 'k:{"type":"DnsReady"}': { '.': {} } } };

test('hookStatus() is nothing when the status came back as it was', () => {
  const status = { phase: 'Init', endpoint: 'a', conditions: [READY, DNS], by: 'others' };
  expect(hookStatus(moduleWith(status, REPORTED), status)).toBeUndefined();
  expect(hookStatus(moduleWith(status), { ...status, phase: 'Succeeded' })).toBeUndefined();
});

test('hookStatus() takes what is new, and nothing of the operator or of others', () => {
  const sent = moduleWith({ phase: 'Init', by: 'others', conditions: [READY] });
  const returned = {
    phase: 'Succeeded',
    description: 'of the hook',
    stage: 'of the hook',
    by: 'others',
    endpoint: 'a',
    conditions: [{ ...READY, status: 'False' }, DNS],
  };
  expect(hookStatus(sent, returned)).toEqual({ endpoint: 'a', conditions: [DNS] });
});

test('hookStatus() keeps what the hook reported before, along with a change', () => {
  const sent = moduleWith({ endpoint: 'a', conditions: [DNS] }, REPORTED);
  expect(hookStatus(sent, { endpoint: 'b', conditions: [DNS] })).toEqual({
    endpoint: 'b',
    conditions: [DNS],
  });
});

test('hookStatus() lets go what the hook leaves out', () => {
  const sent = moduleWith({ endpoint: 'a', conditions: [READY, DNS] }, REPORTED);
  expect(hookStatus(sent, { endpoint: 'a', conditions: [READY] })).toEqual({ endpoint: 'a' });
  expect(hookStatus(sent, { conditions: [DNS] })).toEqual({ conditions: [DNS] });
});

test('hookStatus() copes with an object without a status', () => {
  const sent: KubeObject = { kind: 'Module', metadata: { name: 'web' } };
  expect(hookStatus(sent, { endpoint: 'a' })).toEqual({ endpoint: 'a' });
});

test('hookStatus() takes keys of prototypes for data, and leaves out every field of the operator', () => {
  const returned: unknown = JSON.parse(
    '{"__proto__": {"phase": "Failed"}, "toString": 1, "operator": "x/y"}',
  );
  const sent = moduleWith({ phase: 'Init' });
  expect(JSON.stringify(hookStatus(sent, returned as Readonly<Record<string, unknown>>))).toBe(
    '{"__proto__":{"phase":"Failed"},"toString":1}',
  );
});

test.each<unknown>([null, 'Ready', [null, 7, 'Ready'], { type: 'Ready' }])(
  'hookStatus() takes conditions %j for none',
  (conditions) => {
    expect(hookStatus(moduleWith({ conditions: [READY] }), { conditions })).toBeUndefined();
  },
);
