// The engine: a program goes in as a string, a function from one input to its outputs comes out. The way is
// lexer → parse-program → compile (closures over environments, no byte code) → generators that compute one
// output at a time. Builtins come from three places: tables in TypeScript (`builtins-*.ts`), definitions in
// jq itself (`prelude.ts`), and the program's own `def`. A bad program throws JqSyntaxError when it is
// compiled; a program that fails throws JqError and one that exceeds a limit throws LimitError while its
// outputs are read. Nothing here limits time or memory: `engines/` runs this in a child process that can be
// killed.

import { CONTROL_BUILTINS } from './builtins-control.ts';
import { KEYED_BUILTINS } from './builtins-keyed.ts';
import { MATH_BUILTINS } from './builtins-math.ts';
import { regexBuiltins } from './builtins-regex.ts';
import { STREAM_BUILTINS } from './builtins-stream.ts';
import { timeBuiltins } from './builtins-time.ts';
import { VALUE_BUILTINS } from './builtins-value.ts';
import { Cell, Env, each, type Run } from './cell.ts';
import { compileNode } from './compile.ts';
import { type Builtin, define } from './compile-call.ts';
import { LimitError, MAX_ITEMS } from './flow.ts';
import { parseDefinitions, parseProgram } from './parse-program.ts';
import { PRELUDE } from './prelude.ts';
import { Regexes } from './regex.ts';
import { Scope } from './scope.ts';
import type { Call, Definition } from './syntax.ts';
import type { Value } from './value.ts';
import { type BuiltinTable, ofValues } from './value-builtin.ts';

/** A compiled program: all its outputs for one input. Throws JqError or {@link LimitError}. */
export type Program = (input: Value) => Iterable<Value>;

/** Compiles jq programs. */
export class Engine {
  readonly #builtins: BuiltinTable;
  readonly #prelude: ReadonlyMap<string, Definition>;
  /** Builtins of the prelude that some program has used. */
  readonly #compiled = new Map<string, Builtin>();

  /** @param nowMs the time of day, in milliseconds since 1970 */
  constructor(nowMs: () => number) {
    this.#prelude = new Map(
      parseDefinitions(PRELUDE).map((definition) => [
        `${definition.name}/${definition.parameters.length}`,
        definition,
      ]),
    );
    this.#builtins = {
      ...CONTROL_BUILTINS,
      ...VALUE_BUILTINS,
      ...KEYED_BUILTINS,
      ...MATH_BUILTINS,
      ...STREAM_BUILTINS,
      ...regexBuiltins(new Regexes()),
      ...timeBuiltins(nowMs),
      'builtins/0': ofValues(() => this.names),
    };
  }

  /** Every builtin, as `name/arity`; those that jq keeps to itself begin with `_`. */
  get names(): readonly string[] {
    const all = [...Object.keys(this.#builtins), ...this.#prelude.keys()];
    return all.filter((name) => !name.startsWith('_')).sort();
  }

  /** Throws JqSyntaxError for what is no jq program. */
  compile(program: string): Program {
    const run = compileNode(parseProgram(program), Scope.empty(), this.#find);
    return (input) => valuesOf(run, input);
  }

  readonly #find = (name: string, arity: number): Builtin | undefined => {
    const key = `${name}/${arity}`;
    if (Object.hasOwn(this.#builtins, key)) return this.#builtins[key];
    const found = this.#compiled.get(key) ?? this.#fromPrelude(key);
    if (found !== undefined) this.#compiled.set(key, found);
    return found;
  };

  /** A call with closures for its parameters, which represent the arguments of the caller. */
  #fromPrelude(key: string): Builtin | undefined {
    const definition = this.#prelude.get(key);
    if (definition === undefined) return undefined;
    // A prelude function has no environment of its caller, so the arguments are handed over as closures in an
    // environment of their own: the scope has one closure per parameter, the call passes each of them on by
    // name.
    const names = definition.parameters.map(({ name }) => name);
    const outer = names.reduce((scope, name) => scope.with('closure', name), Scope.empty());
    const known = define(definition, outer, (node, scope) => compileNode(node, scope, this.#find));
    const call: Call = {
      type: 'call',
      name: definition.name,
      args: names.map((name) => ({ type: 'call', name, args: [], line: 0 })),
      line: 0,
    };
    const run = compileNode(call, known, this.#find);
    return (args) => (env, cell) => {
      const inner = args.reduce<Env>((parent, arg) => new Env(parent, null, { run: arg, env }), ROOT);
      return run(inner, cell);
    };
  }
}

/** The outermost environment of every run: no variables, no labels. Scope.empty() has depth 0 to match it. */
const ROOT = new Env(undefined, null, undefined);

/**
 * Runs a program for one input and turns a stack overflow or a too large string or array of V8 into a
 * LimitError.
 */
function* valuesOf(run: Run, input: Value): Iterable<Value> {
  try {
    let count = 0;
    for (const { value } of each(run(ROOT, new Cell(input, undefined)))) {
      yield value;
      count += 1;
      if (count > MAX_ITEMS) throw new LimitError(`it gives more than ${MAX_ITEMS} outputs`);
    }
  } catch (error) {
    if (error instanceof RangeError) throw new LimitError(limitMessage(error));
    throw error;
  }
}

/**
 * V8 throws RangeError for an exhausted stack and for values beyond its size limits; only the message
 * differs.
 */
function limitMessage({ message }: RangeError): string {
  return /call stack/.test(message)
    ? 'its functions or its data are nested too deep'
    : `its values become too large (${message})`;
}
