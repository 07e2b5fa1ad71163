import { YAMLException } from 'js-yaml';

/** Most characters that are parsed again before the text is left as it is. */
const MAX_REPARSED = 20_000_000;
const DEFICIENT = 'deficient indentation';
const DOCUMENT_MARK = /^(?:---|\.\.\.)(?:\s|$)/;
/** Messages of `js-yaml` about a line that a tab indents: in most places the first one, which names it. */
const TAB_REASONS = new Set([
  'tab characters must not be used in indentation',
  'end of the stream or a document separator is expected',
  'bad indentation of a mapping entry',
  'bad indentation of a sequence entry',
]);

/**
 * Reads a YAML text as the parsers of Go do, and with them helm and kubectl: between brackets and between quotes lines
 * begin at any column, and tabs separate words. YAML has such lines indented more than what they belong to, and so has
 * `js-yaml`, which takes no tab in a line that begins further left either:
 *
 *     ports: [
 *       80
 *     ]
 *
 * A tab as indentation is refused by both, and named as such in every place.
 *
 * @param read parses what it is given with `js-yaml`: `text`, or the same with such lines indented and such tabs as spaces
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
      const fixed = fixLine(current, error, text);
      reparsed += current.length;
      if (fixed === undefined || reparsed > MAX_REPARSED)
        // For a bracket or quote that is never closed, the first line leads to the place.
        throw first !== undefined && isUnclosed(error) ? first : namingTab(current, error);
      first ??= error;
      current = fixed;
    }
  }
}

/** The source without the reported fault; undefined if it was another one. */
function fixLine(text: string, error: unknown, original: string): string | undefined {
  if (!(error instanceof YAMLException) || error.reason !== DEFICIENT || error.mark === undefined)
    return undefined;
  const { position } = error.mark;
  const start = text.lastIndexOf('\n', position - 1) + 1;
  if (DOCUMENT_MARK.test(text.slice(start, start + 4))) return undefined;
  if (text.slice(start, position).trim() !== '') return withoutTabs(text, position);
  return text.slice(0, start) + enoughSpaces(original) + text.slice(start);
}

/** With spaces for the tabs between the last word before a position and the position; undefined if there are none. */
function withoutTabs(text: string, position: number): string | undefined {
  let start = position;
  while (start > 0 && ' \t[{'.includes(text.charAt(start - 1))) start -= 1;
  const between = text.slice(start, position);
  if (!between.includes('\t')) return undefined;
  return text.slice(0, start) + between.replaceAll('\t', ' ') + text.slice(position);
}

/** The error itself, or one that says that the line is indented with a tab. */
function namingTab(text: string, error: unknown): unknown {
  if (!(error instanceof YAMLException) || error.mark === undefined || !TAB_REASONS.has(error.reason))
    return error;
  const start = text.lastIndexOf('\n', error.mark.position - 1) + 1;
  if (!/^[ ?-]*\t/.test(text.slice(start))) return error;
  return new YAMLException('tab characters must not be used in indentation: write spaces', error.mark);
}

function isUnclosed(error: unknown): boolean {
  return error instanceof YAMLException && error.reason.includes('unexpected end of the stream');
}

/** One more than any line of the text begins with. */
function enoughSpaces(text: string): string {
  const widths = Array.from(text.matchAll(/^[ ?-]*/gm), ([start]) => start.length);
  return ' '.repeat(widths.reduce((most, width) => Math.max(most, width), 0) + 1);
}
