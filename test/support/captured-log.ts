import type { Clock } from '@addon-operator/base/clock';
import { createLogger, type RootLogger, rootOf } from '@addon-operator/logging/json-logger';

export type LogRecord = Readonly<Record<string, unknown>>;

const LAST_RECORDS = 20;

/** Collects what a daemon under test logs, and lets a test wait for a record. */
export class LogRecords {
  readonly records: LogRecord[] = [];
  #watchers: (() => void)[] = [];
  #end: string | undefined;

  /** Takes in one record as JSON. */
  push(line: string): void {
    this.records.push(JSON.parse(line) as LogRecord);
    for (const notify of this.#watchers.splice(0)) notify();
  }

  /** Nothing more will come: callers that still wait get an error with the reason and the last records. */
  end(reason: string): void {
    this.#end = reason;
    for (const notify of this.#watchers.splice(0)) notify();
  }

  /** What hooks printed, in order. */
  get printed(): string[] {
    return this.records
      .filter((record) => record['output'] === 'stdout')
      .map((record) => String(record['msg']));
  }

  /** Waits until the condition holds; it is looked at again after every record. */
  async until(isTrue: (records: readonly LogRecord[]) => boolean): Promise<void> {
    while (!isTrue(this.records)) {
      if (this.#end !== undefined) throw new Error(`${this.#end}\n${this.dump(LAST_RECORDS)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  /** Waits until hooks printed `text` at least `times` times. */
  untilPrinted(text: string, times = 1): Promise<void> {
    return this.until(() => this.printed.filter((line) => line === text).length >= times);
  }

  untilMessage(message: string, times = 1): Promise<void> {
    return this.until((records) => records.filter((record) => record['msg'] === message).length >= times);
  }

  /** The log as text, for a test that failed. */
  dump(last = Number.POSITIVE_INFINITY): string {
    return this.records
      .slice(-last)
      .map((record) => JSON.stringify(record))
      .join('\n');
  }
}

/** The log of a daemon in this process. */
export class CapturedLog extends LogRecords {
  readonly logger: RootLogger;

  /** @param hasSource records of level debug have `source`; default: false */
  constructor(clock: Clock, hasSource = false) {
    super();
    const root = createLogger({
      level: 'debug',
      type: 'json',
      hasTime: false,
      clock,
      output: { write: (line) => this.push(line) },
    });
    // To find out where each record was made, in transformed sources, takes a sixth of the time of property tests.
    this.logger = hasSource ? root : rootOf(root.child({ source: '' }), root);
  }
}
