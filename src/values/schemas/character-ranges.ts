/** Code points from the first to the last of each pair, in rising order. */
export type Ranges = readonly (readonly [number, number])[];

const LAST_CODE_POINT = 0x10_ff_ff;

/** What `\s` means in RE2: no spaces beyond ASCII, and no vertical tab. */
export const SPACES = rangesOf('\t\n\f\r  ');

/** Named classes of RE2, as in `[[:alpha:]]`. */
export const POSIX_CLASSES: ReadonlyMap<string, Ranges> = new Map(
  Object.entries({
    alnum: '09AZaz',
    alpha: 'AZaz',
    ascii: '\x00\x7F',
    blank: '\t\t  ',
    cntrl: '\x00\x1F\x7F\x7F',
    digit: '09',
    graph: '!~',
    lower: 'az',
    print: ' ~',
    punct: '!/:@[`{~',
    space: '\t\r  ',
    upper: 'AZ',
    word: '09AZ__az',
    xdigit: '09AFaf',
  }).map(([name, bounds]) => [name, rangesOf(bounds)]),
);

/** Everything else. */
export function complementOf(ranges: Ranges): Ranges {
  const starts = [0, ...ranges.map(([, last]) => last + 1)];
  const ends = [...ranges.map(([first]) => first - 1), LAST_CODE_POINT];
  return starts
    .map((start, index) => [start, ends[index] ?? LAST_CODE_POINT] as const)
    .filter(([first, last]) => first <= last);
}

/** The ranges as they are written inside the brackets of a class. */
export function classTextOf(ranges: Ranges): string {
  return ranges.map(([first, last]) => `${codePointText(first)}-${codePointText(last)}`).join('');
}

/** A character that means nothing but itself. */
export function codePointText(codePoint: number): string {
  return `\\u{${codePoint.toString(16)}}`;
}

function rangesOf(bounds: string): Ranges {
  const codes = Array.from(bounds, (character) => character.charCodeAt(0));
  return codes.flatMap((code, index) => (index % 2 === 0 ? [[code, codes[index + 1] ?? code] as const] : []));
}
