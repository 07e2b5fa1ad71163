import { NO_SPAN } from '@addon-operator/base/trace';
import { futureSpan } from '@addon-operator/base/trace-id';
import { expect, test } from 'vitest';
import { RecordingTracer } from '../../test/support/recording-tracer.ts';
import { startHelmSpan, tracedHelm } from './helm-spans.ts';

const FIRST = 'a'.repeat(32);
const SECOND = 'b'.repeat(32);

test('a helm that was started ahead has the span that it was passed, if the deployment is in the same trace', () => {
  const tracer = new RecordingTracer();
  const event = tracer.start({ name: 'event', traceId: FIRST });
  const ahead = futureSpan(event);
  const own = startHelmSpan({ parent: event, release: 'web' }, 'upgrade', ahead);
  expect(own.context).toEqual(ahead);
  expect(tracer.spans.at(-1)?.links).toBeUndefined();
  const other = tracer.start({ name: 'event', traceId: SECOND });
  const linked = startHelmSpan({ parent: other, release: 'web' }, 'upgrade', ahead);
  expect(linked.context?.traceId).toBe(SECOND);
  expect(linked.context?.spanId).not.toBe(ahead?.spanId);
  expect(tracer.spans.at(-1)?.links).toEqual([ahead]);
});

test('nothing is passed to helm while nothing is traced', async () => {
  expect(futureSpan(NO_SPAN)).toBeUndefined();
  const passed: unknown[] = [];
  await tracedHelm({ parent: undefined, release: 'web' }, 'template', async (span) => {
    passed.push(span);
    return await Promise.resolve({ type: 'succeeded', stdout: '', isStdoutTruncated: false });
  });
  expect(passed).toEqual([undefined]);
});

test('a span of helm has its exit code and its error, also if helm cannot be started', async () => {
  const tracer = new RecordingTracer();
  const spans = { parent: tracer.start({ name: 'event', traceId: FIRST }), release: 'web' };
  const failed = { type: 'failed', error: 'no such chart', stdout: '', exitCode: 3 } as const;
  await tracedHelm(spans, 'template', () => Promise.resolve(failed));
  const rejected = tracedHelm(spans, 'uninstall', () => Promise.reject(new Error('no helm')));
  await expect(rejected).rejects.toThrow('no helm');
  expect(tracer.spans.slice(1)).toMatchObject([
    { name: 'helm template', error: 'no such chart', all: { 'addon_operator.exit_code': 3 } },
    { name: 'helm uninstall', error: 'no helm' },
  ]);
});
