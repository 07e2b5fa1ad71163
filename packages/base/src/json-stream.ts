/** One JSON value of a stream: its text, and where it begins. */
export interface StreamedJson {
  readonly text: string;
  readonly offset: number;
}

const WHITE_SPACE = ' \n\t\r';
const OPENING = '{[';
const CLOSING = '}]';

/**
 * Cuts a text of JSON values that follow one another, with or without white space between them, into the values. Only
 * brackets and strings are understood here: what else is wrong, a cut last value included, is found by parsing them.
 */
export function splitJsonStream(text: string): readonly StreamedJson[] {
  const parts: StreamedJson[] = [];
  let index = 0;
  while (index < text.length) {
    if (WHITE_SPACE.includes(text.charAt(index))) {
      index += 1;
      continue;
    }
    const end = endOfValue(text, index);
    parts.push({ text: text.slice(index, end), offset: index });
    index = end;
  }
  return parts;
}

/** Index behind the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const character = text.charAt(index);
    const isBoundary = WHITE_SPACE.includes(character) || OPENING.includes(character);
    if (depth === 0 && index > start && isBoundary) return index;
    if (character === '"') index = endOfString(text, index);
    else if (OPENING.includes(character)) depth += 1;
    else if (CLOSING.includes(character)) {
      depth -= 1;
      if (depth <= 0) return index + 1;
    }
  }
  return text.length;
}

/** Index of the closing quote, or of the end of the text. */
function endOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index += 1) {
    if (text.charAt(index) === '\\') index += 1;
    else if (text.charAt(index) === '"') return index;
  }
  return text.length;
}
