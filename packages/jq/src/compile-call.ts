import { ascend, type Cell, type Closure, Env, type Outputs, type Run } from './cell.ts';
import type { Compile } from './compile-access.ts';
import { flatMap } from './flow.ts';
import { JqSyntaxError } from './lexer.ts';
import type { FunctionBinding, Scope } from './scope.ts';
import type { Call, Definition } from './syntax.ts';

/** What calls mean that the program does not define itself. */
export type Builtin = (args: readonly Run[]) => Run;
export type FindBuiltin = (name: string, arity: number) => Builtin | undefined;

/** The scope in which a function is known; its body is compiled on the way. */
export function define(definition: Definition, scope: Scope, compile: Compile): Scope {
  const { name, parameters, body } = definition;
  const binding: FunctionBinding = { parameters, body: notCompiled };
  const known = scope.withFunction(name, binding);
  const withClosures = parameters.reduce((inner, { name }) => inner.with('closure', name), known);
  const values = parameters.filter(({ isValue }) => isValue);
  const inner = values.reduce((wider, { name }) => wider.with('variable', name), withClosures);
  binding.body = compile(body, inner);
  return known;
}

const notCompiled: Run = () => {
  throw new JqSyntaxError('a function is called before it is defined');
};

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

function callClosure(hops: number): Run {
  return (env, cell) => {
    const closure = ascend(env, hops).closure;
    return closure === undefined ? cell : closure.run(closure.env, cell);
  };
}

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
