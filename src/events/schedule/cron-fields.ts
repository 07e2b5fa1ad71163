import { OperatorError } from '../../lib/errors.ts';

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
