import { isRawJson, stringifyJson } from '@addon-operator/json';

const MAX_CHARACTERS = 10 * 1024 * 1024;

/**
 * The JSON text of a value, undefined for undefined. `JSON.stringify` leaves out or changes what it cannot express; here
 * only properties that are undefined are left out.
 *
 * @param what what the value is, for the message
 * @throws TypeError that names the place of what is no JSON; RangeError when the text is longer than 10 million characters
 */
export function strictJson(what: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  check(value, what);
  const text = stringifyJson(value);
  if (text.length > MAX_CHARACTERS)
    throw new RangeError(`${what} has ${text.length} characters, more than the limit of ${MAX_CHARACTERS}`);
  return text;
}

type Key = string | number;

/** An object that is being checked. */
interface Open {
  readonly container: object;
  readonly keys: readonly Key[];
  /** How many of the keys were looked at. */
  seen: number;
}

function check(value: unknown, what: string): void {
  const open: Open[] = [];
  const around = new Set<object>();
  const enter = (part: unknown): void => {
    const found = foundInstead(part, around);
    if (found !== undefined) {
      const path = open.map(({ keys, seen }) => keys[seen - 1] ?? '');
      throw new TypeError(`${what} is not JSON: ${placeOf(path)}${found}`);
    }
    if (typeof part !== 'object' || part === null || isRawJson(part) || 'toJSON' in part) return;
    around.add(part);
    open.push({ container: part, keys: keysOf(part), seen: 0 });
  };
  enter(value);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const key = top.keys[top.seen];
    top.seen += 1;
    if (key !== undefined) enter(Reflect.get(top.container, key));
    else {
      around.delete(top.container);
      open.pop();
    }
  }
}

/** Properties that are undefined are left out, but not items. */
function keysOf(container: object): readonly Key[] {
  if (Array.isArray(container)) return [...container.keys()];
  return Object.keys(container).filter((key) => Reflect.get(container, key) !== undefined);
}

function placeOf(path: readonly Key[]): string {
  if (path.length === 0) return 'it is ';
  return `${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')} is `;
}

/** The value that is not JSON; undefined if all of it is. */
function foundInstead(value: unknown, around: ReadonlySet<object>): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'bigint':
      return 'a bigint';
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'string':
    case 'boolean':
      return undefined;
    case 'object':
      return value === null || isRawJson(value) ? undefined : foundObject(value, around);
  }
}

function foundObject(value: object, around: ReadonlySet<object>): string | undefined {
  if (around.has(value)) return 'an object that contains it (a cycle)';
  if (Array.isArray(value) || ('toJSON' in value && typeof value.toJSON === 'function')) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  return `an instance of ${value.constructor.name}${value instanceof Promise ? ' (await it)' : ''}`;
}
