import type { FlowHookType, HookResult } from '@addon-operator/sdk';
import { FLOW_HOOK_TYPES } from '@addon-operator/sdk/host';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { aggregateRequeues, aggregateResults } from './flow-pass.ts';

const ENFORCING: readonly FlowHookType[] = ['DuringResponsibilityCheck', 'ShouldReconcile'];
const ABORT = { abortReconcile: true };
const GO_ON = { abortReconcile: false };

const OTHERS = FLOW_HOOK_TYPES.filter((type) => !ENFORCING.includes(type));
const NO_REQUEUE = { requeue: false, requeueAfterMs: 0 };

test.each<[string, readonly FlowHookType[], readonly (HookResult | undefined)[], HookResult | undefined]>([
  ['no hook says nothing', FLOW_HOOK_TYPES, [], undefined],
  ['hooks that all say nothing say nothing', FLOW_HOOK_TYPES, [undefined, undefined], undefined],
  [
    'the only result comes back as it is',
    FLOW_HOOK_TYPES,
    [undefined, { requeue: true, requeueAfterMs: 5 }, undefined],
    { requeue: true, requeueAfterMs: 5 },
  ],
  ['one abort suffices', OTHERS, [GO_ON, ABORT], { ...ABORT, ...NO_REQUEUE }],
  [
    'one that goes on suffices where that enforces something',
    ENFORCING,
    [ABORT, GO_ON],
    { ...GO_ON, ...NO_REQUEUE },
  ],
  [
    'all have to abort where going on enforces something',
    ENFORCING,
    [ABORT, undefined, ABORT],
    { ...ABORT, ...NO_REQUEUE },
  ],
  [
    'the shortest time above zero counts',
    FLOW_HOOK_TYPES,
    [{ requeueAfterMs: 0 }, { requeueAfterMs: 9 }, { requeueAfterMs: 7 }],
    { abortReconcile: false, requeue: false, requeueAfterMs: 7 },
  ],
  [
    'a requeue at once makes the time zero',
    FLOW_HOOK_TYPES,
    [{ requeue: true }, { requeueAfterMs: 7 }],
    { abortReconcile: false, requeue: true, requeueAfterMs: 0 },
  ],
])('%s', (_name, types, results, expected) => {
  for (const type of types) expect(aggregateResults(type, results)).toEqual(expected);
});

test('the only result is a copy', () => {
  const result = { requeue: true };
  expect(aggregateResults('End', [result])).not.toBe(result);
});

const anyResult: fc.Arbitrary<HookResult | undefined> = fc.option(
  fc.record({
    abortReconcile: fc.boolean(),
    requeue: fc.boolean(),
    requeueAfterMs: fc.nat(100),
  }),
  { nil: undefined },
);

test('the order of hooks does not matter, and neither does one that says nothing', () => {
  fc.assert(
    fc.property(fc.constantFrom(...FLOW_HOOK_TYPES), fc.array(anyResult), (type, results) => {
      const forwards = aggregateResults(type, results);
      expect(aggregateResults(type, results.toReversed())).toEqual(forwards);
      expect(aggregateResults(type, [...results, undefined])).toEqual(forwards);
    }),
  );
});

test('what is aggregated step by step requeues as what is aggregated at once', () => {
  fc.assert(
    fc.property(fc.array(anyResult), fc.array(anyResult), (some, others) => {
      const said = (results: readonly (HookResult | undefined)[]): HookResult[] =>
        results.filter((result) => result !== undefined);
      const steps = [aggregateResults('Start', some), aggregateResults('End', others)];
      expect(aggregateRequeues(said(steps))).toEqual(aggregateRequeues(said([...some, ...others])));
    }),
  );
});
