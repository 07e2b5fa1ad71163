// The decision of a gate, as data: the delivery controller observes, calls `evaluateGate` with each
// observation, and keeps the progress until the next one. A gate that has passed stays passed as far
// as the controller is concerned; one that failed resets, because the controller may give the version
// more time (`onFailure.after`).

import { fieldsOf, stringOf } from '@addon-operator/json';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import type { Gate, GateResult } from './gates.ts';

/** One observation for a gate. `unknown`: nothing could be observed, with the reason. */
export type GateObservation =
  | { readonly type: 'ready' }
  | { readonly type: 'not-ready'; readonly reason: string }
  | { readonly type: 'value'; readonly value: number }
  | { readonly type: 'no-data' }
  | { readonly type: 'unknown'; readonly reason: string };

/** How long a gate was good so far. The time of a gap between observations does not count. */
export interface GateProgress {
  readonly goodMs: number;
  /** When it was last seen good, with nothing else since; undefined after a gap. */
  readonly lastGoodAtMs: number | undefined;
}

export const NO_PROGRESS: GateProgress = { goodMs: 0, lastGoodAtMs: undefined };

export interface GateEvaluation {
  readonly result: GateResult;
  /** For the next evaluation. */
  readonly progress: GateProgress;
}

/**
 * Judges one observation. What cannot be observed neither passes nor fails a gate: an outage of
 * Prometheus must not roll a version back.
 *
 * @param nowMs on the steady clock
 */
export function evaluateGate(
  gate: Gate,
  progress: GateProgress,
  observation: GateObservation,
  nowMs: number,
): GateEvaluation {
  switch (observation.type) {
    case 'unknown':
      return { result: { type: 'hold', reason: observation.reason }, progress: afterGap(progress) };
    case 'not-ready':
      return { result: { type: 'waiting', reason: observation.reason }, progress: NO_PROGRESS };
    case 'ready':
      return good(gate, progress, nowMs);
    case 'no-data':
      return withoutData(gate, progress, nowMs);
    case 'value': {
      if (gate.type !== 'query' || observation.value <= gate.max) return good(gate, progress, nowMs);
      const reason = `${gate.promql} is ${observation.value}, more than ${gate.max}`;
      return { result: { type: 'failed', reason }, progress: NO_PROGRESS };
    }
  }
}

function withoutData(gate: Gate, progress: GateProgress, nowMs: number): GateEvaluation {
  if (gate.type !== 'query' || gate.noData === 'pass') return good(gate, progress, nowMs);
  const reason = `${gate.promql} returns no data`;
  return gate.noData === 'fail'
    ? { result: { type: 'failed', reason }, progress: NO_PROGRESS }
    : { result: { type: 'hold', reason }, progress: afterGap(progress) };
}

function good(gate: Gate, { goodMs, lastGoodAtMs }: GateProgress, nowMs: number): GateEvaluation {
  const total = goodMs + (lastGoodAtMs === undefined ? 0 : Math.max(0, nowMs - lastGoodAtMs));
  const progress = { goodMs: total, lastGoodAtMs: nowMs };
  if (total >= gate.forMs) return { result: { type: 'passed' }, progress };
  const what = gate.type === 'ready' ? 'ready' : `${gate.promql} good`;
  const reason = `${what} for ${seconds(total)} of ${seconds(gate.forMs)}`;
  return { result: { type: 'waiting', reason }, progress };
}

function afterGap({ goodMs }: GateProgress): GateProgress {
  return { goodMs, lastGoodAtMs: undefined };
}

function seconds(ms: number): string {
  return formatGoDuration(Math.floor(ms / 1_000) * 1_000);
}

/**
 * Reads the body of a response to an instant query. Of several series the largest value counts,
 * since each of them has to be good; NaN (0/0) is no data.
 */
export function readQueryResult(body: unknown): GateObservation {
  const { status, data, error } = fieldsOf(body);
  if (status !== 'success')
    return unknown(`Prometheus refuses the query: ${stringOf(error) || 'no reason given'}`);
  const { resultType, result } = fieldsOf(data);
  const samples = resultType === 'scalar' ? [result] : vectorSamples(resultType, result);
  if (samples === undefined)
    return unknown(
      `the query returns a ${stringOf(resultType) || 'result without a type'}, not a scalar or vector`,
    );
  const known: number[] = [];
  for (const sample of samples) {
    const value = numberIn(sample);
    if (value === undefined) return unknown('Prometheus returns a sample that is no number');
    if (!Number.isNaN(value)) known.push(value);
  }
  return known.length === 0 ? { type: 'no-data' } : { type: 'value', value: Math.max(...known) };
}

function unknown(reason: string): GateObservation {
  return { type: 'unknown', reason };
}

function vectorSamples(type: unknown, result: unknown): readonly unknown[] | undefined {
  if (type !== 'vector' || !Array.isArray(result)) return undefined;
  return result.map((series: unknown) => fieldsOf(series)['value']);
}

/** The value of a sample `[seconds, "value"]`. */
function numberIn(sample: unknown): number | undefined {
  const text: unknown = Array.isArray(sample) ? sample[1] : undefined;
  if (typeof text !== 'string' || text === '') return undefined;
  if (/^[+-]?Inf$/.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text);
  return Number.isNaN(value) && text !== 'NaN' ? undefined : value;
}
