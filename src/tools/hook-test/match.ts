import { canonicalJson, isObject } from '@addon-operator/json';
import type { Path, Report } from '@addon-operator/json/shape';
import { didYouMean } from '@addon-operator/json/similar-word';

/** One place where a value is not what a pattern asks for. */
export interface Mismatch {
  readonly path: Path;
  /** The part of the pattern. */
  readonly expected: unknown;
  /** Undefined for what is absent. */
  readonly actual: unknown;
  /** The difference, where the two values do not show it by themselves. */
  readonly message?: string;
}

/** Runs a jq program on a value, and returns its results. */
export type RunJq = (program: string, value: unknown) => Promise<readonly unknown[]>;

interface Compared {
  readonly path: Path;
  readonly actual: unknown;
  readonly jq: RunJq;
}

type PatternOperator = (argument: unknown, compared: Compared) => Promise<readonly Mismatch[]>;

/**
 * Compares a value with a pattern: a mapping names the keys that count, null is for what is absent, lists have the same length
 * and order, and a mapping with keys such as `$contains` is a condition.
 */
export async function mismatches(
  pattern: unknown,
  actual: unknown,
  jq: RunJq,
  path: Path = [],
): Promise<readonly Mismatch[]> {
  const compared = { path, actual, jq };
  if (isOperators(pattern)) {
    const found: Mismatch[] = [];
    for (const [name, argument] of Object.entries(pattern))
      found.push(...((await OPERATORS[name]?.(argument, compared)) ?? []));
    return found;
  }
  if (isObject(pattern)) return await inMapping(pattern, compared);
  if (Array.isArray(pattern)) return await inList(pattern, compared);
  const isEqual = pattern === null ? isAbsent(actual) : isSame(pattern, actual);
  return isEqual ? [] : [{ path, expected: pattern, actual }];
}

/** Reports conditions with unknown names, and arguments that they cannot take. */
export function checkPattern(pattern: unknown, path: Path, report: Report): void {
  if (Array.isArray(pattern))
    for (const [index, item] of pattern.entries()) checkPattern(item, [...path, index], report);
  if (!isObject(pattern)) return;
  const operators = Object.keys(pattern).filter((key) => key.startsWith('$'));
  const known = Object.keys(OPERATORS);
  for (const [key, value] of Object.entries(pattern)) {
    const isUnknown = key.startsWith('$') && !known.includes(key);
    const place = [...path, key];
    if (isUnknown) report(place, `unknown condition${didYouMean(key, known)}; there are ${known.join(', ')}`);
    else if (operators.length > 0 && !key.startsWith('$'))
      report(place, `cannot be beside ${operators.join(', ')}: a condition stands for the whole value`);
    else checkArgument(key, value, place, report);
  }
}

function checkArgument(key: string, value: unknown, place: Path, report: Report): void {
  if (key === '$matches' || key === '$jq') {
    if (typeof value !== 'string') report(place, 'must be a string');
    else if (key === '$matches' && regExpProblem(value) !== undefined)
      report(place, `is not a regular expression: ${regExpProblem(value)}`);
  } else if (key === '$absent' || key === '$any') {
    if (value !== true) report(place, 'must be true');
  } else if (key === '$unordered' && !Array.isArray(value)) report(place, 'must be a list');
  else if (key !== '$exact') checkPattern(value, place, report);
}

function regExpProblem(source: string): string | undefined {
  try {
    void new RegExp(source, 'u');
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function isOperators(pattern: unknown): pattern is Readonly<Record<string, unknown>> {
  return isObject(pattern) && Object.keys(pattern).some((key) => key.startsWith('$'));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

async function inMapping(
  pattern: Readonly<Record<string, unknown>>,
  { path, actual, jq }: Compared,
): Promise<readonly Mismatch[]> {
  if (!isObject(actual)) return [{ path, expected: pattern, actual }];
  const found: Mismatch[] = [];
  for (const [key, value] of Object.entries(pattern)) {
    const own = Object.hasOwn(actual, key) ? actual[key] : undefined;
    found.push(...(await mismatches(value, own, jq, [...path, key])));
  }
  return found;
}

async function inList(
  pattern: readonly unknown[],
  { path, actual, jq }: Compared,
): Promise<readonly Mismatch[]> {
  if (!Array.isArray(actual)) return [{ path, expected: pattern, actual }];
  if (actual.length !== pattern.length)
    return [
      { path, expected: pattern, actual, message: `${actual.length} items instead of ${pattern.length}` },
    ];
  const found: Mismatch[] = [];
  for (const [index, item] of pattern.entries())
    found.push(...(await mismatches(item, actual[index], jq, [...path, index])));
  return found;
}

const OPERATORS: Readonly<Record<string, PatternOperator>> = {
  $contains: async (argument, { path, actual, jq }) => {
    const isFound =
      typeof actual === 'string'
        ? typeof argument === 'string' && actual.includes(argument)
        : Array.isArray(actual) && (await isAnyLike(argument, actual, jq));
    return isFound ? [] : [{ path, expected: { $contains: argument }, actual }];
  },
  $matches: (argument, { path, actual }) =>
    Promise.resolve(
      typeof actual === 'string' && new RegExp(String(argument), 'u').test(actual)
        ? []
        : [{ path, expected: { $matches: argument }, actual }],
    ),
  $absent: (_argument, { path, actual }) =>
    Promise.resolve(isAbsent(actual) ? [] : [{ path, expected: { $absent: true }, actual }]),
  $any: (_argument, { path, actual }) =>
    Promise.resolve(isAbsent(actual) ? [{ path, expected: { $any: true }, actual }] : []),
  $exact: (argument, { path, actual }) =>
    Promise.resolve(isSame(argument, actual) ? [] : [{ path, expected: argument, actual }]),
  $unordered: async (argument, { path, actual, jq }) => {
    const expected = { $unordered: argument };
    if (!Array.isArray(actual) || !Array.isArray(argument)) return [{ path, expected, actual }];
    const rest: unknown[] = [...actual];
    const missing: unknown[] = [];
    for (const item of argument as readonly unknown[]) {
      const index = await indexLike(item, rest, jq);
      if (index === -1) missing.push(item);
      else rest.splice(index, 1);
    }
    return missing.length + rest.length === 0
      ? []
      : [{ path, expected: missing, actual: rest, message: 'items without a counterpart' }];
  },
  $base64: async (argument, { path, actual, jq }) => {
    if (typeof actual !== 'string') return [{ path, expected: { $base64: argument }, actual }];
    return await mismatches(argument, Buffer.from(actual, 'base64').toString('utf8'), jq, path);
  },
  $jq: async (argument, { path, actual, jq }) => {
    const results = await jq(String(argument), actual ?? null);
    const holds = results.length > 0 && results.every((result) => result !== false && result !== null);
    return holds ? [] : [{ path, expected: { $jq: argument }, actual }];
  },
};

async function isAnyLike(pattern: unknown, items: readonly unknown[], jq: RunJq): Promise<boolean> {
  return (await indexLike(pattern, items, jq)) !== -1;
}

async function indexLike(pattern: unknown, items: readonly unknown[], jq: RunJq): Promise<number> {
  for (const [index, item] of items.entries())
    if ((await mismatches(pattern, item, jq)).length === 0) return index;
  return -1;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (b !== undefined && canonicalJson(a) === canonicalJson(b));
}
