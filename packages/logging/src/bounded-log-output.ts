import type { SteadyClock } from '@addon-operator/base/clock';
import type { LogOutput } from './json-logger.ts';

/** Writes bytes without waiting for the reader; returns how many were taken, 0 while the reader is behind. */
export type TryWrite = (bytes: Uint8Array) => number;

/** Bytes that wait for a reader that is behind, at most. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 100;
/** While the reader takes a part each time: it would otherwise get one full pipe every 100 ms. */
const RETRY_AFTER_PROGRESS_MS = 1;
/** How long {@link BoundedLogOutput.close} waits for a reader. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * A log output that never waits for its reader: leases, probes and hooks depend on a process that does not block.
 * Records that find no room are dropped and counted, whole ones only, so that the output stays one record a line.
 */
export class BoundedLogOutput implements LogOutput {
  readonly #tryWrite: TryWrite;
  readonly #clock: SteadyClock;
  readonly #waiting: Uint8Array[] = [];
  readonly #closed = new AbortController();
  #waitingBytes = 0;
  #isRetrying = false;
  #dropped = 0;
  #unreported = 0;
  #onRecovered: (dropped: number) => void = () => undefined;

  constructor(tryWrite: TryWrite, clock: SteadyClock) {
    this.#tryWrite = tryWrite;
    this.#clock = clock;
  }

  /** Records dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param report called with the number of records dropped since the last call, when the output takes records again */
  onRecovered(report: (dropped: number) => void): void {
    this.#onRecovered = report;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) return this.#drop(1);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    // While a retry is due, another attempt for each record would be a system call for nothing.
    if (!this.#isRetrying) this.#flush();
  }

  /** Writes what waits, if the reader takes it within a second. Later records are written or dropped at once. */
  async close(): Promise<void> {
    const { signal } = this.#closed;
    const untilMs = this.#clock.steadyMs() + CLOSE_LIMIT_MS;
    while (this.#waitingBytes > 0 && this.#clock.steadyMs() < untilMs)
      await this.#clock.sleep(RETRY_MS, signal);
    this.#closed.abort();
    this.#flush();
  }

  /** Writes as much as the reader takes; reports dropped records once everything is written. */
  #flush(): void {
    let retryMs = RETRY_MS;
    try {
      for (let head = this.#waiting[0]; head !== undefined; head = this.#waiting[0]) {
        const written = this.#tryWrite(head);
        this.#waitingBytes -= written;
        if (written === head.length) this.#waiting.shift();
        else this.#waiting[0] = head.subarray(written);
        if (written === 0) return this.#retryLater(retryMs);
        retryMs = RETRY_AFTER_PROGRESS_MS;
      }
    } catch {
      // The reader is gone, or the disk is full: the process continues without these records.
      this.#drop(this.#waiting.splice(0).length);
      this.#waitingBytes = 0;
      return;
    }
    if (this.#unreported === 0) return;
    const dropped = this.#unreported;
    this.#unreported = 0;
    this.#onRecovered(dropped);
  }

  /** One retry at a time. */
  #retryLater(delayMs: number): void {
    if (this.#closed.signal.aborted) return;
    this.#isRetrying = true;
    this.#clock.sleep(delayMs, this.#closed.signal).then(
      () => {
        this.#isRetrying = false;
        this.#flush();
      },
      () => {
        this.#isRetrying = false;
      },
    );
  }

  #drop(records: number): void {
    this.#dropped += records;
    this.#unreported += records;
  }
}
