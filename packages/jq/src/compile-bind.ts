// Bindings of names: `as`, `reduce` and `foreach`, with destructuring patterns. A pattern compiles to a
// `Match` in continuation style: it takes a value apart and calls `next` once for every combination of names,
// since a key of a pattern can have several outputs.

import { valueAt } from './access.ts';
import { Cell, Env, each, NO_OUTPUTS, type Outputs, type Run } from './cell.ts';
import type { Compile } from './compile-access.ts';
import { flatMap, lastOf } from './flow.ts';
import { JqError } from './jq-error.ts';
import type { Scope } from './scope.ts';
import type { Bind, Foreach, Pattern, Reduce } from './syntax.ts';
import type { Value } from './value.ts';

/** Takes a value apart and calls `next` with an environment in which the names are bound. */
type Match = (env: Env, value: Value, next: (env: Env) => Outputs) => Outputs;

/** `source as pattern | body` */
export function compileBind(node: Bind, scope: Scope, compile: Compile): Run {
  const source = compile(node.source, scope);
  const bound = compileBound(node.patterns, scope, compile, (inner) => compile(node.body, inner));
  return (env, cell) =>
    flatMap(source(env, cell.plain), ({ value }) => bound(env, value, (run, inner) => run(inner, cell)));
}

/**
 * `reduce source as $x (start; update)`: the last output of the update is the next state; none makes it null.
 */
export function compileReduce(node: Reduce, scope: Scope, compile: Compile): Run {
  const [source, start] = [compile(node.source, scope), compile(node.start, scope)];
  const bound = compileBound(node.patterns, scope, compile, (inner) => compile(node.update, inner));
  return (env, cell) =>
    flatMap(start(env, cell), (first) => {
      let state = first;
      for (const { value } of each(source(env, cell.plain))) {
        // The update runs inside of the match and yields nothing, so reading to the end is what executes it.
        const updates = bound(env, value, (update, inner) => {
          state = lastOf(update(inner, state)) ?? cell.made(null);
          return NO_OUTPUTS;
        });
        lastOf(updates);
      }
      return state;
    });
}

/**
 * `foreach source as $x (start; update; extract)`: every output of the update becomes the state and is passed
 * on.
 */
export function compileForeach(node: Foreach, scope: Scope, compile: Compile): Run {
  const [source, start] = [compile(node.source, scope), compile(node.start, scope)];
  const bound = compileBound(node.patterns, scope, compile, (inner) => ({
    update: compile(node.update, inner),
    extract: node.extract === undefined ? undefined : compile(node.extract, inner),
  }));
  return (env, cell) =>
    flatMap(start(env, cell), (first) => {
      let state: Cell = first;
      return flatMap(source(env, cell.plain), ({ value }) =>
        bound(env, value, ({ update, extract }, inner) =>
          flatMap(update(inner, state), (next) => {
            state = next;
            return extract === undefined ? next : extract(inner, next);
          }),
        ),
      );
    });
}

/**
 * Compiles an inner expression once per alternative pattern, with the names of that pattern in scope. The next pattern
 * is tried when one does not fit or the inner expression fails; names that only other patterns bind are null.
 */
function compileBound<T>(
  patterns: readonly Pattern[],
  scope: Scope,
  compile: Compile,
  compileInner: (scope: Scope) => T,
): (env: Env, value: Value, use: (inner: T, env: Env) => Outputs) => Outputs {
  const names = patterns.length === 1 ? [] : [...new Set(patterns.flatMap(namesOf))];
  const outer = names.reduce((wider, name) => wider.with('variable', name), scope);
  const alternatives = patterns.map((pattern) => {
    const { match, scope: inner } = compilePattern(pattern, outer, compile);
    return { match, inner: compileInner(inner) };
  });
  const [only] = alternatives;
  if (alternatives.length === 1 && only !== undefined) {
    return (env, value, use) => only.match(env, value, (inner) => use(only.inner, inner));
  }
  return function* (env, value, use) {
    const wider = names.reduce((outerEnv) => new Env(outerEnv, null, undefined), env);
    for (const [at, { match, inner }] of alternatives.entries()) {
      try {
        yield* each(match(wider, value, (innerEnv) => use(inner, innerEnv)));
        return;
      } catch (error) {
        if (!(error instanceof JqError) || at === alternatives.length - 1) throw error;
      }
    }
  };
}

/** All variables that a pattern binds. */
function namesOf(pattern: Pattern): readonly string[] {
  switch (pattern.type) {
    case 'variable':
      return [pattern.name];
    case 'array':
      return pattern.items.flatMap(namesOf);
    case 'object':
      return pattern.entries.flatMap(({ variable, pattern: inner }) => [
        ...(variable === undefined ? [] : [variable]),
        ...(inner === undefined ? [] : namesOf(inner)),
      ]);
  }
}

interface CompiledPattern {
  readonly match: Match;
  /** Where the names of the pattern are known. */
  readonly scope: Scope;
}

/** The pattern that binds nothing, as the start of a sequence. */
const matchNothing: Match = (env, _, next) => next(env);
/** `$name`: the value itself under a new name. */
const bindValue: Match = (env, value, next) => next(new Env(env, value, undefined));

/** Compiles a pattern; later parts of it see the names that earlier parts bind, as in `{$a, (…$a…): $b}`. */
function compilePattern(pattern: Pattern, scope: Scope, compile: Compile): CompiledPattern {
  switch (pattern.type) {
    case 'variable':
      return { match: bindValue, scope: scope.with('variable', pattern.name) };
    case 'array':
      return pattern.items.reduce<CompiledPattern>(
        (before, item, at) => {
          const inner = compilePattern(item, before.scope, compile);
          const match: Match = (env, value, next) => inner.match(env, valueAt(value, at), next);
          return { match: inOrder(before.match, match), scope: inner.scope };
        },
        { match: matchNothing, scope },
      );
    case 'object':
      return pattern.entries.reduce<CompiledPattern>(
        (before, entry) => {
          const key = compile(entry.key, before.scope);
          const named =
            entry.variable === undefined ? before.scope : before.scope.with('variable', entry.variable);
          const inner =
            entry.pattern === undefined
              ? { match: matchNothing, scope: named }
              : compilePattern(entry.pattern, named, compile);
          const bind = entry.variable === undefined ? inner.match : inOrder(bindValue, inner.match);
          const match: Match = (env, value, next) =>
            flatMap(key(env, new Cell(value, undefined)), (found) =>
              bind(env, valueAt(value, found.value), next),
            );
          return { match: inOrder(before.match, match), scope: inner.scope };
        },
        { match: matchNothing, scope },
      );
  }
}

/** Both matches on the same value, the second with the names of the first. */
function inOrder(first: Match, second: Match): Match {
  return (env, value, next) => first(env, value, (inner) => second(inner, value, next));
}
