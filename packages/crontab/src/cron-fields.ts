import { OperatorError } from '@addon-operator/base/errors';

/** The values each field allows, and which day fields were written with a star. */
export interface CronFields {
  readonly seconds: ReadonlySet<number>;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  /** 1 is January. */
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** With a star (also a question mark, or a star with a step) in one of the day fields both must match, else either. */
  readonly hasDayStar: boolean;
}

interface Range {
  readonly title: string;
  readonly min: number;
  readonly max: number;
  /** Names by position, the first standing for `min`. */
  readonly names?: readonly string[];
}

const RANGES = {
  seconds: { title: 'second', min: 0, max: 59 },
  minutes: { title: 'minute', min: 0, max: 59 },
  hours: { title: 'hour', min: 0, max: 23 },
  daysOfMonth: { title: 'day of month', min: 1, max: 31 },
  months: {
    title: 'month',
    min: 1,
    max: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  daysOfWeek: {
    title: 'day of week',
    min: 0,
    max: 6,
    names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  },
} as const satisfies Record<string, Range>;

/**
 * Parses five fields (minute, hour, day of month, month, day of week) or six (second first) between white space.
 *
 * @throws OperatorError SCHEDULE_INVALID naming field and problem
 */
export function parseCronFields(text: string): CronFields {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5 && fields.length !== 6)
    throw invalid(`expected 5 or 6 fields, got ${fields.length}`);
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] =
    fields.length === 5 ? ['0', ...fields] : fields;
  return {
    seconds: parseField(second, RANGES.seconds),
    minutes: parseField(minute, RANGES.minutes),
    hours: parseField(hour, RANGES.hours),
    daysOfMonth: parseField(dayOfMonth, RANGES.daysOfMonth),
    months: parseField(month, RANGES.months),
    daysOfWeek: parseField(dayOfWeek, RANGES.daysOfWeek),
    hasDayStar: [dayOfMonth, dayOfWeek].some((field) => field.split(',').some(isStar)),
  };
}

/** Items between commas; empty ones count for nothing, so a field may allow no value at all. */
function parseField(field: string, range: Range): ReadonlySet<number> {
  const items = field.split(',').filter((item) => item !== '');
  return new Set(items.flatMap((item) => parseItem(item, range)));
}

function parseItem(item: string, range: Range): readonly number[] {
  const [span = '', stepText, ...more] = item.split('/');
  if (more.length > 0) throw invalid(`${range.title} "${item}" has more than one step`);
  const step = stepText === undefined ? 1 : parseNumber(stepText, `step of ${range.title} "${item}"`);
  if (step === 0) throw invalid(`${range.title} "${item}" has a step of 0`);
  const { first, last } = parseSpan(span, range, stepText !== undefined);
  if (first < range.min || last > range.max) {
    throw invalid(`${range.title} "${item}" is not within ${range.min}-${range.max}`);
  }
  if (first > last) throw invalid(`${range.title} "${item}" ends before it begins`);
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(value);
  return values;
}

function parseSpan(
  span: string,
  range: Range,
  hasStep: boolean,
): { readonly first: number; readonly last: number } {
  if (isStar(span)) return { first: range.min, last: range.max };
  const [firstText = '', lastText, ...more] = span.split('-');
  if (more.length > 0) throw invalid(`${range.title} "${span}" has more than one hyphen`);
  const first = parseValue(firstText, range);
  if (lastText !== undefined) return { first, last: parseValue(lastText, range) };
  return { first, last: hasStep ? range.max : first };
}

function isStar(item: string): boolean {
  return /^[*?](?:\/|$)/.test(item);
}

function parseValue(text: string, { title, min, names = [] }: Range): number {
  const position = names.indexOf(text.toLowerCase());
  return position === -1 ? parseNumber(text, title) : min + position;
}

function parseNumber(text: string, title: string): number {
  if (!/^\d+$/.test(text)) throw invalid(`${title}: "${text}" is not a number`);
  return Number(text);
}

function invalid(problem: string): OperatorError {
  return new OperatorError('SCHEDULE_INVALID', problem);
}

const DAY_MS = 86_400_000;

/**
 * The first moment of a local calendar that the fields allow, not before `fromMs` and before `endMs`. Local times are
 * written as the epoch milliseconds they would be in UTC; `fromMs` is rounded up to a whole second.
 */
export function firstLocalMatch(fields: CronFields, fromMs: number, endMs: number): number | undefined {
  const startMs = Math.ceil(fromMs / 1_000) * 1_000;
  for (let dayMs = Math.floor(startMs / DAY_MS) * DAY_MS; dayMs < endMs; dayMs += DAY_MS) {
    if (!isDayAllowed(fields, new Date(dayMs))) continue;
    const time = firstTimeOfDay(fields, Math.max(0, startMs - dayMs) / 1_000);
    if (time === undefined) continue;
    const matchMs = dayMs + time * 1_000;
    return matchMs < endMs ? matchMs : undefined;
  }
  return undefined;
}

function isDayAllowed(fields: CronFields, day: Date): boolean {
  if (!fields.months.has(day.getUTCMonth() + 1)) return false;
  const isDayOfMonth = fields.daysOfMonth.has(day.getUTCDate());
  const isDayOfWeek = fields.daysOfWeek.has(day.getUTCDay());
  return fields.hasDayStar ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek;
}

/** The first allowed second of a day, not before `from` (in seconds since midnight). */
function firstTimeOfDay({ hours, minutes, seconds }: CronFields, from: number): number | undefined {
  const fromHour = Math.floor(from / 3_600);
  const fromMinute = Math.floor((from % 3_600) / 60);
  for (let hour = fromHour; hour < 24; hour += 1) {
    if (!hours.has(hour)) continue;
    for (let minute = hour === fromHour ? fromMinute : 0; minute < 60; minute += 1) {
      if (!minutes.has(minute)) continue;
      const isFirst = hour === fromHour && minute === fromMinute;
      for (let second = isFirst ? from % 60 : 0; second < 60; second += 1) {
        if (seconds.has(second)) return hour * 3_600 + minute * 60 + second;
      }
    }
  }
  return undefined;
}
