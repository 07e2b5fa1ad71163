// The tracer that sends spans to an OpenTelemetry collector. Loaded only when the variables ask for it, since
// the SDK costs memory and start time. The caller chooses the id of each trace, and may choose that of a
// span, so the SDK's id generator is replaced by one that returns the prepared ids. Finished spans go to
// `span-queue.ts`.

import type { Clock, SteadyClock } from '@addon-operator/base/clock';
import type {
  Span,
  SpanAttributes,
  SpanContext,
  SpanEnd,
  SpanStart,
  Tracer,
} from '@addon-operator/base/trace';
import {
  type Context,
  type SpanContext as OtelContext,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type TracerProviderOptions,
} from '@opentelemetry/sdk-trace';
import { SpanQueue, type SpanSink } from './span-queue.ts';
import type { TraceSettings } from './trace-settings.ts';

export interface OtelTracerOptions {
  readonly settings: TraceSettings;
  readonly clock: Clock;
  /** For waits for the collector. */
  readonly steadyClock: SteadyClock;
  readonly serviceName: string;
  readonly version: string;
  readonly bootId: string;
  /** Masks secrets in errors. */
  readonly redact: (text: string) => string;
  readonly onDropped: (count: number, reason: string) => void;
  /** Default: an exporter that sends to the collector. */
  readonly sink?: SpanSink;
}

/** The stop of the program waits no longer for the last spans. */
const FLUSH_MS = 5_000;
/** The message of a failed helm run can be long; its beginning is enough in a span. */
const MAX_ERROR_CHARACTERS = 1_024;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

const KINDS = {
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
} as const;

/** A tracer that sends spans to a collector. */
export function createOtelTracer(options: OtelTracerOptions): {
  readonly tracer: Tracer;
  readonly stop: () => Promise<void>;
} {
  const { settings, clock, version, bootId, onDropped } = options;
  const sink = options.sink ?? new OTLPTraceExporter({ url: settings.url });
  const queue = new SpanQueue({
    ...settings,
    clock: options.steadyClock,
    sink,
    flushMs: FLUSH_MS,
    onDropped,
  });
  const random = new RandomIdGenerator();
  const nextIds: NextIds = { traceId: '', spanId: undefined };
  const provider = new TracerProvider({
    resource: resourceOf({
      'service.version': version,
      'service.instance.id': bootId,
      'telemetry.sdk.name': 'opentelemetry',
      'telemetry.sdk.language': 'nodejs',
      ...settings.resource,
    }),
    sampler: samplerOf(settings.sampler),
    idGenerator: {
      generateTraceId: () => nextIds.traceId,
      generateSpanId: () => nextIds.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer(options.serviceName, version);
  const parts = { tracer, nextIds, clock, redact: options.redact };
  return {
    tracer: {
      start: ({ traceId, parent, ...start }) => {
        nextIds.traceId = traceId;
        const context =
          parent === undefined
            ? ROOT_CONTEXT
            : trace.setSpanContext(ROOT_CONTEXT, { ...otelContext(parent), isRemote: true });
        // Within a trace all times are by one reading of the wall clock, which may be set in the meantime.
        return spanFrom({ ...parts, offsetMs: clock.wallMs() - clock.steadyMs() }, start, context);
      },
    },
    stop: () => queue.shutdown(),
  };
}

/** The ids of the next span. The SDK asks for them while it starts a span, in the same turn. */
interface NextIds {
  traceId: string;
  /** Undefined for a random one. */
  spanId: string | undefined;
}

/** The parts that all spans of a trace share. */
interface SpanParts {
  readonly tracer: OtelTracer;
  readonly nextIds: NextIds;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** From the steady to the wall clock. */
  readonly offsetMs: number;
}

/** Starts a span of the SDK with prepared ids and times. */
function spanFrom(parts: SpanParts, start: SpanStart, parent: Context): Span {
  const { name, kind = 'internal', startMs = parts.clock.steadyMs(), attributes = {}, links = [] } = start;
  parts.nextIds.spanId = start.spanId;
  const span = parts.tracer.startSpan(
    name,
    {
      kind: KINDS[kind],
      startTime: hrTime(startMs + parts.offsetMs),
      attributes,
      links: links.map((link) => ({ context: otelContext(link) })),
    },
    parent,
  );
  return new RecordedSpan(parts, span);
}

/** A span that is sent when it ends. Ending it twice, or changing it afterwards, has no effect. */
class RecordedSpan implements Span {
  readonly context: SpanContext;
  readonly #parts: SpanParts;
  readonly #span: OtelSpan;
  #isEnded = false;

  constructor(parts: SpanParts, span: OtelSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.#parts = parts;
    this.#span = span;
    this.context = { traceId, spanId, isSampled: (traceFlags & 1) === 1 };
  }

  child(start: SpanStart): Span {
    // What is not sampled needs no spans of its own: programs get that of the event.
    if (!this.context.isSampled) return this;
    return spanFrom(this.#parts, start, trace.setSpan(ROOT_CONTEXT, this.#span));
  }

  set(attributes: SpanAttributes): void {
    if (!this.#isEnded) this.#span.setAttributes(attributes);
  }

  end({ endMs = this.#parts.clock.steadyMs(), error }: SpanEnd = {}): void {
    if (this.#isEnded || !this.context.isSampled) return;
    this.#isEnded = true;
    if (error !== undefined) {
      const message = this.#parts.redact(error).slice(0, MAX_ERROR_CHARACTERS);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
    }
    this.#span.end(hrTime(endMs + this.#parts.offsetMs));
  }
}

/** Seconds and nanoseconds, as the SDK takes times. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / MS_PER_SECOND);
  return [seconds, Math.round((ms - seconds * MS_PER_SECOND) * NS_PER_MS)];
}

/** The context in the form of the SDK. */
function otelContext({ traceId, spanId, isSampled }: SpanContext): OtelContext {
  return { traceId, spanId, traceFlags: isSampled ? 1 : 0 };
}

/** The sampler of the settings; a remote parent decides unless the settings say otherwise. */
function samplerOf({ type, ratio, followsParent }: TraceSettings['sampler']): Sampler {
  const root =
    type === 'on'
      ? new AlwaysOnSampler()
      : type === 'off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  // The spans of an event belong together: only those of other programs may be sampled otherwise.
  const remote = followsParent ? {} : { remoteParentSampled: root, remoteParentNotSampled: root };
  return new ParentBasedSampler({ root, ...remote });
}

/** The attributes as the SDK wants them: its own makers read variables and hosts. */
function resourceOf(
  attributes: Readonly<Record<string, string>>,
): NonNullable<TracerProviderOptions['resource']> {
  const resource: NonNullable<TracerProviderOptions['resource']> = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}
