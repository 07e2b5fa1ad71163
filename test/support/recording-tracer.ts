import type {
  Span,
  SpanAttributes,
  SpanContext,
  SpanEnd,
  SpanStart,
  Tracer,
} from '@addon-operator/base/trace';

export interface RecordedSpan extends SpanStart {
  readonly context: SpanContext;
  /** Undefined for the first span of a trace, also if another program has its parent. */
  readonly parent: RecordedSpan | undefined;
  /** The parent in another program. */
  readonly client?: SpanContext;
  readonly beganMs: number;
  /** Undefined while it has not ended. */
  endMs: number | undefined;
  error: string | undefined;
  /** Those of its start and those that were set later. */
  all: SpanAttributes;
}

/** Records spans in memory. */
export class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  nowMs: () => number = () => 0;

  start({ traceId, parent: client, ...start }: Parameters<Tracer['start']>[0]): Span {
    return this.#span({ ...start, ...(client && { client }) }, traceId, undefined);
  }

  #span(
    start: SpanStart & { readonly client?: SpanContext },
    traceId: string,
    parent: RecordedSpan | undefined,
  ): Span {
    const spanId = start.spanId ?? String(this.spans.length + 1).padStart(16, '0');
    const context = { traceId, spanId, isSampled: true };
    const own: RecordedSpan = {
      ...start,
      context,
      parent,
      beganMs: start.startMs ?? this.nowMs(),
      endMs: undefined,
      error: undefined,
      all: { ...start.attributes },
    };
    this.spans.push(own);
    return {
      context,
      child: (child) => this.#span(child, traceId, own),
      set: (attributes) => {
        own.all = { ...own.all, ...attributes };
      },
      end: ({ endMs = this.nowMs(), error }: SpanEnd = {}) => {
        if (own.endMs !== undefined) return;
        own.endMs = endMs;
        own.error = error;
      },
    };
  }
}
