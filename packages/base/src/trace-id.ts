import { hash, randomBytes } from 'node:crypto';
import type { Span, SpanContext } from './trace.ts';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_BYTES = 8;

/**
 * The id of the trace of an event: it can be computed from the two ids.
 *
 * @param bootId different after each start of the operator
 */
export function traceIdOf(bootId: string, eventId: string): string {
  return hash('sha256', bootId + eventId, 'hex').slice(0, TRACE_ID_DIGITS);
}

/**
 * The context of a span that begins later in the same trace, for a program that is started before it. Undefined if nothing
 * is traced.
 */
export function futureSpan({ context }: Span): SpanContext | undefined {
  if (context?.isSampled !== true) return context;
  return { ...context, spanId: randomBytes(SPAN_ID_BYTES).toString('hex') };
}
