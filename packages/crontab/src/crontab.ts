import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { type CronFields, firstLocalMatch, parseCronFields } from './cron-fields.ts';

/** When something is due. Times are epoch milliseconds, always whole seconds. */
export interface Schedule {
  /** The first time after `afterMs`; undefined when there is none in this year and the next five. */
  next(afterMs: number): number | undefined;
}

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@annually', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@midnight', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);
const EVERY = '@every ';
const MIN_INTERVAL_MS = 1_000;
const HORIZON_YEARS = 5;
/** More than any zone has ever set its clocks back by since daylight saving began. */
const LONGEST_REPETITION_MS = 3 * 3_600_000;
const EVERY_HOUR = 24;

/**
 * Parses a crontab in the dialect of hooks: five or six fields, a descriptor like `@daily`, or `@every 1h30m`, each
 * optionally behind `TZ=Zone `.
 *
 * Local times that daylight saving skips do not fire. Those it repeats fire once, at the first passing, unless the
 * schedule runs in every hour of the day, which goes on in real time.
 *
 * @param localTimeZone IANA name of the zone that counts without `TZ=`; default: the zone of the process
 * @throws OperatorError SCHEDULE_INVALID
 */
export function parseCrontab(crontab: string, localTimeZone: string = processTimeZone()): Schedule {
  try {
    const { zone, expression } = splitZone(crontab, localTimeZone);
    if (expression.startsWith(EVERY)) return intervalSchedule(expression.slice(EVERY.length));
    if (!expression.startsWith('@')) return calendarSchedule(parseCronFields(expression), zone);
    const fields = DESCRIPTORS.get(expression);
    if (fields === undefined)
      throw new OperatorError('SCHEDULE_INVALID', `unknown descriptor "${expression}"`);
    return calendarSchedule(parseCronFields(fields), zone);
  } catch (error) {
    throw new OperatorError('SCHEDULE_INVALID', `Cannot use crontab "${crontab}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** IANA name of the zone of the process. The first time it takes more than 10 ms to find out. */
export function processTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function splitZone(
  crontab: string,
  localTimeZone: string,
): { readonly zone: TimeZone; readonly expression: string } {
  const [, otherName] = /^CRON_TZ=(\S*)/.exec(crontab) ?? [];
  if (otherName !== undefined) {
    const problem = `write "TZ=${otherName}" in place of "CRON_TZ=${otherName}"`;
    throw new OperatorError('SCHEDULE_INVALID', problem);
  }
  const [, name, rest] = /^TZ=(\S*)(.*)$/s.exec(crontab) ?? [];
  if (name === undefined || rest === undefined) {
    return { zone: new TimeZone(localTimeZone), expression: crontab };
  }
  // Runtimes also take offsets like +01:00 for zones; the dialect does not.
  if (!/^[A-Za-z]/.test(name)) throw new OperatorError('SCHEDULE_INVALID', `unknown time zone "${name}"`);
  return { zone: openZone(name), expression: rest.trim() };
}

function openZone(name: string): TimeZone {
  try {
    return new TimeZone(name);
  } catch (error) {
    throw new OperatorError('SCHEDULE_INVALID', `unknown time zone "${name}"`, { cause: error });
  }
}

function intervalSchedule(text: string): Schedule {
  const durationMs = parseGoDuration(text);
  if (durationMs === undefined) {
    throw new OperatorError('SCHEDULE_INVALID', `"${text}" is not a duration such as 30s or 1h30m`);
  }
  const intervalMs = Math.max(MIN_INTERVAL_MS, wholeSeconds(durationMs));
  return { next: (afterMs) => wholeSeconds(afterMs) + intervalMs };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function calendarSchedule(fields: CronFields, zone: TimeZone): Schedule {
  const isRealTime = fields.hours.size === EVERY_HOUR;
  return {
    next(afterMs) {
      const startMs = wholeSeconds(afterMs) + 1_000;
      const startYear = new Date(startMs + zone.offsetMs(startMs)).getUTCFullYear();
      const endLocalMs = Date.UTC(startYear + HORIZON_YEARS + 1, 0);
      let passedLocalMs = Number.NEGATIVE_INFINITY;
      for (let atMs = startMs - LONGEST_REPETITION_MS; atMs + zone.offsetMs(atMs) < endLocalMs; ) {
        const { offsetMs, endMs } = zone.spanFrom(atMs);
        const fromMs = Math.max(atMs, startMs) + offsetMs;
        const untilMs = Math.min(endMs + offsetMs, endLocalMs);
        const match = firstLocalMatch(fields, isRealTime ? fromMs : Math.max(fromMs, passedLocalMs), untilMs);
        if (match !== undefined) return match - offsetMs;
        passedLocalMs = endMs + offsetMs;
        atMs = endMs;
      }
      return undefined;
    },
  };
}

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
