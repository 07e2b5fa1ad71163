/** A moment in UTC, as jq takes it apart. */
export interface BrokenDownTime {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  /** With its fraction. */
  readonly seconds: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** From 0. */
  readonly yearday: number;
}

export type Date = Pick<BrokenDownTime, 'year' | 'month' | 'day'>;

const SECONDS_PER_DAY = 86_400;
const DAYS_PER_YEAR = 365;
const DAYS_IN_400_YEARS = 146_097;
/** From the first of March of the year 0 to 1970. */
const DAYS_BEFORE_1970 = 719_468;
const THURSDAY = 4;

/** Any whole number of seconds; `Date` of JavaScript knows fewer years than jq. */
export function brokenDown(secondsSince1970: number): BrokenDownTime {
  const days = Math.floor(secondsSince1970 / SECONDS_PER_DAY);
  const seconds = secondsSince1970 - days * SECONDS_PER_DAY;
  const date = dateOf(days);
  return {
    ...date,
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor(seconds / 60) % 60,
    seconds: seconds % 60,
    weekday: modulo(days + THURSDAY, 7),
    yearday: yeardayOf(date),
  };
}

/** Seconds since 1970. Fields beyond their range carry over; the days of week and year are not looked at. */
export function secondsOf(time: Omit<BrokenDownTime, 'weekday' | 'yearday'>): number {
  return daysSince1970(time) * SECONDS_PER_DAY + time.hours * 3600 + time.minutes * 60 + time.seconds;
}

/** Day of the week, 0 for Sunday. */
export function weekdayOf(date: Date): number {
  return modulo(daysSince1970(date) + THURSDAY, 7);
}

/** Day of the year, from 0. */
export function yeardayOf(date: Date): number {
  return daysSince1970(date) - daysSince1970({ year: date.year, month: 0, day: 1 });
}

/** Counts in years that begin in March: the leap day is then the last day of a year. */
function daysSince1970({ year, month, day }: Date): number {
  const march = month - 2;
  const marchYear = year + Math.floor(march / 12);
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * DAYS_PER_YEAR + leapDays + daysBefore(modulo(march, 12)) + day - 1 - DAYS_BEFORE_1970;
}

/** Days of a year before its month, counted from March. */
function daysBefore(month: number): number {
  return Math.floor((153 * month + 2) / 5);
}

/** The inverse of daysSince1970: era of 400 years, year of the era, day of a year that begins in March. */
function dateOf(days: number): Date {
  const sinceMarch = days + DAYS_BEFORE_1970;
  const era = Math.floor(sinceMarch / DAYS_IN_400_YEARS);
  const dayOfEra = sinceMarch - era * DAYS_IN_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1460) -
    Math.floor(dayOfEra / 36_524) +
    Math.floor(dayOfEra / (DAYS_IN_400_YEARS - 1));
  const yearOfEra = Math.floor((dayOfEra - leapDays) / DAYS_PER_YEAR);
  const dayOfYear =
    dayOfEra - yearOfEra * DAYS_PER_YEAR - Math.floor(yearOfEra / 4) + Math.floor(yearOfEra / 100);
  const march = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (march + 2) % 12;
  return {
    year: era * 400 + yearOfEra + (month < 2 ? 1 : 0),
    month,
    day: dayOfYear - daysBefore(march) + 1,
  };
}

/** The remainder with the sign of the divisor; `%` would be negative for days before 1970. */
function modulo(number: number, divisor: number): number {
  return number - Math.floor(number / divisor) * divisor;
}
