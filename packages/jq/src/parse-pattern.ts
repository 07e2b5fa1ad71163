// Destructuring patterns behind `as`: `$name`, `[a, b]` and `{key: pattern}`, nested and with alternatives
// (`?//`). `parse-program.ts` calls this and passes itself in for the expressions that keys may hold.

import { checkKey } from './object-key.ts';
import type { Node, Pattern, PatternEntry } from './syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Reads the expressions inside of patterns. */
export interface ExpressionParser {
  pipe(): Node;
  string(): Node;
}

/** Patterns with `?//` between them. */
export function parsePatterns(reader: TokenReader, parser: ExpressionParser): readonly Pattern[] {
  const patterns = [parsePattern(reader, parser)];
  while (reader.accept('?//')) patterns.push(parsePattern(reader, parser));
  return patterns;
}

/** One pattern, without alternatives. */
function parsePattern(reader: TokenReader, parser: ExpressionParser): Pattern {
  return reader.nested(() => {
    if (reader.accept('[')) {
      const items = [parsePattern(reader, parser)];
      while (reader.accept(',')) items.push(parsePattern(reader, parser));
      reader.expect(']');
      return { type: 'array', items };
    }
    if (!reader.accept('{')) return { type: 'variable', name: reader.expectVariable() };
    const entries = [parseEntry(reader, parser)];
    while (reader.accept(',')) entries.push(parseEntry(reader, parser));
    reader.expect('}');
    return { type: 'object', entries };
  });
}

/** One entry of an object pattern: `$name`, `$name: pattern`, or `key: pattern`. */
function parseEntry(reader: TokenReader, parser: ExpressionParser): PatternEntry {
  const { type, text } = reader.peek();
  if (type === 'variable') {
    reader.take();
    const pattern = reader.accept(':') ? parsePattern(reader, parser) : undefined;
    return { key: { type: 'literal', value: text }, variable: text, pattern };
  }
  const key = parseKey(reader, parser);
  reader.expect(':');
  return { key, variable: undefined, pattern: parsePattern(reader, parser) };
}

/** A key: an expression in parentheses, a string, or a bare word, which may be a keyword. */
function parseKey(reader: TokenReader, parser: ExpressionParser): Node {
  const { type, line } = reader.peek();
  if (reader.accept('(')) {
    const key = checkKey(parser.pipe(), line);
    reader.expect(')');
    return key;
  }
  if (reader.startsString()) return parser.string();
  if (type !== 'name' && type !== 'keyword') throw reader.unexpected('a key');
  return { type: 'literal', value: reader.take().text };
}
