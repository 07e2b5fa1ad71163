import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { NO_SPAN, NO_TRACER, parseTraceparent, traceFields, traceparentOf } from './trace.ts';
import { traceIdOf } from './trace-id.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('the trace of an event is named by the first 16 bytes of a digest', () => {
  const digest = createHash('sha256').update('boot1a2b-3').digest('hex');
  expect(traceIdOf('boot', '1a2b-3')).toBe(digest.slice(0, 32));
});

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
])('%s is read and written', (value, isSampled) => {
  const context = parseTraceparent(value);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  expect(context && traceparentOf(context)).toBe(value);
});

test('a later version with more fields is read as far as it is known', () => {
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-03-more`)?.isSampled).toBe(true);
});

test.each([
  '',
  'x',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
])('%j is not a span', (value) => {
  expect(parseTraceparent(value)).toBeUndefined();
});

test('without a tracer nothing is recorded', () => {
  const span = NO_TRACER.start({ name: 'a', traceId: TRACE }).child({ name: 'b' });
  span.set({ a: 1 });
  span.end();
  expect(span).toBe(NO_SPAN);
  expect(traceFields(span)).toEqual({});
});
