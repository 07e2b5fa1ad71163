import { array, assert, constant, constantFrom, oneof, property } from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateGate, type GateObservation, NO_PROGRESS, readQueryResult } from './evaluate-gate.ts';
import type { Gate, GateResult } from './gates.ts';

const READY: Gate = { type: 'ready', forMs: 20_000 };
const query = (noData: 'hold' | 'pass' | 'fail'): Gate => ({
  type: 'query',
  url: 'http://prometheus',
  promql: 'errors',
  max: 0.01,
  forMs: 20_000,
  noData,
});
const value = (number: number): GateObservation => ({ type: 'value', value: number });
const AWAY: GateObservation = { type: 'unknown', reason: 'connection refused' };
const BAD: GateObservation = { type: 'not-ready', reason: '0 of 1 Pods are ready' };

/** The results of observations that are ten seconds apart. */
function results(gate: Gate, observations: readonly GateObservation[]): readonly GateResult[] {
  let progress = NO_PROGRESS;
  return observations.map((observation, index) => {
    const evaluation = evaluateGate(gate, progress, observation, index * 10_000);
    ({ progress } = evaluation);
    return evaluation.result;
  });
}

test.each<{
  readonly name: string;
  readonly gate: Gate;
  readonly seen: GateObservation[];
  readonly last: GateResult;
}>([
  {
    name: 'a gate waits until the module was ready for its time',
    gate: READY,
    seen: [{ type: 'ready' }, { type: 'ready' }],
    last: { type: 'waiting', reason: 'ready for 10s of 20s' },
  },
  {
    name: 'a module that was ready for the time passes',
    gate: READY,
    seen: [{ type: 'ready' }, { type: 'ready' }, { type: 'ready' }],
    last: { type: 'passed' },
  },
  {
    name: 'an interruption begins the time again',
    gate: READY,
    seen: [{ type: 'ready' }, { type: 'ready' }, BAD, { type: 'ready' }, { type: 'ready' }],
    last: { type: 'waiting', reason: 'ready for 10s of 20s' },
  },
  {
    name: 'a module that is not ready waits, however long that takes',
    gate: READY,
    seen: Array.from({ length: 100 }, () => BAD),
    last: { type: 'waiting', reason: '0 of 1 Pods are ready' },
  },
  {
    name: 'a value at the limit for the time passes',
    gate: query('hold'),
    seen: [value(0.01), value(0), value(0.01)],
    last: { type: 'passed' },
  },
  {
    name: 'a value above the limit fails',
    gate: query('hold'),
    seen: [value(0), value(0.5)],
    last: { type: 'failed', reason: 'errors is 0.5, more than 0.01' },
  },
  {
    name: 'no data holds',
    gate: query('hold'),
    seen: [{ type: 'no-data' }],
    last: { type: 'hold', reason: 'errors returns no data' },
  },
  {
    name: 'no data fails where that is set',
    gate: query('fail'),
    seen: [{ type: 'no-data' }],
    last: { type: 'failed', reason: 'errors returns no data' },
  },
  {
    name: 'no data counts as good where that is set',
    gate: query('pass'),
    seen: [{ type: 'no-data' }, value(0), { type: 'no-data' }],
    last: { type: 'passed' },
  },
  {
    name: 'an outage holds',
    gate: query('fail'),
    seen: [value(0), AWAY],
    last: { type: 'hold', reason: 'connection refused' },
  },
  {
    name: 'the time of an outage does not count as good',
    gate: query('hold'),
    seen: [value(0), AWAY, AWAY, value(0), value(0)],
    last: { type: 'waiting', reason: 'errors good for 10s of 20s' },
  },
  {
    name: 'the time before an outage counts',
    gate: query('hold'),
    seen: [value(0), value(0), AWAY, value(0), value(0)],
    last: { type: 'passed' },
  },
])('$name', ({ gate, seen, last }) => {
  expect(results(gate, seen).at(-1)).toEqual(last);
});

test('an outage never passes or fails a gate, and passing needs good observations for the whole time', () => {
  const observation = oneof(
    constant(AWAY),
    constant<GateObservation>({ type: 'no-data' }),
    constantFrom(value(0), value(1)),
  );
  assert(
    property(array(observation, { maxLength: 30 }), (seen) => {
      const all = results(query('hold'), seen);
      const verdicts = all.filter((result, index) => seen[index]?.type !== 'value' && result.type !== 'hold');
      expect(verdicts).toEqual([]);
      const early = all.filter((result, index) => result.type === 'passed' && goodValues(seen, index) < 3);
      expect(early).toEqual([]);
    }),
  );
});

/** The good values up to an observation, since the last bad one. */
function goodValues(seen: readonly GateObservation[], end: number): number {
  const until = seen.slice(0, end + 1);
  const lastBad = until.findLastIndex((each) => each.type === 'value' && each.value > 0.01);
  return until.slice(lastBad + 1).filter(({ type }) => type === 'value').length;
}

const vector = (...values: readonly string[]): unknown => ({
  status: 'success',
  data: { resultType: 'vector', result: values.map((each) => ({ metric: {}, value: [1, each] })) },
});

test.each<readonly [string, unknown, GateObservation]>([
  ['a scalar', { status: 'success', data: { resultType: 'scalar', result: [1, '0.25'] } }, value(0.25)],
  ['a vector', vector('0.25'), value(0.25)],
  ['the largest of several series', vector('0.1', '3', 'NaN', '-Inf'), value(3)],
  ['infinity', vector('+Inf'), value(Number.POSITIVE_INFINITY)],
  ['an empty vector', vector(), { type: 'no-data' }],
  ['0/0', vector('NaN'), { type: 'no-data' }],
  [
    'a matrix',
    { status: 'success', data: { resultType: 'matrix', result: [] } },
    { type: 'unknown', reason: 'the query returns a matrix, not a scalar or vector' },
  ],
  [
    'an error',
    { status: 'error', errorType: 'bad_data', error: 'parse error' },
    { type: 'unknown', reason: 'Prometheus refuses the query: parse error' },
  ],
  ['another document', 'hello', { type: 'unknown', reason: 'Prometheus refuses the query: no reason given' }],
  [
    'a sample that is none',
    vector('x'),
    { type: 'unknown', reason: 'Prometheus returns a sample that is no number' },
  ],
])('a response is read: %s', (_name, body, observation) => {
  expect(readQueryResult(body)).toEqual(observation);
});
