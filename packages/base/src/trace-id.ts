import { createHash } from 'node:crypto';

const TRACE_ID_DIGITS = 32;

/**
 * The id of the trace of an event: anybody who knows the two ids can compute it.
 *
 * @param bootId different after each start of the operator
 */
export function traceIdOf(bootId: string, eventId: string): string {
  return createHash('sha256').update(bootId).update(eventId).digest('hex').slice(0, TRACE_ID_DIGITS);
}
