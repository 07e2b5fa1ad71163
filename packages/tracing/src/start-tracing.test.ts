import { systemClock } from '@addon-operator/base/clock';
import { traceparentOf } from '@addon-operator/base/trace';
import { expect, test, vi } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { attributeOf, OtlpReceiver } from '../../../test/support/otlp-receiver.ts';
import { startTracing } from './start-tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

async function tracing(env: Readonly<Record<string, string>>) {
  const clock = new FakeClock();
  const log = new CapturedLog(clock);
  const running = new AsyncDisposableStack();
  let dropped = 0;
  const tracer = await startTracing({
    env: { OTEL_BSP_SCHEDULE_DELAY: '1', ...env },
    clock,
    steadyClock: systemClock,
    log: log.logger,
    serviceName: 'addon-operator',
    version: '1.2.3',
    bootId: 'boot',
    redact: (text) => text.replaceAll('s3cret', '***'),
    onDropped: (count) => {
      dropped += count;
    },
    running,
  });
  const stop = () => running.disposeAsync();
  return { clock, log, tracer, stop, dropped: () => dropped };
}

test('spans reach a collector with their ids, times, links and attributes', async () => {
  await using receiver = await OtlpReceiver.start();
  const { tracer, clock, stop } = await tracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b,service.name=other',
    OTEL_SERVICE_NAME: 'mine',
  });
  const root = tracer.start({
    name: 'event',
    traceId: TRACE,
    kind: 'consumer',
    attributes: { a: 1, b: undefined },
  });
  await clock.advance(1_500);
  const child = root.child({ name: 'hook', ...(root.context && { links: [root.context] }) });
  child.end({ error: 'password s3cret is wrong' });
  root.end();
  root.end();
  await stop();
  expect(receiver.spans.map(({ name }) => name)).toEqual(['hook', 'event']);
  const [hook, event] = receiver.spans;
  expect(event).toMatchObject({
    traceId: TRACE,
    kind: 5,
    startTimeUnixNano: '0',
    endTimeUnixNano: '1500000000',
  });
  expect(event?.parentSpanId).toBeUndefined();
  expect(event && attributeOf(event, 'a')).toBe(1);
  expect(hook).toMatchObject({
    traceId: TRACE,
    parentSpanId: event?.spanId,
    status: { code: 2, message: 'password *** is wrong' },
    links: [{ spanId: event?.spanId }],
  });
  expect(child.context && traceparentOf(child.context)).toBe(`00-${TRACE}-${hook?.spanId}-01`);
  const [resource = []] = receiver.resources;
  const shown = { attributes: resource };
  expect(attributeOf(shown, 'service.name')).toBe('mine');
  expect(attributeOf(shown, 'team')).toBe('a b');
  expect(attributeOf(shown, 'service.instance.id')).toBe('boot');
});

test('the span of another program is the parent of a request', async () => {
  await using receiver = await OtlpReceiver.start();
  const { tracer, stop } = await tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own` });
  const parent = { traceId: TRACE, spanId: '00f067aa0ba902b7', isSampled: true };
  tracer.start({ name: 'admission', traceId: 'f'.repeat(32), parent }).end();
  await stop();
  expect(receiver.spans).toMatchObject([{ traceId: TRACE, parentSpanId: parent.spanId }]);
});

test('what is not sampled is not sent, and programs receive the same decision', async () => {
  await using receiver = await OtlpReceiver.start();
  const { tracer, stop } = await tracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  const span = tracer.start({ name: 'event', traceId: TRACE });
  const child = span.child({ name: 'hook' });
  child.end();
  span.end();
  await stop();
  expect(receiver.requests).toBe(0);
  expect(child.context).toMatchObject({ traceId: TRACE, isSampled: false });
});

test.each([
  ['answers 500', { status: 500 } as const],
  ['resets the connection', 'reset' as const],
])('a collector that %s costs spans, one warning and nothing else', async (_what, response) => {
  await using receiver = await OtlpReceiver.start();
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '50');
  const { tracer, log, stop, dropped } = await tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  vi.unstubAllEnvs();
  receiver.responses.push(...Array.from({ length: 50 }, () => response));
  for (let count = 0; count < 3; count += 1) tracer.start({ name: 'event', traceId: TRACE }).end();
  await stop();
  expect(dropped()).toBe(3);
  expect(log.records.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('after 429 spans are sent again when Retry-After says so', async () => {
  await using receiver = await OtlpReceiver.start();
  const { tracer, stop, dropped } = await tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  receiver.responses.push({ status: 429, headers: { 'retry-after': '0' } });
  tracer.start({ name: 'event', traceId: TRACE }).end();
  await stop();
  expect([receiver.requests, receiver.spans.length, dropped()]).toEqual([2, 1, 0]);
});

test('while a collector hangs a bounded number of spans waits, and the others are counted', async () => {
  await using receiver = await OtlpReceiver.start();
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200');
  const { tracer, stop, dropped } = await tracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5',
  });
  vi.unstubAllEnvs();
  receiver.responses.push('hang', 'hang', 'hang', 'hang');
  for (let count = 0; count < 40; count += 1) tracer.start({ name: 'event', traceId: TRACE }).end();
  expect(dropped()).toBe(25);
  await stop();
  expect(dropped()).toBe(40);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['no endpoint is named', {}],
  ['the SDK is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', OTEL_SDK_DISABLED: 'true' }],
  ['the exporter is none', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', OTEL_TRACES_EXPORTER: 'none' }],
])('nothing is recorded when %s', async (_why, env) => {
  const { tracer, log } = await tracing(env);
  expect(tracer.start({ name: 'event', traceId: TRACE }).context).toBeUndefined();
  expect(log.records).toEqual([]);
});

test.each([
  ['TRACING_OTLP_ENDPOINT', 'collector:4317', 'set OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector', 'is not a URL'],
])('%s=%s is logged as a warning', async (name, value, message) => {
  const { log } = await tracing({ [name]: value });
  expect(log.records.map((record) => record['msg']).join()).toContain(message);
});
