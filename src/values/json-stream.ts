/** One JSON value of a stream: its text, and where it starts. */
export interface StreamedJson {
  readonly text: string;
  readonly offset: number;
}

/** A quote, a bracket, or a run of other characters. */
const TOKEN = /["[\]{}]|[^\s"[\]{}]+/gu;

/**
 * Cuts a stream of JSON values, with or without white space between them, into single ones. Only brackets and strings
 * are looked at; whether each piece is valid JSON is for its parser to say.
 */
export function splitJsonStream(text: string): readonly StreamedJson[] {
  const token = new RegExp(TOKEN);
  const pieces: StreamedJson[] = [];
  let depth = 0;
  let offset = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (depth === 0) offset = found.index;
    const [first] = found[0];
    if (first === '"') token.lastIndex = endOfString(text, found.index);
    if (first === '[' || first === '{') depth += 1;
    if (first === ']' || first === '}') depth -= 1;
    if (depth > 0) continue;
    depth = 0;
    pieces.push({ text: text.slice(offset, token.lastIndex), offset });
  }
  if (depth > 0) pieces.push({ text: text.slice(offset), offset });
  return pieces;
}

/** Where the string that starts at a quote is over; one that never ends takes the rest. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return text.length;
}
