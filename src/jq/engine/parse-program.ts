import type { Operator } from './arithmetic.ts';
import { numberOf } from './json-text.ts';
import { type StringPart, tokensOf } from './lexer.ts';
import { parsePatterns } from './parse-pattern.ts';
import type { Assignment, Definition, Node, ObjectEntry, Parameter } from './syntax.ts';
import { TokenReader } from './token-reader.ts';

interface Binary {
  readonly level: number;
  readonly groups: 'left' | 'right' | 'never';
  readonly combine: (left: Node, right: Node) => Node;
}

const LEVELS = {
  pipe: 0,
  comma: 1,
  alternative: 2,
  assign: 3,
  or: 4,
  and: 5,
  comparison: 6,
  sum: 7,
  product: 8,
};
const ASSIGNMENTS: readonly Assignment[] = ['=', '|=', '+=', '-=', '*=', '/=', '%=', '//='];
const COMPARISONS: readonly Operator[] = ['==', '!=', '<', '<=', '>', '>='];
const SUMS: readonly Operator[] = ['+', '-'];
const PRODUCTS: readonly Operator[] = ['*', '/', '%'];

const BINARIES: ReadonlyMap<string, Binary> = new Map([
  flow('|', 'pipe', 'right'),
  flow(',', 'comma', 'left'),
  flow('//', 'alternative', 'right'),
  flow('or', 'or', 'left'),
  flow('and', 'and', 'left'),
  ...ASSIGNMENTS.map((operator): [string, Binary] => [
    operator,
    {
      level: LEVELS.assign,
      groups: 'never',
      combine: (left, right) => ({ type: 'assign', operator, left, right }),
    },
  ]),
  ...COMPARISONS.map((operator) => operation(operator, LEVELS.comparison, 'never')),
  ...SUMS.map((operator) => operation(operator, LEVELS.sum, 'left')),
  ...PRODUCTS.map((operator) => operation(operator, LEVELS.product, 'left')),
]);

function flow(
  symbol: string,
  type: 'pipe' | 'comma' | 'alternative' | 'or' | 'and',
  groups: Binary['groups'],
): [string, Binary] {
  return [symbol, { level: LEVELS[type], groups, combine: (left, right) => ({ type, left, right }) }];
}

function operation(operator: Operator, level: number, groups: Binary['groups']): [string, Binary] {
  return [
    operator,
    { level, groups, combine: (left, right) => ({ type: 'operator', operator, left, right }) },
  ];
}

const IDENTITY: Node = { type: 'identity' };

/** The syntax tree of a program; one without any text passes its input on. Throws JqSyntaxError. */
export function parseProgram(program: string): Node {
  const reader = new TokenReader(tokensOf(program));
  if (reader.peek().type === 'end') return IDENTITY;
  const node = new Parser(reader).pipe();
  if (reader.peek().type !== 'end') throw reader.unexpected();
  return node;
}

/** The definitions of a text that holds nothing else. */
export function parseDefinitions(text: string): readonly Definition[] {
  const reader = new TokenReader(tokensOf(text));
  const parser = new Parser(reader);
  const definitions: Definition[] = [];
  while (reader.acceptKeyword('def')) definitions.push(parser.definition());
  if (reader.peek().type !== 'end') throw reader.unexpected('def');
  return definitions;
}

class Parser {
  readonly #reader: TokenReader;

  constructor(reader: TokenReader) {
    this.#reader = reader;
  }

  pipe(): Node {
    return this.#reader.nested(() => this.#binary(LEVELS.pipe));
  }

  /** What follows `def`. */
  definition(): Definition {
    const reader = this.#reader;
    if (reader.peek().type !== 'name' && reader.peek().type !== 'keyword') throw reader.unexpected('a name');
    const name = reader.take().text;
    const parameters: Parameter[] = [];
    if (reader.accept('(')) {
      do {
        const isValue = reader.peek().type === 'variable';
        if (!isValue && reader.peek().type !== 'name') throw reader.unexpected('a parameter');
        parameters.push({ name: reader.take().text, isValue });
      } while (reader.accept(';'));
      reader.expect(')');
    }
    reader.expect(':');
    const body = this.pipe();
    reader.expect(';');
    return { name, parameters, body };
  }

