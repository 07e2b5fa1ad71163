import { messageOf } from './errors.ts';
/** Identifies a span to other programs. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Facts about a span. Undefined ones are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** `consumer`: work that was queued; `client`: a request to another program; `server`: one from it. Default `internal`. */
  readonly kind?: 'internal' | 'consumer' | 'client' | 'server';
  /** On the steady clock, in milliseconds; default now. */
  readonly startMs?: number;
  readonly attributes?: SpanAttributes;
  /** Other spans that led to it. */
  readonly links?: readonly SpanContext[];
  /** Of a {@link futureSpan} in the same trace; default: a new one. */
  readonly spanId?: string;
}

export interface SpanEnd {
  /** On the steady clock, in milliseconds; default now. */
  readonly endMs?: number;
  /** Message of the failure; absent after a success. */
  readonly error?: string;
}

/** One step of what an event led to. Parts pass it on themselves: nothing depends on the call stack. */
export interface Span {
  /** Undefined if nothing is traced. */
  readonly context: SpanContext | undefined;
  child(start: SpanStart): Span;
  set(attributes: SpanAttributes): void;
  /** Only the first call counts. */
  end(end?: SpanEnd): void;
}

export interface TraceStart extends SpanStart {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of another program that led to it; its trace is continued then. */
  readonly parent?: SpanContext | undefined;
}

/** Records spans. */
export interface Tracer {
  /** Begins the first span of a trace. */
  start(start: TraceStart): Span;
}

/** The span of everything while tracing is off. */
export const NO_SPAN: Span = {
  context: undefined,
  child: () => NO_SPAN,
  set: () => undefined,
  end: () => undefined,
};

/** Records nothing. */
export const NO_TRACER: Tracer = { start: () => NO_SPAN };

/** Does a step within a span of its own, which ends with it. */
export async function traced<T>(
  span: Span,
  name: string,
  attributes: SpanAttributes,
  act: (own: Span) => Promise<T>,
): Promise<T> {
  if (span.context === undefined) return await act(NO_SPAN);
  const child = span.child({ name, attributes });
  try {
    const result = await act(child);
    child.end();
    return result;
  } catch (error) {
    child.end({ error: messageOf(error) });
    throw error;
  }
}

/** The span as the value of the header `traceparent` (W3C Trace Context) and of the variable `TRACEPARENT`. */
export function traceparentOf({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** The span that a header `traceparent` names; undefined for a value that is not valid. */
export function parseTraceparent(value: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The span as log records have it; nothing while tracing is off. */
export function traceFields({ context }: Span): Readonly<Record<string, string>> {
  return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
}
