import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { NO_TRACER, type Tracer } from '@addon-operator/base/trace';
import { readTraceSettings } from './trace-settings.ts';

export interface StartTracingOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** For waits for the collector. */
  readonly steadyClock: SteadyClock;
  readonly log: Logger;
  /** Name of the program, for the spans; the variables may name another service. */
  readonly serviceName: string;
  readonly version: string;
  /** Different after each start of the program. */
  readonly bootId: string;
  /** Masks secrets in errors. */
  readonly redact: (text: string) => string;
  /** Called with the number of spans that are lost. */
  readonly onDropped: (count: number) => void;
  /** The last spans are sent when it is disposed of. */
  readonly running: AsyncDisposableStack;
}

/**
 * Lost spans are counted each time and logged once a minute: a collector that is away would flood the log.
 */
const WARN_MS = 60_000;

/** The tracer that the variables of OpenTelemetry configure; without them the SDK is not loaded. */
export async function startTracing(options: StartTracingOptions): Promise<Tracer> {
  const { env, log, clock, running } = options;
  const { settings, warnings } = readTraceSettings(env, options.serviceName);
  for (const warning of warnings) log.warn({}, warning);
  if (settings === undefined) return NO_TRACER;
  const { createOtelTracer } = await import('./otel-tracer.ts');
  const onDropped = warnSometimes(clock, options.onDropped, (spans, reason) =>
    log.warn(
      { spans, reason, url: withoutUser(settings.url) },
      'spans of traces are lost, the program goes on',
    ),
  );
  const { tracer, stop } = createOtelTracer({ ...options, settings, onDropped });
  running.defer(stop);
  log.info({ url: withoutUser(settings.url) }, 'traces are sent');
  return tracer;
}

/** Counts every loss, and warns with the sum since the last warning. */
function warnSometimes(
  clock: Clock,
  count: (spans: number) => void,
  warn: (spans: number, reason: string) => void,
): (spans: number, reason: string) => void {
  let lost = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  return (spans, reason) => {
    count(spans);
    lost += spans;
    const nowMs = clock.steadyMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + WARN_MS;
    warn(lost, reason);
    lost = 0;
  };
}

/** A URL may have a password in it. */
function withoutUser(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
