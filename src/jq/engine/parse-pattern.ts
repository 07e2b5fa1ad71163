import type { Node, Pattern, PatternEntry } from './syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Patterns between which `?//` stands. `parsePipe` reads a whole expression. */
export function parsePatterns(reader: TokenReader, parsePipe: () => Node): readonly Pattern[] {
  const patterns = [parsePattern(reader, parsePipe)];
  while (reader.accept('?//')) patterns.push(parsePattern(reader, parsePipe));
  return patterns;
}

function parsePattern(reader: TokenReader, parsePipe: () => Node): Pattern {
  return reader.nested(() => {
    if (reader.accept('[')) {
      const items = [parsePattern(reader, parsePipe)];
      while (reader.accept(',')) items.push(parsePattern(reader, parsePipe));
      reader.expect(']');
      return { type: 'array', items };
    }
    if (!reader.accept('{')) return { type: 'variable', name: reader.expectVariable() };
    const entries = [parseEntry(reader, parsePipe)];
    while (reader.accept(',')) entries.push(parseEntry(reader, parsePipe));
    reader.expect('}');
    return { type: 'object', entries };
  });
}

function parseEntry(reader: TokenReader, parsePipe: () => Node): PatternEntry {
  const current = reader.peek();
  if (current.type === 'variable') {
    reader.take();
    const pattern = reader.accept(':') ? parsePattern(reader, parsePipe) : undefined;
    return { key: { type: 'literal', value: current.text }, variable: current.text, pattern };
  }
  const key = parseKey(reader, parsePipe);
  reader.expect(':');
  return { key, variable: undefined, pattern: parsePattern(reader, parsePipe) };
}

function parseKey(reader: TokenReader, parsePipe: () => Node): Node {
  const current = reader.peek();
  if (reader.accept('(')) {
    const key = parsePipe();
    reader.expect(')');
    return key;
  }
  if (current.type === 'name' || current.type === 'keyword') {
    return { type: 'literal', value: reader.take().text };
  }
  const [only, ...more] = current.type === 'string' ? current.parts : [];
  if (typeof only !== 'string' || more.length > 0) throw reader.unexpected('a key');
  reader.take();
  return { type: 'literal', value: only };
}
