// Strings and objects that a program builds. Each of their parts can have several outputs, and the result is
// one string or object per combination, in the order in which jq produces them.

import { setMember } from '@addon-operator/json/set-member';
import type { Cell, Env, Outputs, Run } from './cell.ts';
import { flatMap } from './flow.ts';
import { type Format, formatNamed } from './formats.ts';
import { described, JqError } from './jq-error.ts';
import type { Node, ObjectEntry } from './syntax.ts';
import { type Value } from './value.ts';

type CompileHere = (node: Node) => Run;

/** A string with interpolations; the last of them changes slowest. */
export function compileText(
  { format: name, parts }: { readonly format: string; readonly parts: readonly (string | Node)[] },
  compile: CompileHere,
): Run {
  const format = formatNamed(name);
  const compiled = parts.map((part) => (typeof part === 'string' ? part : compile(part)));
  return (env, cell) => joined(compiled, compiled.length - 1, '', format, env, cell);
}

/** Builds the string from its end to its start, which makes the last part the outermost loop. */
function joined(
  parts: readonly (string | Run)[],
  at: number,
  rest: string,
  format: Format,
  env: Env,
  cell: Cell,
): Outputs {
  const part = parts[at];
  if (part === undefined) return cell.made(rest);
  if (typeof part === 'string') return joined(parts, at - 1, part + rest, format, env, cell);
  return flatMap(part(env, cell.plain), ({ value }) =>
    joined(parts, at - 1, format(value) + rest, format, env, cell),
  );
}

interface CompiledEntry {
  readonly key: Run;
  readonly value: Run;
}

/** An object for every combination of keys and values; the last entry changes fastest. */
export function compileObject(entries: readonly ObjectEntry[], compile: CompileHere): Run {
  const compiled = entries.map(({ key, value }) => ({ key: compile(key), value: compile(value) }));
  return (env, cell) => filled(compiled, 0, [], env, cell);
}

/** Adds one entry after the other; a later entry with the same key wins. */
function filled(
  entries: readonly CompiledEntry[],
  at: number,
  properties: readonly (readonly [string, Value])[],
  env: Env,
  cell: Cell,
): Outputs {
  const entry = entries[at];
  if (entry === undefined) return cell.made(objectOf(properties));
  return flatMap(entry.key(env, cell.plain), ({ value: key }) => {
    if (typeof key !== 'string') throw new JqError(`Cannot use ${described(key)} as object key`);
    return flatMap(entry.value(env, cell.plain), ({ value }) =>
      filled(entries, at + 1, [...properties, [key, value]], env, cell),
    );
  });
}

/** `setMember` because a key may be `__proto__`. */
function objectOf(properties: readonly (readonly [string, Value])[]): Value {
  const object: Record<string, Value> = {};
  for (const [key, value] of properties) setMember(object, key, value);
  return object;
}
