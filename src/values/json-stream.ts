/** One JSON value of a stream: its text, and where it starts. */
export interface StreamedJson {
  readonly text: string;
  readonly offset: number;
}

/** A string, a bracket, or a run of other characters; a string that never ends takes the rest. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[[{]|[\]}]|[^\s"[\]{}]+/gsu;

/**
 * Cuts a stream of JSON values, with or without white space between them, into single ones. Only brackets and strings
 * are looked at; whether each piece is valid JSON is for its parser to say.
 */
export function splitJsonStream(text: string): readonly StreamedJson[] {
  const pieces: StreamedJson[] = [];
  let depth = 0;
  let offset = 0;
  for (const token of text.matchAll(TOKEN)) {
    if (depth === 0) offset = token.index;
    const [first] = token[0];
    if (first === '[' || first === '{') depth += 1;
    if (first === ']' || first === '}') depth -= 1;
    if (depth > 0) continue;
    depth = 0;
    pieces.push({ text: text.slice(offset, token.index + token[0].length), offset });
  }
  if (depth > 0) pieces.push({ text: text.slice(offset), offset });
  return pieces;
}
