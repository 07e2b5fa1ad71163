// The parser: tokens of `lexer.ts` become the syntax tree of `syntax.ts`. Recursive descent for terms,
// precedence climbing with the table of `binary-operators.ts` for operators. It follows the grammar of jq
// 1.8, where `as`, `reduce` and `def` may follow an operator. Every recursion passes through
// `TokenReader.nested`, so that a deep program is refused instead of exhausting the stack. Throws
// JqSyntaxError with the line.

import { BINARY_OPERATORS, LEVELS } from './binary-operators.ts';
import { type StringPart, tokensOf } from './lexer.ts';
import { numberOf } from './number-text.ts';
import { checkKey } from './object-key.ts';
import { type ExpressionParser, parsePatterns } from './parse-pattern.ts';
import type { Definition, Node, ObjectEntry, Parameter } from './syntax.ts';
import { TokenReader } from './token-reader.ts';

const IDENTITY: Node = { type: 'identity' };
const CONSTANTS: ReadonlyMap<string, Node> = new Map([
  ['null', { type: 'literal', value: null }],
  ['true', { type: 'literal', value: true }],
  ['false', { type: 'literal', value: false }],
]);

/** The syntax tree of a program; an empty program passes its input on. Throws JqSyntaxError. */
export function parseProgram(program: string): Node {
  const reader = new TokenReader(tokensOf(program));
  if (reader.peek().type === 'end') return IDENTITY;
  const node = new Parser(reader).pipe();
  if (reader.peek().type !== 'end') throw reader.unexpected();
  return node;
}

/** The definitions of a source that consists of definitions only, as the prelude does. */
export function parseDefinitions(source: string): readonly Definition[] {
  const reader = new TokenReader(tokensOf(source));
  const parser = new Parser(reader);
  const definitions: Definition[] = [];
  while (reader.acceptKeyword('def')) definitions.push(parser.definition());
  if (reader.peek().type !== 'end') throw reader.unexpected('def');
  return definitions;
}

class Parser implements ExpressionParser {
  readonly #reader: TokenReader;

  constructor(reader: TokenReader) {
    this.#reader = reader;
  }

  /** A whole expression, pipes included. */
  pipe(): Node {
    return this.#reader.nested(() => this.#binary(LEVELS.pipe));
  }

  /** Reads a definition behind its `def`: `name(f; $value): body;`. */
  definition(): Definition {
    const reader = this.#reader;
    if (reader.peek().type !== 'name') throw reader.unexpected('a name');
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

  /** An expression of operators that bind at least as tightly as `minLevel` (precedence climbing). */
  #binary(minLevel: number): Node {
    const reader = this.#reader;
    let left = this.#operand();
    // Operators that group `never`, such as `==`, may not follow one of their own level: `1 == 1 == 1` is an
    // error.
    let closedLevel: number | undefined;
    for (;;) {
      const { type, text } = reader.peek();
      if (minLevel <= LEVELS.bind && reader.acceptKeyword('as')) return this.#bind(left);
      const binary = type === 'symbol' || type === 'keyword' ? BINARY_OPERATORS.get(text) : undefined;
      if (binary === undefined || binary.level < minLevel) return left;
      if (binary.level === closedLevel) throw reader.unexpected();
      reader.take();
      const right = this.#binary(binary.groups === 'right' ? binary.level : binary.level + 1);
      left = binary.combine(left, right);
      closedLevel = binary.groups === 'never' ? binary.level : undefined;
    }
  }

  /** Reads the patterns and the body behind `as`; the body reaches as far to the right as it can. */
  #bind(source: Node): Node {
    const patterns = parsePatterns(this.#reader, this);
    this.#reader.expect('|');
    return { type: 'bind', source, patterns, body: this.pipe() };
  }

