// JSON without losing numbers. Kubernetes objects hold integers beyond 2^53; JSON.parse would round them, and
// an object that was read and written back would be changed. `parseJson` keeps such numbers as raw JSON, and
// is as fast as JSON.parse for documents that have none, because only rows of 16 digits lead to the slow
// reader.

import { writeDeepJson } from './deep-writer.ts';
import { hasNumber, readJson } from './exact-reader.ts';

/** Any JSON value. Integers beyond 2^53 are carried as raw JSON texts (see {@link parseJson}). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** So many digits may be an integer that a double cannot hold. */
const LONG_DIGITS = 16;
const LONG_NUMBER = /[0-9]{16}/;

/**
 * Parses JSON and keeps every number as it was written: one that a double would change becomes a raw JSON text
 * (`JSON.rawJSON`), which {@link stringifyJson} writes back unchanged. Throws SyntaxError as `JSON.parse` does; no text is
 * nested too deep for it.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongDigits(text) && hasNumber(text, LONG_NUMBER) ? readJson(text, exactNumber) : value;
}

/**
 * Whether there are 16 decimal digits in a row. Every such row has a digit at a place that is a multiple of 16, so that
 * most of a long text need not be looked at.
 */
export function hasLongDigits(text: string): boolean {
  for (let place = LONG_DIGITS - 1; place < text.length; place += LONG_DIGITS) {
    if (!isDigit(text, place)) continue;
    let start = place;
    while (place - start < LONG_DIGITS - 1 && isDigit(text, start - 1)) start -= 1;
    let end = place + 1;
    while (end - start < LONG_DIGITS && isDigit(text, end)) end += 1;
    if (end - start >= LONG_DIGITS) return true;
  }
  return false;
}

function isDigit(text: string, place: number): boolean {
  const code = text.charCodeAt(place);
  return code >= 0x30 && code <= 0x39;
}

function exactNumber(source: string): unknown {
  const value = Number(source);
  return String(value) === source || !Number.isInteger(value) || Number.isSafeInteger(value)
    ? value
    : exactJson.rawJSON(source);
}

/**
 * Parses JSON and keeps every number exactly as it was written, `1.0` and `1e3` included: such a number becomes a raw
 * JSON text, so the result is for passing on, not for reckoning. Throws SyntaxError as `JSON.parse` does; no text is
 * nested too deep for it.
 */
export function parseJsonVerbatim(text: string): unknown {
  JSON.parse(text);
  return readJson(text, verbatimNumber);
}

function verbatimNumber(source: string): unknown {
  const value = Number(source);
  return String(value) === source ? value : exactJson.rawJSON(source);
}

/**
 * The text of `JSON.stringify`, at any depth: that function ends with a RangeError from about 4,000 levels on, and an object
 * of an API server has up to 10,000.
 */
export function stringifyJson(value: unknown): string {
  return stringified(value) ?? 'null';
}

function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    return writeDeepJson(value);
  }
}

/** V8 reports a string that is too long with a RangeError, too. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

/**
 * As `parse`, but throws an Error that says `problem` and no more: the message of the parser quotes the text, which may
 * hold secrets.
 */
export function parseSecretJson(text: string, problem: string, parse = parseJson): unknown {
  try {
    return parse(text);
  } catch {
    throw new Error(problem);
  }
}

/** The raw-number part of JSON, which the ES library types do not know yet. Node 20, where tests of hooks may run, has none. */
const exactJson = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON?: (value: unknown) => boolean;
};

/** Whether `value` is a number kept as the text it was written as. */
export function isRawJson(value: unknown): boolean {
  return exactJson.isRawJSON?.(value) === true;
}

/** The value with the nearest double in place of each number that was kept as a text: for what only compares numbers. */
export function withRoundedNumbers(value: JsonObject): JsonObject;
export function withRoundedNumbers(value: Json): Json;
export function withRoundedNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withRoundedNumbers(item));
  if (isRawJson(value)) return Number(JSON.stringify(value));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withRoundedNumbers(part)]));
}

/** Whether `value` is a plain JSON object (not null, not an array, not a raw number). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** The value where it is an object, else one without fields: for reading what others wrote. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The value where it is a string, else an empty one: for reading what others wrote. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The strings in a list; none where there is no list: for reading what others wrote. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The value at `path` below `value`; undefined where a step is missing. */
export function valueAtPath(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof step === 'number') current = Array.isArray(current) ? current[step] : undefined;
    else current = isObject(current) && Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

/** Compact JSON with object keys sorted in code-unit order, at any depth: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(withSortedKeys(value));
}

/**
 * A copy in which the keys of all objects are sorted, at any depth.
 *
 * @param onParts called with how many values and keys are copied next; throws to end it
 */
export function withSortedKeys(value: unknown, onParts?: (count: number) => void): unknown {
  const left: (readonly [source: object, sorted: object])[] = [];
  const copyOf = (source: unknown): unknown => {
    if (typeof source !== 'object' || source === null || isRawJson(source)) return source;
    const sorted = emptyLike(source);
    left.push([source, sorted]);
    return sorted;
  };
  onParts?.(1);
  const root = copyOf(value);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [source, sorted] = next;
    const keys = Array.isArray(source) ? source : Object.keys(source).sort();
    onParts?.(Array.isArray(source) ? keys.length : 2 * keys.length);
    if (Array.isArray(source)) for (const item of source) (sorted as unknown[]).push(copyOf(item));
    else {
      const from = source as Readonly<Record<string, unknown>>;
      const to = sorted as Record<string, unknown>;
      for (const key of keys as string[]) to[key] = copyOf(from[key]);
    }
  }
  return root;
}

function emptyLike(source: object): object {
  if (Array.isArray(source)) return [];
  // An object without a prototype would be slow to fill and to write; `__proto__` alone needs one.
  return Object.hasOwn(source, '__proto__') ? Object.create(null) : {};
}
