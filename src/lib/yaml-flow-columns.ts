import { YAMLException } from 'js-yaml';

/** Characters that are parsed anew before a text is given up. */
const MAX_REPARSED = 20_000_000;
const DEFICIENT = 'deficient indentation';
const DOCUMENT_MARK = /^(?:---|\.\.\.)(?:\s|$)/;

/**
 * Reads a YAML text as the parsers of Go do, and with them helm and kubectl: between brackets and between quotes lines
 * begin at any column. YAML has them indented more than what they belong to, and so has `js-yaml`:
 *
 *     ports: [
 *       80
 *     ]
 *
 * @param read parses what it is given with `js-yaml`: `text`, or the same with such lines indented
 * @throws what `read` throws
 */
export function readFlowAtAnyColumn<Result>(text: string, read: (text: string) => Result): Result {
  let current = text;
  let reparsed = 0;
  let first: unknown;
  for (;;) {
    try {
      return read(current);
    } catch (error) {
      const lineStart = startOfDeficientLine(current, error);
      reparsed += current.length;
      if (lineStart === undefined || reparsed > MAX_REPARSED)
        // With a bracket or quote that nobody closes it is the first line that leads to the place.
        throw first !== undefined && isUnclosed(error) ? first : error;
      first ??= error;
      current = current.slice(0, lineStart) + enoughSpaces(text) + current.slice(lineStart);
    }
  }
}

function startOfDeficientLine(text: string, error: unknown): number | undefined {
  if (!(error instanceof YAMLException) || error.reason !== DEFICIENT || error.mark === undefined)
    return undefined;
  const start = text.lastIndexOf('\n', error.mark.position - 1) + 1;
  return DOCUMENT_MARK.test(text.slice(start, start + 4)) ? undefined : start;
}

function isUnclosed(error: unknown): boolean {
  return error instanceof YAMLException && error.reason.includes('unexpected end of the stream');
}

/** One more than any line of the text begins with. */
function enoughSpaces(text: string): string {
  const widths = Array.from(text.matchAll(/^[ ?-]*/gm), ([start]) => start.length);
  return ' '.repeat(widths.reduce((most, width) => Math.max(most, width), 0) + 1);
}
