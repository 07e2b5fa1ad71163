/** One JSON value of a stream: its text, and where it begins. */
export interface StreamedJson {
  readonly text: string;
  readonly offset: number;
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const WHITE_SPACE = codesOf(' \n\t\r');
const OPENING = codesOf('{[');
const CLOSING = codesOf('}]');
/** Outside strings each of them belongs to one key or value. */
const MARKS = codesOf(',:[{');

/** Whether a text of JSON values has more keys and values than so many: each costs time to read, and holds up all else. */
export function hasMoreItems(json: string, limit: number): boolean {
  if (json.length <= limit) return false;
  let items = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index);
    else if (MARKS.has(code)) items += 1;
  }
  return items > limit;
}

/**
 * Cuts a text of JSON values that follow one another, with or without white space between them, into the values. Only
 * brackets and strings are understood here: what else is wrong, a cut last value included, is found by parsing them.
 */
export function splitJsonStream(text: string): readonly StreamedJson[] {
  return [...jsonStream(text)];
}

/** The values of {@link splitJsonStream}, one after the other: to find the end of each takes its time in a long text. */
export function* jsonStream(text: string): Generator<StreamedJson, void, void> {
  let index = 0;
  while (index < text.length) {
    if (WHITE_SPACE.has(text.charCodeAt(index))) {
      index += 1;
      continue;
    }
    const end = endOfValue(text, index);
    yield { text: text.slice(index, end), offset: index };
    index = end;
  }
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

/** Index behind the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isBoundary = depth === 0 && index > start && (WHITE_SPACE.has(code) || OPENING.has(code));
    if (isBoundary) return index;
    if (code === QUOTE) index = endOfString(text, index);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) {
      depth -= 1;
      if (depth <= 0) return index + 1;
    }
  }
  return text.length;
}

/** Index of the closing quote, or of the end of the text. */
function endOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index += 1;
    else if (code === QUOTE) return index;
  }
  return text.length;
}
