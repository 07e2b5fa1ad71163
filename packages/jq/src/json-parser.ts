// Reads JSON as jq does. The fast way is JSON.parse; its failure, or a string that jq treats differently,
// leads to the parser below, which accepts `nan` and `Infinity` and reports mistakes with jq's words, line
// and column. It is a loop over tokens with a stack of open arrays and objects, so nesting is bounded by
// MAX_DEPTH and not by the call stack.

import { setMember } from '@addon-operator/json/set-member';
import { JqError } from './jq-error.ts';
import { numberOf, parseNumber } from './number-text.ts';
import { type Value } from './value.ts';

/** Only numbers of so many digits can need an {@link ExactInteger}. */
const LONG_DIGITS = /\d{16}/;
const BYTE_ORDER_MARK = '\ufeff';
/** White space, a character with a meaning of its own, or the whole of a literal. */
const TOKEN = /[ \t\r\n]+|["[\]{}:,]|[^ \t\r\n"[\]{}:,]+/y;
const BLANK = /^[ \t\r\n]/;
/** The start of an escape, or a control character. */
const ESCAPE = /\\(u?)|[^ -\uffff]/g;
const SURROGATE_PAIR = /^[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/;
/** The limit of jq 1.8. */
const MAX_DEPTH = 10_000;

/** An array or object that has not been closed; `key` is set between its colon and the value. */
type Frame =
  | { readonly type: 'array'; readonly items: Value[] }
  | { readonly type: 'object'; readonly properties: Record<string, Value>; key: string | undefined };

/** Parses JSON, in the wider sense of jq. Throws JqError. */
export function parseValue(text: string): Value {
  try {
    // JSON.parse without a reviver is several times as fast.
    return JSON.parse(text, LONG_DIGITS.test(text) ? keepInteger : undefined) as Value;
  } catch {
    return parseJson(text);
  }
}

/**
 * Reviver: replaces integers that a double cannot hold, using the source that V8 passes to it.
 */
function keepInteger(_key: string, value: Value, context?: { readonly source?: string }): Value {
  const source = context?.source;
  return typeof value !== 'number' || source === undefined ? value : numberOf(source);
}

/** Parses JSON as jq does, `nan` and `Infinity` too. Throws JqError with the words and the place that jq reports. */
export function parseJson(text: string): Value {
  return new JsonParser(text).run();
}

class JsonParser {
  readonly #whole: string;
  readonly #text: string;
  /** Behind the last character that was looked at. */
  #position = 0;
  readonly #open: Frame[] = [];
  /** Open arrays, objects and keys. */
  #depth = 0;
  /** The value that was just read and has not been stored yet. */
  #next: Value | undefined;
  /** Values on the top level; only one is allowed. */
  readonly #values: Value[] = [];

  constructor(whole: string) {
    this.#whole = whole;
    this.#text = whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(BYTE_ORDER_MARK.length) : whole;
  }

  run(): Value {
    while (this.#position < this.#text.length) {
      TOKEN.lastIndex = this.#position;
      const token = TOKEN.exec(this.#text)?.[0] ?? '';
      this.#position += token.length;
      this.#settle();
      if (token.length === 1 && '[]{}:,'.includes(token)) {
        this.#structure(token);
        this.#settle();
      } else if (this.#values.length < 2) this.#plain(token);
      this.#checkSingle();
    }
    this.#settle();
    if (this.#open.length > 0) throw this.#problem('Unfinished JSON term', true);
    this.#checkSingle();
    const [value] = this.#values;
    if (value === undefined) throw this.#failure('Expected JSON value');
    return value;
  }

  /** Collects a value on the top level. */
  #settle(): void {
    if (this.#open.length > 0 || this.#next === undefined) return;
    this.#values.push(this.#next);
    this.#next = undefined;
  }

  /** jq parses one value; a second one on the top level is an error. */
  #checkSingle(): void {
    if (this.#values.length > 1) throw this.#failure('Unexpected extra JSON values');
  }

  /** A string, a literal, or white space, which means nothing. */
  #plain(token: string): void {
    if (token === '"') {
      this.#string();
      this.#settle();
    } else if (!BLANK.test(token)) this.#literal(token);
  }

  /** A bracket, a colon or a comma. */
  #structure(token: string): void {
    if (token === '[') this.#begin({ type: 'array', items: [] });
    else if (token === '{') this.#begin({ type: 'object', properties: {}, key: undefined });
    else if (token === ':') this.#colon();
    else if (token === ',') this.#comma();
    else this.#end(token === ']' ? 'array' : 'object');
  }

  /** Opens an array or an object. */
  #begin(frame: Frame): void {
    if (this.#depth >= MAX_DEPTH) throw this.#problem('Exceeds depth limit for parsing');
    this.#checkSeparated();
    this.#open.push(frame);
    this.#depth += 1;
  }

  /** Turns the value that was just read into the key of the innermost object. */
  #colon(): void {
    const frame = this.#open.at(-1);
    if (this.#next === undefined) throw this.#problem("Expected string key before ':'");
    if (frame?.type !== 'object' || frame.key !== undefined) {
      throw this.#problem("':' not as part of an object");
    }
    if (typeof this.#next !== 'string') throw this.#problem('Object keys must be strings');
    frame.key = this.#next;
    this.#depth += 1;
    this.#next = undefined;
  }

  /** Stores the value that was just read. */
  #comma(): void {
    const frame = this.#open.at(-1);
    if (this.#next === undefined) throw this.#problem("Expected value before ','");
    if (frame === undefined) throw this.#problem("',' not as part of an object or array");
    this.#store(frame, this.#next);
  }

  /** Closes the innermost array or object, which becomes the value that was just read. */
  #end(type: Frame['type']): void {
    const frame = this.#open.at(-1);
    const unmatched = `Unmatched '${type === 'array' ? ']' : '}'}'`;
    // A key without a value hides its object, but from a value that has none.
    if (frame === undefined) throw this.#problem(unmatched);
    if (frame.type !== type) {
      const isInArray = type === 'object' && this.#next !== undefined;
      throw this.#problem(isInArray ? 'Objects must consist of key:value pairs' : unmatched);
    }
    if (this.#next !== undefined) this.#store(frame, this.#next);
    else if (frame.type === 'array') {
      if (frame.items.length > 0) throw this.#problem('Expected another array element');
    } else if (frame.key !== undefined) throw this.#problem(unmatched);
    else if (Object.keys(frame.properties).length > 0) {
      throw this.#problem('Expected another key-value pair');
    }
    this.#open.pop();
    this.#depth -= 1;
    this.#next = frame.type === 'array' ? frame.items : frame.properties;
  }

  /** Puts a value into its array, or under its key. Uses setMember because a key may be `__proto__`. */
  #store(frame: Frame, value: Value): void {
    if (frame.type === 'array') frame.items.push(value);
    else if (frame.key === undefined) throw this.#problem('Objects must consist of key:value pairs');
    else {
      setMember(frame.properties, frame.key, value);
      frame.key = undefined;
      this.#depth -= 1;
    }
    this.#next = undefined;
  }

  /** `null`, `true`, `false` or a number. */
  #literal(token: string): void {
    // jq looks at a literal when it meets the character behind it.
    const isAtEnd = this.#position === this.#text.length;
    const value = literalOf(token);
    const separation = this.#next === undefined ? undefined : 'Expected separator between values';
    const problem = typeof value === 'string' ? value : separation;
    if (problem !== undefined) {
      this.#position += isAtEnd ? 0 : 1;
      throw this.#problem(problem, isAtEnd);
    }
    this.#next = typeof value === 'string' ? undefined : value;
  }

  /** Finds the end of the string, checks its escapes, and leaves decoding to JSON.parse. */
  #string(): void {
    const start = this.#position;
    while (this.#position < this.#text.length && this.#text[this.#position] !== '"') {
      this.#position += this.#text[this.#position] === '\\' ? 2 : 1;
    }
    if (this.#position >= this.#text.length) {
      this.#position = this.#text.length;
      throw this.#problem('Unfinished string', true);
    }
    const inner = this.#text.slice(start, this.#position);
    this.#position += 1;
    const problem = stringProblem(inner);
    if (problem !== undefined) throw this.#problem(problem);
    this.#checkSeparated();
    const value: unknown = JSON.parse(`"${inner}"`);
    this.#next = String(value).toWellFormed();
  }

  /** Two values need a comma between them. */
  #checkSeparated(): void {
    if (this.#next !== undefined) throw this.#problem('Expected separator between values');
  }

  /** A mistake at the last character that was looked at. */
  #problem(words: string, isAtEnd = false): JqError {
    const lines = this.#text.slice(0, this.#position).split('\n');
    const column = Buffer.byteLength(lines.at(-1) ?? '');
    return this.#failure(`${words}${isAtEnd ? ' at EOF' : ''} at line ${lines.length}, column ${column}`);
  }

  /** jq quotes the whole input in these messages. */
  #failure(words: string): JqError {
    return new JqError(`${words} (while parsing '${this.#whole}')`);
  }
}

