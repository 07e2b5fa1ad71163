const LOOK_AHEAD_MS = 14 * 86_400_000;

/** A stretch of time in which a zone's clocks keep their distance to UTC. */
interface OffsetSpan {
  /** Local time minus UTC, in milliseconds. */
  readonly offsetMs: number;
  /** Where the span is known to end, exclusive; the next one may have the same offset. */
  readonly endMs: number;
}

/** The clocks of one IANA time zone. */
export class TimeZone {
  /** Undefined for UTC, of which there is nothing to find out: making one takes longer than parsing ten crontabs. */
  readonly #format: Intl.DateTimeFormat | undefined;

  /**
   * @param name as in `Europe/Berlin`
   * @throws RangeError for an unknown zone
   */
  constructor(name: string) {
    if (name === 'UTC') return;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** The span from `atMs` on. No zone has changed its clocks twice within the two weeks that are looked ahead. */
  spanFrom(atMs: number): OffsetSpan {
    const offsetMs = this.offsetMs(atMs);
    let sameMs = atMs;
    let otherMs = atMs + LOOK_AHEAD_MS;
    if (this.offsetMs(otherMs) === offsetMs) return { offsetMs, endMs: otherMs };
    while (otherMs - sameMs > 1) {
      const middleMs = Math.floor((sameMs + otherMs) / 2);
      if (this.offsetMs(middleMs) === offsetMs) sameMs = middleMs;
      else otherMs = middleMs;
    }
    return { offsetMs, endMs: otherMs };
  }

  /** Local time minus UTC, in milliseconds. */
  offsetMs(atMs: number): number {
    if (this.#format === undefined) return 0;
    const wholeMs = Math.floor(atMs / 1_000) * 1_000;
    const part = new Map(this.#format.formatToParts(wholeMs).map(({ type, value }) => [type, Number(value)]));
    const read = (type: Intl.DateTimeFormatPartTypes): number => part.get(type) ?? 0;
    const localMs = Date.UTC(
      read('year'),
      read('month') - 1,
      read('day'),
      read('hour'),
      read('minute'),
      read('second'),
    );
    return localMs - wholeMs;
  }
}
