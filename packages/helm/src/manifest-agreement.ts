// Decides whether a release is up to date although its chart renders differently each time (random passwords,
// generated certificates, the time). The chart is rendered twice: the parts that both renderings share must
// be in the released manifest as they are, and where the two differ anything may be.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@addon-operator/json';
import { parseManifest } from './manifest-document.ts';
import { identityOf, isHook, unfolded } from './manifest-object.ts';

/** Matches any number of lines. */
const GAP = Symbol('gap');
/** As in PEM: base64, most of a line wide. */
const ENCODED_LINE = /^\s*[A-Za-z0-9+/]{40,}={0,2}\s*$/;

type JsonLike = Readonly<Record<string, unknown>>;

/**
 * Whether a manifest agrees with what two renderings of the same inputs have in common. What differs between the two may be
 * anything in it: whole values, lines of a text, names of objects, keys. Comments, helm's own hooks and the order of
 * objects of different kinds do not matter.
 *
 * @throws OperatorError HELM_FAILED when one of them is no YAML
 */
export function agreesWithBoth(manifest: string, first: string, second: string): boolean {
  const [all, one, other] = [objectsOf(manifest), objectsOf(first), objectsOf(second)];
  const otherKeys = new Set(other.map(keyOf));
  const steady = new Set(one.map(keyOf).filter((key) => otherKeys.has(key)));
  return agrees(grouped(all, steady), grouped(one, steady), grouped(other, steady));
}

function objectsOf(manifest: string): readonly JsonLike[] {
  return parseManifest(manifest).flatMap(({ object }) =>
    object === undefined || isHook(object) ? [] : unfolded(object),
  );
}

function keyOf(object: JsonLike): string {
  const { apiVersion, kind, namespace, name } = identityOf(object);
  return JSON.stringify([apiVersion, kind, namespace, name]);
}

/** Objects by what they are; those whose names change, by kind and in their order. */
function grouped(objects: readonly JsonLike[], steady: ReadonlySet<string>): JsonLike {
  const groups = Map.groupBy(objects, (object) => {
    const key = keyOf(object);
    if (steady.has(key)) return key;
    const { apiVersion, kind } = identityOf(object);
    return JSON.stringify([apiVersion, kind]);
  });
  return Object.fromEntries(groups);
}

/** Compares one value with the same value of both renderings. */
function agrees(value: unknown, first: unknown, second: unknown): boolean {
  if (isDeepStrictEqual(value, first)) return true;
  if (isObject(first) && isObject(second)) return isObject(value) && objectAgrees(value, first, second);
  if (Array.isArray(first) && Array.isArray(second)) {
    if (first.length !== second.length) return true;
    return (
      Array.isArray(value) &&
      value.length === first.length &&
      value.every((item, index) => agrees(item, first[index], second[index]))
    );
  }
  if (typeof first === 'string' && typeof second === 'string')
    return typeof value === 'string' && matches(value.split('\n'), pattern(first, second));
  return !isDeepStrictEqual(first, second);
}

/** Keys that only one rendering has may be missing or be others; shared keys have to agree. */
function objectAgrees(value: JsonLike, first: JsonLike, second: JsonLike): boolean {
  const isIn = (object: JsonLike, key: string): boolean => Object.hasOwn(object, key);
  const shared = Object.keys(first).filter((key) => isIn(second, key));
  if (!shared.every((key) => isIn(value, key) && agrees(value[key], first[key], second[key]))) return false;
  const hasOthers = [first, second].some((object) => Object.keys(object).length > shared.length);
  return hasOthers || Object.keys(value).every((key) => isIn(first, key));
}

type Pattern = readonly (string | typeof GAP)[];

/** The lines that two texts share, with gaps where they differ. */
function pattern(first: string, second: string): Pattern {
  return withWholeBlocks(withWholeBlocks(sharedLines(first, second)).toReversed()).toReversed();
}

/** Of a key or a certificate one line may be the same twice; a gap reaches to the end of such a block. */
function withWholeBlocks(lines: Pattern): Pattern {
  let isGap = false;
  return lines.map((line) => {
    isGap = line === GAP || (isGap && ENCODED_LINE.test(line));
    return isGap ? GAP : line;
  });
}

/** Renderings of equal length are compared line by line, others by their common beginning and end. */
function sharedLines(first: string, second: string): Pattern {
  const [one, other] = [first.split('\n'), second.split('\n')];
  if (one.length === other.length) return one.map((line, index) => (line === other[index] ? line : GAP));
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return [...one.slice(0, head), GAP, ...one.slice(one.length - tail)];
}

/** Finds the parts between gaps in order, each at the first place where it fits. */
function matches(lines: readonly string[], wanted: Pattern): boolean {
  const parts: string[][] = [[]];
  for (const item of wanted) {
    if (item === GAP) parts.push([]);
    else parts.at(-1)?.push(item);
  }
  const [head = [], ...others] = parts;
  const tail = others.pop();
  if (tail === undefined) return isDeepStrictEqual(lines, head);
  const end = lines.length - tail.length;
  if (end < head.length || !isAt(lines, 0, head) || !isAt(lines, end, tail)) return false;
  let from = head.length;
  for (const part of others) {
    while (from + part.length <= end && !isAt(lines, from, part)) from += 1;
    from += part.length;
    if (from > end) return false;
  }
  return true;
}

function isAt(lines: readonly string[], at: number, part: readonly string[]): boolean {
  return part.every((line, index) => lines[at + index] === line);
}
