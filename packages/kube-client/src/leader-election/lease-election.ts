import { canonicalJson, fieldsOf, stringOf } from '@addon-operator/json';

/** The times of an election, in milliseconds. */
export interface LeaseTimes {
  /** Validity of a lease after the holder sent its last renewal. */
  readonly durationMs: number;
  /** Time after the last renewal at which the holder stops by itself; less than the duration. */
  readonly renewDeadlineMs: number;
  /** From one renewal to the next. */
  readonly retryPeriodMs: number;
}

/** The fields of a Lease about its holder. */
export interface LeaseSpec {
  /** Empty without a holder. */
  readonly holder: string;
  /** When the holder acquired it, as written by the holder; distinguishes terms and is never compared with a clock. */
  readonly acquireTime: string;
  /** Undefined when the Lease does not say. */
  readonly durationMs: number | undefined;
  /** How often the holder changed. */
  readonly transitions: number;
}

/** A candidate's knowledge: the Lease as read last, and the time, by its own clock, since which it is unchanged. */
export interface LeaseObservation {
  /** Undefined while no Lease exists. */
  readonly spec: LeaseSpec | undefined;
  /** The whole `spec`; any change in it is a sign of life. */
  readonly text: string;
  readonly sinceMs: number;
  /** Whether the Lease did not exist any more at the last reading, which succeeded. */
  readonly isDeleted: boolean;
}

/** The next step of a candidate. */
export type CandidateAction =
  | { readonly type: 'claim' }
  /** Another replica may be active until then, by our clock. */
  | { readonly type: 'wait'; readonly untilMs: number };

/** The state of the Lease from the view of its holder. */
export type HolderFinding =
  | { readonly type: 'ours' }
  | { readonly type: 'gone' }
  | { readonly type: 'taken'; readonly by: string };

/** Reads the `spec` of a Lease; missing or invalid fields count as absent. */
export function parseLeaseSpec(spec: unknown): LeaseSpec {
  const { holderIdentity, acquireTime, leaseDurationSeconds, leaseTransitions } = fieldsOf(spec);
  const isDuration = typeof leaseDurationSeconds === 'number' && leaseDurationSeconds > 0;
  return {
    holder: stringOf(holderIdentity),
    acquireTime: stringOf(acquireTime),
    durationMs: isDuration ? leaseDurationSeconds * 1_000 : undefined,
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
}

/**
 * Takes in a reading of the Lease. One that was deleted is remembered, from then on for as long as it lasts: its holder
 * may have renewed it since the reading before, and writes it again at its next renewal.
 *
 * @param spec the `spec` as read, undefined when there is no Lease
 * @param nowMs our time after the reading
 */
export function observeLease(
  previous: LeaseObservation | undefined,
  spec: unknown,
  nowMs: number,
): LeaseObservation {
  if (spec === undefined) {
    if (previous === undefined) return { spec: undefined, text: '', sinceMs: nowMs, isDeleted: true };
    return previous.isDeleted ? previous : { ...previous, sinceMs: nowMs, isDeleted: true };
  }
  const text = canonicalJson(spec);
  if (previous?.text === text && !previous.isDeleted) return previous;
  return { spec: parseLeaseSpec(spec), text, sinceMs: nowMs, isDeleted: false };
}

/** Takes in a reading that failed: a deleted Lease may have been written again, and be deleted again at the next one. */
export function withoutReading(previous: LeaseObservation | undefined): LeaseObservation | undefined {
  return previous === undefined ? undefined : { ...previous, isDeleted: false };
}

/**
 * A candidate claims a Lease without a holder, one that shows no sign of life for as long as its holder said it lasts,
 * and one under its own identity: then its predecessor in the same pod is dead. The clock of the holder is never
 * compared with ours.
 *
 * @param durationMs for a Lease that does not say how long it lasts
 */
export function candidateAction(
  { spec, sinceMs }: LeaseObservation,
  identity: string,
  durationMs: number,
  nowMs: number,
): CandidateAction {
  if (spec === undefined || spec.holder === '' || spec.holder === identity) return { type: 'claim' };
  const untilMs = sinceMs + (spec.durationMs ?? durationMs);
  return nowMs >= untilMs ? { type: 'claim' } : { type: 'wait', untilMs };
}

/**
 * Whether a Lease is still that of our term: another process under our identity has a term of its own.
 *
 * @param spec the `spec` as read, undefined when there is no Lease
 */
export function holderFinding(spec: unknown, identity: string, acquireTime: string): HolderFinding {
  if (spec === undefined) return { type: 'gone' };
  const found = parseLeaseSpec(spec);
  if (found.holder === identity && found.acquireTime === acquireTime) return { type: 'ours' };
  return { type: 'taken', by: found.holder };
}
