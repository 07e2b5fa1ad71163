import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Sends spans. `onResult` is called once, with code 0 for success. */
export interface SpanSink {
  export(
    spans: ReadableSpan[],
    onResult: (result: { readonly code: number; readonly error?: Error }) => void,
  ): void;
  shutdown(): Promise<void>;
}

export interface SpanQueueOptions {
  readonly sink: SpanSink;
  readonly clock: SteadyClock;
  /** Spans that wait, at most. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  /** How long a span waits for others. */
  readonly delayMs: number;
  /** At the end no longer than this is waited until the last spans are sent. */
  readonly flushMs: number;
  /** Called with the number of spans that are lost. */
  readonly onDropped: (count: number, reason: string) => void;
}

const SUCCESS = 0;

/**
 * Holds finished spans until they are sent, a batch at a time. There is one request at a time: while a collector is slow,
 * spans wait, and those that find the queue full are lost. The SDK's own queue does not count what it loses.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  #waiting: ReadableSpan[] = [];
  #isSending = false;
  #isStopped = false;
  #timer: AbortController | undefined;
  #onIdle: () => void = () => undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  onStart(): void {
    // Only finished spans are sent.
  }

  /** Takes a finished span: sent at once when a batch is full, else after the delay. */
  onEnd(span: ReadableSpan): void {
    const { maxQueueSize, maxBatchSize, delayMs, onDropped } = this.#options;
    if ((span.spanContext().traceFlags & 1) === 0) return;
    if (this.#isStopped || this.#waiting.length >= maxQueueSize) {
      onDropped(1, this.#isStopped ? 'the program stops' : 'too many spans wait');
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= maxBatchSize) this.#send();
    else if (this.#timer === undefined) this.#sendAfter(delayMs);
  }

  /** Resolves when all spans that wait are sent or lost, or time is up. */
  async forceFlush(): Promise<void> {
    if (this.#waiting.length === 0 && !this.#isSending) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const limit = new AbortController();
    this.#options.clock.sleep(this.#options.flushMs, limit.signal).then(resolve, () => undefined);
    this.#send();
    await promise;
    limit.abort();
  }

  /** Sends the waiting spans, at most for `flushMs`; the rest is counted as lost. */
  async shutdown(): Promise<void> {
    if (this.#isStopped) return;
    await this.forceFlush();
    this.#isStopped = true;
    this.#timer?.abort();
    const lost = this.#waiting.length;
    this.#waiting = [];
    if (lost > 0) this.#options.onDropped(lost, 'the program stops');
    // It waits for requests that hang.
    void this.#options.sink.shutdown().catch(() => undefined);
  }

  /** Waits for more spans to share a request. */
  #sendAfter(delayMs: number): void {
    const wait = new AbortController();
    this.#timer = wait;
    this.#options.clock.sleep(delayMs, wait.signal).then(
      () => this.#send(),
      () => undefined,
    );
  }

  /** Sends a batch unless a request is open; its end calls this again. */
  #send(): void {
    if (this.#isSending) return;
    this.#timer?.abort();
    this.#timer = undefined;
    const batch = this.#waiting.splice(0, this.#options.maxBatchSize);
    if (batch.length === 0) {
      this.#onIdle();
      return;
    }
    this.#isSending = true;
    const onResult = (error: string | undefined): void => {
      this.#isSending = false;
      if (error !== undefined) this.#options.onDropped(batch.length, error);
      this.#send();
    };
    try {
      this.#options.sink.export(batch, ({ code, error }) =>
        onResult(code === SUCCESS ? undefined : (error?.message ?? 'the collector refused them')),
      );
    } catch (error) {
      onResult(messageOf(error));
    }
  }
}
