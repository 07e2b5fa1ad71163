import { setMember } from './set-member.ts';

const BACKSLASH = 0x5c;
/** A number or one of the words `true`, `false` and `null`. */
const LITERAL = /[-+.0-9A-Za-z]+/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Reads a text that is valid JSON as `JSON.parse` does, at any depth: a reviver of `JSON.parse`, which is the other way to
 * see how a number is written, is called recursively.
 *
 * @param numberOf makes a value of a number as it is written
 */
export function readJson(text: string, numberOf: (source: string) => unknown): unknown {
  const open: (unknown[] | Record<string, unknown>)[] = [];
  let root: unknown;
  /** Of the member whose value follows. */
  let key: string | undefined;
  const add = (value: unknown): void => {
    const container = open.at(-1);
    if (container === undefined) root = value;
    else if (Array.isArray(container)) container.push(value);
    else setMember(container, key ?? '', value);
    key = undefined;
  };
  for (let place = 0; place < text.length; ) {
    const character = text[place];
    if (character === '"') {
      const end = endOfString(text, place);
      const string = stringOf(text, place, end);
      const container = open.at(-1);
      if (key !== undefined || container === undefined || Array.isArray(container)) add(string);
      else key = string;
      place = end;
    } else if (character === '{' || character === '[') {
      const container = character === '{' ? {} : [];
      add(container);
      open.push(container);
      place += 1;
    } else {
      if (character === '}' || character === ']') open.pop();
      LITERAL.lastIndex = place;
      const literal = LITERAL.exec(text)?.[0];
      if (literal !== undefined) add(WORDS.has(literal) ? WORDS.get(literal) : numberOf(literal));
      place += literal?.length ?? 1;
    }
  }
  return root;
}

/** Whether a text that is valid JSON has a number for which the predicate holds. */
export function hasNumber(text: string, pattern: RegExp): boolean {
  let start = 0;
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', start)) {
    if (quote - start > 1 && pattern.test(text.slice(start, quote))) return true;
    start = endOfString(text, quote);
  }
  return pattern.test(text.slice(start));
}

/** The place behind the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, place: number): boolean {
  let start = place;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (place - start) % 2 === 1;
}

function stringOf(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}