  /** A term, or a `def` or `label` that extends to the end of the expression. */
  #operand(): Node {
    const reader = this.#reader;
    if (reader.acceptKeyword('def')) {
      const definition = this.definition();
      return { type: 'define', definition, rest: this.pipe() };
    }
    if (!reader.acceptKeyword('label')) return this.#term();
    const name = reader.expectVariable();
    reader.expect('|');
    return { type: 'label', name, body: this.pipe() };
  }

  /** A term with its prefixes: unary minus and `try`, whose body is a single term. */
  #term(): Node {
    const reader = this.#reader;
    return reader.nested(() => {
      if (reader.accept('-')) return { type: 'negate', operand: this.#term() };
      if (!reader.acceptKeyword('try')) return this.#postfix();
      const body = this.#term();
      return { type: 'try', body, handler: reader.acceptKeyword('catch') ? this.#term() : undefined };
    });
  }

  /** A term with everything attached behind it: `.field`, `."string"`, `[…]` and `?`, any number of them. */
  #postfix(): Node {
    const reader = this.#reader;
    let node = this.#primary();
    for (;;) {
      if (reader.peek().type === 'field') node = index(node, stringLiteral(reader.take().text));
      else if (reader.isSymbol('.') && reader.startsString(1)) {
        reader.take();
        node = index(node, this.string());
        // `.a.[0]` is `.a[0]`: the dot before a bracket has no meaning of its own.
      } else if (reader.isSymbol('.') && reader.peek(1).text === '[') reader.take();
      else if (reader.accept('[')) node = this.#bracket(node);
      else if (reader.accept('?')) node = optional(node);
      else return node;
    }
  }

  /** Reads a subscript behind its `[`: `[]`, an index, or a slice with one or two bounds. */
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

  /** A term without prefixes and suffixes. */
  #primary(): Node {
    const reader = this.#reader;
    const { type, text: word, line } = reader.peek();
    if (reader.startsString()) return this.string();
    if (type === 'keyword') return this.#keyword();
    if (type === 'end') throw reader.unexpected();
    reader.take();
    if (type === 'number') return { type: 'literal', value: numberOf(word) };
    if (type === 'field') return index(IDENTITY, stringLiteral(word));
    if (type === 'format') return { type: 'format', name: word };
    if (type === 'variable')
      return word === '__loc__' ? location(line) : { type: 'variable', name: word, line };
    if (type === 'name') return this.#call(word, line);
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
      return reader.startsString() ? index(IDENTITY, this.string()) : IDENTITY;
    }
    throw new TokenReader([{ type: 'symbol', text: word, line }]).unexpected();
  }

  /** Terms that begin with a keyword: `if`, `reduce`, `foreach`, `break`. */
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

  /** The part that `reduce` and `foreach` share, up to the update; the caller reads the end. */
  #loop() {
    const reader = this.#reader;
    const source = this.#binary(LEVELS.alternative);
    reader.expectKeyword('as');
    const patterns = parsePatterns(reader, this);
    reader.expect('(');
    const start = this.pipe();
    reader.expect(';');
    return { source, patterns, start, update: this.pipe() };
  }

  /** Reads the rest of an `if` or `elif`, `end` included. */
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

  /** Reads the arguments behind a name, if there are any; constants such as `null` are names without arguments. */
  #call(name: string, line: number): Node {
    const reader = this.#reader;
    const constant = CONSTANTS.get(name);
    if (!reader.accept('(')) return constant ?? { type: 'call', name, args: [], line };
    const args = [this.pipe()];
    while (reader.accept(';')) args.push(this.pipe());
    reader.expect(')');
    return { type: 'call', name, args, line };
  }

  /** Entries of an object construction; a comma before the brace is allowed, as in jq. */
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

  /** One entry; `{a}`, `{$x}` and `{"b"}` are short for `{a: .a}`, `{x: $x}` and `{b: .b}`. */
  #entry(): ObjectEntry {
    const reader = this.#reader;
    const { type, text: word, line } = reader.peek();
    if (reader.accept('(')) {
      const key = checkKey(this.pipe(), line);
      reader.expect(')');
      reader.expect(':');
      return { key, value: this.#entryValue() };
    }
    if (type === 'variable') {
      reader.take();
      if (word === '__loc__') return { key: stringLiteral(word), value: location(line) };
      const variable: Node = { type: 'variable', name: word, line };
      return reader.accept(':')
        ? { key: variable, value: this.#entryValue() }
        : { key: stringLiteral(word), value: variable };
    }
    const key = this.#entryKey();
    return { key, value: reader.accept(':') ? this.#entryValue() : index(IDENTITY, key) };
  }

  /** A key without parentheses: a name, a keyword, or a string. */
  #entryKey(): Node {
    const { type } = this.#reader.peek();
    if (type === 'name' || type === 'keyword') return stringLiteral(this.#reader.take().text);
    return this.string();
  }

  /** A value of an entry: it ends at a comma, so commas need parentheses while pipes do not. */
  #entryValue(): Node {
    return this.#reader.nested(() => {
      const value = this.#binary(LEVELS.alternative);
      return this.#reader.accept('|') ? { type: 'pipe', left: value, right: this.#entryValue() } : value;
    });
  }

  /** A string, with the format before it if there is one. */
  string(): Node {
    const reader = this.#reader;
    const format = reader.peek().type === 'format' ? reader.take().text : 'text';
    const token = reader.peek();
    if (token.type !== 'string') throw reader.unexpected('a string');
    reader.take();
    const parts = token.parts.map((part) => reader.nested(() => stringPart(part)));
    const [only] = parts;
    return parts.length === 1 && typeof only === 'string'
      ? stringLiteral(only)
      : { type: 'text', format, parts };
  }
}

/** An interpolation was split into tokens by the lexer, so it is parsed by a reader of its own. */
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

function stringLiteral(value: string): Node {
  return { type: 'literal', value };
}

/** The value of `$__loc__`; a program has no file, so it has jq's name for the main program. */
function location(line: number): Node {
  return { type: 'literal', value: { file: '<top-level>', line } };
}