/** The value of a literal, or a string with the problem. */
function literalOf(token: string): Exclude<Value, string> | string {
  if (token.startsWith("'")) return 'Invalid string literal; expected ", but got \'';
  if (/^(?:t|f|nu)/.test(token)) {
    if (token === 'null') return null;
    return token === 'true' || token === 'false' ? token === 'true' : 'Invalid literal';
  }
  return parseNumber(token) ?? 'Invalid numeric literal';
}

/** The first problem between the quotes of a string: a control character or an invalid escape. */
function stringProblem(inner: string): string | undefined {
  ESCAPE.lastIndex = 0;
  for (let match = ESCAPE.exec(inner); match !== null; match = ESCAPE.exec(inner)) {
    if (match[1] === undefined) {
      return 'Invalid string: control characters from U+0000 through U+001F must be escaped';
    }
    const rest = inner.slice(ESCAPE.lastIndex, ESCAPE.lastIndex + 10);
    if (match[1] === '') {
      if (!/^["\\/bfnrt]/.test(rest)) return 'Invalid escape';
      ESCAPE.lastIndex += 1;
    } else if (Buffer.byteLength(rest) < 4) return 'Invalid \\uXXXX escape';
    else if (!/^[0-9a-fA-F]{4}/.test(rest)) return 'Invalid characters in \\uXXXX escape';
    else if (/^[dD][89abAB]/.test(rest) && !SURROGATE_PAIR.test(rest)) {
      return 'Invalid \\uXXXX\\uXXXX surrogate pair escape';
    } else ESCAPE.lastIndex += /^[dD][89abAB]/.test(rest) ? 10 : 4;
  }
  return undefined;
}