  #binary(minLevel: number): Node {
    let left = this.#unary();
    let closedLevel: number | undefined;
    for (;;) {
      const { type, text } = this.#reader.peek();
      const binary = type === 'symbol' || type === 'keyword' ? BINARIES.get(text) : undefined;
      if (binary === undefined || binary.level < minLevel) return left;
      if (binary.level === closedLevel) throw this.#reader.unexpected();
      this.#reader.take();
      const right = this.#binary(binary.groups === 'right' ? binary.level : binary.level + 1);
      left = binary.combine(left, right);
      closedLevel = binary.groups === 'never' ? binary.level : undefined;
    }
  }

  #unary(): Node {
    const reader = this.#reader;
    if (reader.accept('-')) return { type: 'negate', operand: reader.nested(() => this.#unary()) };
    if (reader.acceptKeyword('def')) {
      const definition = this.definition();
      return { type: 'define', definition, rest: this.pipe() };
    }
    if (reader.acceptKeyword('label')) {
      const name = reader.expectVariable();
      reader.expect('|');
      return { type: 'label', name, body: this.pipe() };
    }
    if (reader.isKeyword('try')) return this.#try();
    const term = this.#postfix();
    if (!reader.acceptKeyword('as')) return term;
    const patterns = parsePatterns(reader, () => this.pipe());
    reader.expect('|');
    return { type: 'bind', source: term, patterns, body: this.pipe() };
  }

  #try(): Node {
    const reader = this.#reader;
    reader.expectKeyword('try');
    const part = (): Node =>
      reader.nested(() => {
        if (reader.isKeyword('try')) return this.#try();
        return reader.accept('-') ? { type: 'negate', operand: this.#postfix() } : this.#postfix();
      });
    const body = part();
    return { type: 'try', body, handler: reader.acceptKeyword('catch') ? part() : undefined };
  }

  #postfix(): Node {
    const reader = this.#reader;
    let node = this.#primary();
    for (;;) {
      if (reader.peek().type === 'field') node = index(node, text(reader.take().text));
      else if (reader.isSymbol('.') && reader.following.type === 'string') {
        reader.take();
        node = index(node, this.#string('text'));
      } else if (reader.isSymbol('.') && reader.following.text === '[') reader.take();
      else if (reader.accept('[')) node = this.#bracket(node);
      else if (reader.accept('?')) node = optional(node);
      else return node;
    }
  }

  /** What follows `[` behind a term. */
  #bracket(target: Node): Node {
    const reader = this.#reader;
    if (reader.accept(']')) return { type: 'iterate', target, isOptional: false };
    const start = reader.isSymbol(':') ? undefined : this.pipe();
    if (!reader.accept(':')) {
      reader.expect(']');
      return index(target, start ?? IDENTITY);
    }
    const end = reader.isSymbol(']') ? undefined : this.pipe();
    reader.expect(']');
    if (start === undefined && end === undefined) throw reader.unexpected('the bounds of a slice');
    return { type: 'slice', target, start, end, isOptional: false };
  }

  #primary(): Node {
    const reader = this.#reader;
    const { type, text: word, line } = reader.peek();
    if (type === 'string') return this.#string('text');
    if (type === 'keyword') return this.#keyword();
    if (type === 'end') throw reader.unexpected();
    reader.take();
    if (type === 'number') return { type: 'literal', value: numberOf(word) };
    if (type === 'field') return index(IDENTITY, text(word));
    if (type === 'variable')
      return word === '__loc__' ? location(line) : { type: 'variable', name: word, line };
    if (type === 'format') {
      return reader.peek().type === 'string' ? this.#string(word) : { type: 'format', name: word };
    }
    if (type === 'name') return { type: 'call', name: word, args: this.#args(), line };
    if (word === '..') return { type: 'recurse' };
    if (word === '(') {
      const inner = this.pipe();
      reader.expect(')');
      return { type: 'group', inner };
    }
    if (word === '[') {
      const body = reader.isSymbol(']') ? undefined : this.pipe();
      reader.expect(']');
      return { type: 'array', body };
    }
    if (word === '{') return { type: 'object', entries: this.#entries() };
    if (word === '.') {
      return reader.peek().type === 'string' ? index(IDENTITY, this.#string('text')) : IDENTITY;
    }
    throw new TokenReader([{ type: 'symbol', text: word, line }]).unexpected();
  }

  #keyword(): Node {
    const reader = this.#reader;
    const { line } = reader.peek();
    if (reader.acceptKeyword('if')) return this.#if();
    if (reader.acceptKeyword('reduce')) {
      const { source, patterns, start, update } = this.#loop();
      reader.expect(')');
      return { type: 'reduce', source, patterns, start, update };
    }
    if (reader.acceptKeyword('foreach')) {
      const { source, patterns, start, update } = this.#loop();
      const extract = reader.accept(';') ? this.pipe() : undefined;
      reader.expect(')');
      return { type: 'foreach', source, patterns, start, update, extract };
    }
    if (reader.acceptKeyword('break')) return { type: 'break', name: reader.expectVariable(), line };
    throw reader.unexpected();
  }

  #loop() {
    const reader = this.#reader;
    const source = this.#postfix();
    reader.expectKeyword('as');
    const patterns = parsePatterns(reader, () => this.pipe());
    reader.expect('(');
    const start = this.pipe();
    reader.expect(';');
    return { source, patterns, start, update: this.pipe() };
  }

  /** What follows `if` or `elif`, with the `end`. */
  #if(): Node {
    const reader = this.#reader;
    const condition = this.pipe();
    reader.expectKeyword('then');
    const consequent = this.pipe();
    if (reader.acceptKeyword('elif')) {
      return { type: 'if', condition, consequent, otherwise: reader.nested(() => this.#if()) };
    }
    const otherwise = reader.acceptKeyword('else') ? this.pipe() : undefined;
    reader.expectKeyword('end');
    return { type: 'if', condition, consequent, otherwise };
  }

  #args(): readonly Node[] {
    if (!this.#reader.accept('(')) return [];
    const args = [this.pipe()];
    while (this.#reader.accept(';')) args.push(this.pipe());
    this.#reader.expect(')');
    return args;
  }

  #entries(): readonly ObjectEntry[] {
    const reader = this.#reader;
    const entries: ObjectEntry[] = [];
    if (reader.accept('}')) return entries;
    do {
      if (reader.isSymbol('}')) break;
      entries.push(this.#entry());
    } while (reader.accept(','));
    reader.expect('}');
    return entries;
  }

  #entry(): ObjectEntry {
    const reader = this.#reader;
    const { type, text: word, line } = reader.peek();
    if (reader.accept('(')) {
      const key = this.pipe();
      reader.expect(')');
      reader.expect(':');
      return { key, value: this.#entryValue() };
    }
    if (type === 'variable') {
      reader.take();
      const value: Node = word === '__loc__' ? location(line) : { type: 'variable', name: word, line };
      return { key: text(word), value };
    }
    const key = this.#entryKey();
    if (reader.accept(':')) return { key, value: this.#entryValue() };
    return { key, value: index(IDENTITY, key) };
  }

  #entryKey(): Node {
    const reader = this.#reader;
    const { type, text: word } = reader.peek();
    if (type === 'string') return this.#string('text');
    if (type !== 'name' && type !== 'keyword' && type !== 'format') throw reader.unexpected('a key');
    reader.take();
    return type === 'format' ? this.#string(word) : text(word);
  }

  #entryValue(): Node {
    return this.#reader.nested(() => {
      const value = this.#binary(LEVELS.alternative);
      return this.#reader.accept('|') ? { type: 'pipe', left: value, right: this.#entryValue() } : value;
    });
  }

  #string(format: string): Node {
    const token = this.#reader.take();
    if (token.type !== 'string') throw this.#reader.unexpected('a string');
    const parts = token.parts.map((part) => this.#reader.nested(() => stringPart(part)));
    const [only] = parts;
    return parts.length === 1 && typeof only === 'string' ? text(only) : { type: 'text', format, parts };
  }
}

function stringPart(part: StringPart): string | Node {
  if (typeof part === 'string') return part;
  const reader = new TokenReader(part);
  const node = new Parser(reader).pipe();
  if (reader.peek().type !== 'end') throw reader.unexpected();
  return node;
}

function index(target: Node, key: Node): Node {
  return { type: 'index', target, key, isOptional: false };
}

/** `?` forgives the last step into a value alone: `.a.b?` still fails where `.a` does. */
function optional(node: Node): Node {
  const isStep = node.type === 'index' || node.type === 'slice' || node.type === 'iterate';
  if (isStep && !node.isOptional) return { ...node, isOptional: true };
  return { type: 'try', body: node, handler: undefined };
}

function text(value: string): Node {
  return { type: 'literal', value };
}

function location(line: number): Node {
  return { type: 'literal', value: { file: '<top-level>', line } };
}
