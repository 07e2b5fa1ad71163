// The lexer: a program becomes tokens with their lines, read by sticky regular expressions at one position. A
// string becomes one token whose parts are plain pieces and, for each `\(…)`, the tokens inside; those are
// lexed recursively, because an interpolation ends at its own closing parenthesis and may hold further
// strings. Throws JqSyntaxError for an unknown character, an invalid escape, and a string or an interpolation
// that is not closed.

/** A token of a jq program, with its line. */
export type Token =
  | {
      readonly type: 'symbol' | 'name' | 'keyword' | 'field' | 'variable' | 'format' | 'number';
      readonly text: string;
      readonly line: number;
    }
  | {
      readonly type: 'string';
      readonly parts: readonly StringPart[];
      readonly text: string;
      readonly line: number;
    }
  | { readonly type: 'end'; readonly text: ''; readonly line: number };

/** A piece of a string with its escapes resolved, or the tokens of an interpolation. */
export type StringPart = string | readonly Token[];

/** The program is not valid jq. Thrown while it is compiled, never while it runs. */
export class JqSyntaxError extends Error {}

const KEYWORDS: ReadonlySet<string> = new Set(
  'and as break catch def elif else end foreach if import include label module or reduce then try'.split(' '),
);
/**
 * White space and comments; a backslash at the end of a comment continues it on the next line, as in jq 1.8.
 */
const BLANK = /(?:\s|#(?:[^\n\\]|\\(?:\r\n|[^]))*\\?)+/y;
const NAME = /[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*/y;
const FIELD = /\.[A-Za-z_]\w*/y;
const VARIABLE = /\$\s*([A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)/y;
const FORMAT = /@[A-Za-z0-9_]+/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
/** Longest first: `?//` before `?`, `//=` before `//`. */
const SYMBOL = /\?\/\/|\/\/=|[|+\-*/%=!<>]=|\/\/|\.\.|[.[\]{}()|,:;=<>+\-*/%?$]/y;
const PLAIN_TEXT = /[^"\\]+/y;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/y;
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** Strings inside of interpolations inside of strings; each level is a recursion. */
const MAX_NESTING = 200;

/** Splits a program into tokens; the last one is the `end`. Throws JqSyntaxError. */
export function tokensOf(program: string): readonly Token[] {
  return new Lexer(program).readUntil(undefined, 0);
}

class Lexer {
  readonly #program: string;
  #position = 0;
  #line = 1;

  constructor(program: string) {
    this.#program = program;
  }

  /** Tokens up to the end, or up to the parenthesis that closes an interpolation. */
  readUntil(closing: ')' | undefined, nesting: number): readonly Token[] {
    if (nesting > MAX_NESTING) throw new JqSyntaxError('strings are nested too deep');
    const tokens: Token[] = [];
    let open = 0;
    for (;;) {
      this.#match(BLANK);
      const line = this.#line;
      if (this.#position >= this.#program.length) {
        if (closing !== undefined) throw new JqSyntaxError(`an interpolation in line ${line} is not closed`);
        return [...tokens, { type: 'end', text: '', line }];
      }
      const token = this.#next(line, nesting);
      if (token.text === '(' && token.type === 'symbol') open += 1;
      if (token.text === ')' && token.type === 'symbol') {
        if (open === 0 && closing !== undefined) return [...tokens, { type: 'end', text: '', line }];
        open -= 1;
      }
      tokens.push(token);
    }
  }

  /** The order matters: `.5` is no field, `.a` is no symbol, and `and` is a name before it is a keyword. */
  #next(line: number, nesting: number): Token {
    if (this.#program[this.#position] === '"') return this.#string(line, nesting);
    const field = this.#match(FIELD);
    if (field !== undefined) return { type: 'field', text: field.slice(1), line };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { type: 'number', text: number, line };
    const name = this.#match(NAME);
    if (name !== undefined) return { type: KEYWORDS.has(name) ? 'keyword' : 'name', text: name, line };
    const variable = this.#match(VARIABLE);
    if (variable !== undefined) return { type: 'variable', text: variable.slice(1).trim(), line };
    const format = this.#match(FORMAT);
    if (format !== undefined) return { type: 'format', text: format.slice(1), line };
    const symbol = this.#match(SYMBOL);
    if (symbol !== undefined) return { type: 'symbol', text: symbol, line };
    const character = Array.from(this.#program.slice(this.#position, this.#position + 2))[0] ?? '';
    throw new JqSyntaxError(`syntax error in line ${line}: unexpected ${JSON.stringify(character)}`);
  }

  /** A string token; the lone surrogates that `\u` escapes can make become U+FFFD, as in jq. */
  #string(line: number, nesting: number): Token {
    const parts: StringPart[] = [];
    let text = '';
    this.#position += 1;
    while (this.#program[this.#position] !== '"') {
      if (this.#program.startsWith('\\(', this.#position)) {
        parts.push(text);
        text = '';
        this.#position += 2;
        parts.push(this.readUntil(')', nesting + 1));
        continue;
      }
      text += this.#match(PLAIN_TEXT) ?? this.#escape(line);
    }
    this.#position += 1;
    return { type: 'string', parts: [...parts, text.toWellFormed()], text: '"', line };
  }

  /** One escape sequence, or an error for a backslash that starts none and for the end of the program. */
  #escape(line: number): string {
    ESCAPE.lastIndex = this.#position;
    const match = ESCAPE.exec(this.#program);
    if (match === null) {
      const problem = this.#position < this.#program.length ? 'has an invalid escape' : 'is not closed';
      throw new JqSyntaxError(`the string that begins in line ${line} ${problem}`);
    }
    this.#position += match[0].length;
    const [, code, character = ''] = match;
    return code === undefined
      ? (ESCAPED[character] ?? character)
      : String.fromCharCode(Number.parseInt(code, 16));
  }

  /** Takes what the expression matches here and counts its lines. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const text = pattern.exec(this.#program)?.[0];
    if (text === undefined) return undefined;
    this.#position += text.length;
    for (const character of text) if (character === '\n') this.#line += 1;
    return text;
  }
}
