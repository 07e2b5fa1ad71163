import { JqSyntaxError, type Token } from './lexer.ts';

/** Deeper programs are refused: everything that walks over them is recursive. */
const MAX_NESTING = 1_000;

/** Reads tokens one by one. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #position = 0;
  #nesting = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The current token, or one further on. */
  peek(offset = 0): Token {
    return this.#tokens[this.#position + offset] ?? { type: 'end', text: '', line: 0 };
  }

  /** Returns the current token and moves to the next. */
  take(): Token {
    const token = this.peek();
    if (token.type !== 'end') this.#position += 1;
    return token;
  }

  /** Whether the current token is this symbol; a string of the same characters is not. */
  isSymbol(text: string): boolean {
    return this.peek().type === 'symbol' && this.peek().text === text;
  }

  /** Whether the current token is this keyword. */
  isKeyword(text: string): boolean {
    return this.peek().type === 'keyword' && this.peek().text === text;
  }

  /** Whether a string begins at a token; the name of a format may come before its quotes. */
  startsString(offset = 0): boolean {
    const { type } = this.peek(offset);
    return type === 'string' || (type === 'format' && this.peek(offset + 1).type === 'string');
  }

  /** Takes the symbol if it is next. */
  accept(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#position += 1;
    return true;
  }

  /** Takes the keyword if it is next. */
  acceptKeyword(keyword: string): boolean {
    if (!this.isKeyword(keyword)) return false;
    this.#position += 1;
    return true;
  }

  /** Takes the symbol. Throws JqSyntaxError if another token is next. */
  expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected(symbol);
  }

  /** Takes the keyword. Throws JqSyntaxError if another token is next. */
  expectKeyword(keyword: string): void {
    if (!this.acceptKeyword(keyword)) throw this.unexpected(keyword);
  }

  /** The name of a variable, which must be next. */
  expectVariable(): string {
    if (this.peek().type !== 'variable') throw this.unexpected('a variable');
    return this.take().text;
  }

  /** The error for the current token, with its line, for the caller to throw. */
  unexpected(expected?: string): JqSyntaxError {
    const { type, text, line } = this.peek();
    const found = type === 'end' ? 'end' : JSON.stringify(text);
    const wanted = expected === undefined ? '' : `, expected ${expected}`;
    return new JqSyntaxError(`syntax error in line ${line}: unexpected ${found}${wanted}`);
  }

  /** Runs a part of the parser one level deeper. */
  nested<T>(parse: () => T): T {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw new JqSyntaxError('the program is nested too deep');
    const result = parse();
    this.#nesting -= 1;
    return result;
  }
}
