import { isRecord, type JsonPath, typeName, valueAt, withoutPaths, withValueAt } from './json-path.ts';

/** A node of jqjs's syntax tree, as far as it is known here. */
export interface JqjsNode {
  apply(input: unknown, scope: unknown): Iterable<unknown>;
  paths(input: unknown, scope: unknown): Iterable<JsonPath>;
}

/** The jqjs package, as far as it is used here. */
export interface Jqjs {
  readonly compile: (program: string) => ((input: unknown) => Iterable<unknown>) & { readonly ast: JqjsNode };
  readonly formats: Record<string, (value: unknown) => string>;
}

/**
 * Puts right, in a loaded copy of jqjs, what silently gives other results than jq: nodes by their prototypes, which
 * all programs and jqjs's own definitions share, functions by their calls. Doing it twice does no harm.
 */
export function repairJqjs(jqjs: Jqjs): void {
  repairFormats(jqjs.formats);
  repairAccess(jqjs);
  repairOperators(jqjs);
  repairCalls(jqjs);
}

function repairFormats(formats: Jqjs['formats']): void {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const quote = (value: unknown): string => {
    if (typeof value === 'string') return `'${value.replaceAll("'", String.raw`'\''`)}'`;
    if (typeof value === 'object' && value !== null) throw `${typeName(value)} can not be escaped for shell`;
    return String(value);
  };
  const entities: Readonly<Record<string, string>> = {
    '<': '&lt;',
    '>': '&gt;',
    '&': '&amp;',
    "'": '&#39;',
    '"': '&quot;',
  };
  formats['sh'] = (value) => (Array.isArray(value) ? value.map(quote).join(' ') : quote(value));
  formats['html'] = (value) => text(value).replaceAll(/[<>&'"]/g, (character) => entities[character] ?? '');
  formats['base64'] = (value) => Buffer.from(text(value)).toString('base64');
  formats['base64d'] = (value) => Buffer.from(text(value), 'base64').toString();
}

/** Indexes, slices and variables. */
function repairAccess({ compile }: Jqjs): void {
  const genericIndex = Object.getPrototypeOf(prototypeOf<{ index: JqjsNode }>(compile('.a')));
  genericIndex.apply = function* (this: { index: JqjsNode }, input: unknown, scope: unknown) {
    for (const key of this.index.apply(input, scope)) yield valueAt(input, key);
  };
  const index = prototypeOf<{ lhs: JqjsNode; index: JqjsNode }>(compile('.a["b"]'));
  index.apply = function* (input, scope) {
    for (const target of this.lhs.apply(input, scope)) {
      for (const key of this.index.apply(input, scope)) yield valueAt(target, key);
    }
  };
  const genericSlice = prototypeOf<{ from: JqjsNode; to: JqjsNode }>(compile('.[1:2]'));
  genericSlice.apply = function* (input, scope) {
    yield* slices(input, this.from.apply(input, scope), [...this.to.apply(input, scope)]);
  };
  genericSlice.paths = refuseSlicePaths;
  const slice = prototypeOf<{ lhs: JqjsNode; from: JqjsNode; to: JqjsNode }>(compile('.a[1:2]'));
  slice.apply = function* (input, scope) {
    for (const target of this.lhs.apply(input, scope)) {
      yield* slices(target, this.from.apply(input, scope), [...this.to.apply(input, scope)]);
    }
  };
  slice.paths = refuseSlicePaths;
  const variable = prototypeOf<{ name: string }>(compile('$a'));
  variable.apply = function (_input, scope) {
    if (this.name === 'ENV') return [{}];
    const variables = isRecord(scope) && isRecord(scope['variables']) ? scope['variables'] : {};
    return [variables[this.name] ?? null];
  };
}

/** jqjs parses `.a[1:]` as `.a[1:-1]`; a program that says -1 itself is refused. */
const OPEN_END = -1;

function refuseSlicePaths(): never {
  throw 'slices cannot be assigned to or deleted';
}

function* slices(target: unknown, starts: Iterable<unknown>, ends: readonly unknown[]): Iterable<unknown> {
  for (const start of starts) {
    for (const end of ends.length === 0 ? [OPEN_END] : ends)
      yield sliceOf(target, Number(start), Number(end));
  }
}

function sliceOf(target: unknown, start: number, end: number): unknown {
  const endOrNone = end === OPEN_END ? undefined : end;
  if (target === null) return null;
  if (Array.isArray(target)) return target.slice(start, endOrNone);
  if (typeof target === 'string') return Array.from(target).slice(start, endOrNone).join('');
  throw `Cannot index ${typeName(target)} with object`;
}

/** `//`, `?`, `=` and `|=`. */
function repairOperators({ compile }: Jqjs): void {
  const alternative = prototypeOf<{ lhs: JqjsNode; rhs: JqjsNode }>(compile('.a // .b'));
  alternative.apply = function* (input, scope) {
    let isFound = false;
    for (const output of untilError(() => this.lhs.apply(input, scope))) {
      if (output === undefined || output === null || output === false) continue;
      isFound = true;
      yield output;
    }
    if (!isFound) yield* this.rhs.apply(input, scope);
  };
  const suppression = prototypeOf<{ inner: JqjsNode }>(compile('.a?'));
  suppression.apply = function (input, scope) {
    return untilError(() => this.inner.apply(input, scope));
  };
  suppression.paths = function (input, scope) {
    return untilError(() => this.inner.paths(input, scope));
  };
  const assignment = prototypeOf<{ l: JqjsNode; r: JqjsNode }>(compile('.a = 1'));
  assignment.apply = function* (input, scope) {
    for (const value of this.r.apply(input, scope)) {
      let output = input;
      for (const path of this.l.paths(input, scope)) output = withValueAt(output, path, () => value);
      yield output;
    }
  };
  const update = prototypeOf<{ l: JqjsNode; r: JqjsNode }>(compile('.a |= 1'));
  update.apply = function* (input, scope) {
    const gone: JsonPath[] = [];
    let output = input;
    for (const path of this.l.paths(input, scope)) {
      output = withValueAt(output, path, (old) => {
        for (const value of this.r.apply(old, scope)) return value;
        gone.push(path);
        return old;
      });
    }
    yield withoutPaths(output, gone);
  };
}

/** Functions, by name and number of parameters. */
const FUNCTIONS: Readonly<
  Record<string, (input: unknown, scope: unknown, args: readonly JqjsNode[]) => Iterable<unknown>>
> = {
  'keys/0': (input) => {
    if (Array.isArray(input)) return [[...input.keys()]];
    if (isRecord(input)) return [Object.keys(input).toSorted()];
    throw `${typeName(input)} has no keys`;
  },
  'length/0': (input) => {
    if (input === null) return [0];
    if (typeof input === 'string') return [Array.from(input).length];
    if (typeof input === 'number') return [Math.abs(input)];
    if (typeof input === 'object') return [Object.keys(input).length];
    throw `${typeName(input)} has no length`;
  },
  'explode/0': (input) => {
    if (typeof input !== 'string') throw `${typeName(input)} cannot be exploded`;
    return [Array.from(input, (character) => character.codePointAt(0))];
  },
  'tonumber/0': (input) => {
    if (typeof input === 'number') return [input];
    if (typeof input !== 'string' || !/^\s*-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(input)) {
      throw `${typeName(input)} cannot be parsed as a number`;
    }
    return [Number(input)];
  },
  'from_entries/0': (input) => {
    if (!Array.isArray(input)) throw `Cannot make entries from ${typeName(input)}`;
    return [Object.fromEntries(input.map(entryOf))];
  },
  'del/1': (input, scope, [target]) => [withoutPaths(input, [...(target?.paths(input, scope) ?? [])])],
};

function entryOf(entry: unknown): readonly [string, unknown] {
  const first = (names: readonly string[]): unknown => {
    for (const name of names) {
      const value = valueAt(entry, name);
      if (value !== null && value !== false) return value;
    }
    return names.map((name) => valueAt(entry, name)).find((value) => value === false) ?? null;
  };
  const key = first(['key', 'k', 'name', 'Name', 'Key', 'K']);
  if (typeof key !== 'string') throw `Cannot use ${typeName(key)} as object key`;
  return [key, first(['value', 'v', 'Value', 'V'])];
}

function repairCalls({ compile }: Jqjs): void {
  const call = prototypeOf<{ name: string; args: readonly JqjsNode[] }>(compile('keys'));
  if (Object.hasOwn(call, IS_REPAIRED)) return;
  const original = call.apply;
  Object.defineProperty(call, IS_REPAIRED, { value: true });
  call.apply = function (input, scope) {
    const repaired = Object.hasOwn(FUNCTIONS, this.name) ? FUNCTIONS[this.name] : undefined;
    return repaired?.(input, scope, this.args) ?? original.call(this, input, scope);
  };
}

const IS_REPAIRED = Symbol('repaired by us');

function prototypeOf<Fields>({ ast }: { readonly ast: JqjsNode }): PatchableNode<Fields> {
  return Object.getPrototypeOf(ast);
}

interface PatchableNode<Fields> {
  apply: (this: JqjsNode & Fields, input: unknown, scope: unknown) => Iterable<unknown>;
  paths: (this: JqjsNode & Fields, input: unknown, scope: unknown) => Iterable<JsonPath>;
}

function* untilError<T>(run: () => Iterable<T>): Iterable<T> {
  try {
    yield* run();
  } catch {
    // This is what `?` means.
  }
}
