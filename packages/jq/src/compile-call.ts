import { ascend, type Cell, type Closure, Env, type Outputs, type Run } from './cell.ts';
import type { Compile } from './compile-access.ts';
import { flatMap } from './flow.ts';
import { JqSyntaxError } from './lexer.ts';
import type { FunctionBinding, Scope } from './scope.ts';
import type { Call, Definition } from './syntax.ts';

/** Makes a call of a builtin from its compiled arguments. */
export type Builtin = (args: readonly Run[]) => Run;
/** Looks a builtin up by name and number of arguments. */
export type FindBuiltin = (name: string, arity: number) => Builtin | undefined;

/** The scope in which a function is known; its body is compiled on the way. */
export function define(definition: Definition, scope: Scope, compile: Compile): Scope {
  const { name, parameters, body } = definition;
  // The body is set after the scope exists, so that the function can call itself.
  const binding: FunctionBinding = { parameters, body: notCompiled };
  const known = scope.withFunction(name, binding);
  // A parameter `$x` is both a closure `x` and a variable `$x`, in this order at run time as well.
  const withClosures = parameters.reduce((inner, { name }) => inner.with('closure', name), known);
  const values = parameters.filter(({ isValue }) => isValue);
  const inner = values.reduce((wider, { name }) => wider.with('variable', name), withClosures);
  binding.body = compile(body, inner);
  return known;
}

/** Placeholder for a body until it is compiled; reached only if that order were broken. */
const notCompiled: Run = () => {
  throw new JqSyntaxError('a function is called before it is defined');
};

/** A call: the program's own functions and parameters first, innermost scope wins, then the builtins. */
export function compileCall(call: Call, scope: Scope, compile: Compile, findBuiltin: FindBuiltin): Run {
  const { name, args } = call;
  const found = scope.find((binding) => {
    if (binding.name !== name) return false;
    if (binding.type === 'closure') return args.length === 0;
    return binding.type === 'function' && binding.function.parameters.length === args.length;
  });
  const compiled = args.map((arg) => compile(arg, scope));
  if (found === undefined) {
    const builtin = findBuiltin(name, args.length);
    if (builtin !== undefined) return builtin(compiled);
    throw new JqSyntaxError(`${name}/${args.length} is not defined (line ${call.line})`);
  }
  const hops = scope.depth - found.depth;
  return found.type === 'function' ? callFunction(found.function, compiled, hops) : callClosure(hops);
}

/** A call of a parameter: runs the argument with the environment of the caller. */
function callClosure(hops: number): Run {
  return (env, cell) => {
    const closure = ascend(env, hops).closure;
    return closure === undefined ? cell : closure.run(closure.env, cell);
  };
}

/** A call of a function: its environment is that of the definition, extended by the arguments. */
function callFunction(binding: FunctionBinding, args: readonly Run[], hops: number): Run {
  const values = args.filter((_, at) => binding.parameters[at]?.isValue === true);
  return (env, cell) => {
    let inner = ascend(env, hops);
    for (const run of args) {
      const closure: Closure = { run, env };
      inner = new Env(inner, null, closure);
    }
    return withValues(values, 0, env, inner, cell, binding);
  };
}

/** Calls the body for every combination of the values that the arguments from `at` on give. */
function withValues(
  values: readonly Run[],
  at: number,
  env: Env,
  inner: Env,
  cell: Cell,
  binding: FunctionBinding,
): Outputs {
  const run = values[at];
  if (run === undefined) return binding.body(inner, cell);
  return flatMap(run(env, cell.plain), ({ value }) =>
    withValues(values, at + 1, env, new Env(inner, value, undefined), cell, binding),
  );
}
