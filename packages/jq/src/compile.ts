// The compiler: a syntax tree becomes a tree of closures, `Run`, that map an environment and one input cell
// to its outputs. Names are resolved here, once: a variable, label or closure is a number of hops up the
// chain of environments, so that nothing is looked up by name at run time. Outputs come in the order of jq:
// of two arithmetic operands the right one is the outer loop. Callers are `engine.ts` and, for nested
// expressions, the `compile-*.ts` files, which get `compileNode` as a parameter to avoid an import cycle.

import { type ArithmeticOperator, applyOperator, negate } from './arithmetic.ts';
import { ascend, Break, Cell, Env, each, NO_OUTPUTS, type Outputs, type Run } from './cell.ts';
import { childAtOr, compileIndex, compileIterate, compileSlice, everything } from './compile-access.ts';
import { compileAssign } from './compile-assign.ts';
import { compileBind, compileForeach, compileReduce } from './compile-bind.ts';
import { compileCall, define, type FindBuiltin } from './compile-call.ts';
import { compileObject, compileText } from './compile-made.ts';
import { collect, flatMap } from './flow.ts';
import { formatNamed } from './formats.ts';
import { JqError } from './jq-error.ts';
import { JqSyntaxError } from './lexer.ts';
import type { Binding, Scope } from './scope.ts';
import type { Node } from './syntax.ts';
import { isTruthy } from './value.ts';

/** Turns a syntax tree into what can be run. Throws JqSyntaxError for names that are not defined. */
export function compileNode(node: Node, scope: Scope, findBuiltin: FindBuiltin): Run {
  const compile = (inner: Node, innerScope: Scope): Run => compileNode(inner, innerScope, findBuiltin);
  const here = (inner: Node): Run => compile(inner, scope);
  switch (node.type) {
    case 'identity':
      return (_, cell) => cell;
    case 'group':
      return here(node.inner);
    case 'recurse':
      return (_, cell) => everything(cell);
    case 'literal':
      return (_, cell) => cell.made(node.value);
    case 'text':
      return compileText(node, here);
    case 'format': {
      const format = formatNamed(node.name);
      return (_, cell) => cell.made(format(cell.value));
    }
    case 'index': {
      const constant = node.key.type === 'literal' ? node.key.value : undefined;
      return compileIndex(here(node.target), here(node.key), constant, childAtOr(node.isOptional));
    }
    case 'slice':
      return compileSlice(
        here(node.target),
        node.start === undefined ? undefined : here(node.start),
        node.end === undefined ? undefined : here(node.end),
        childAtOr(node.isOptional),
      );
    case 'iterate':
      return compileIterate(here(node.target), node.isOptional);
    case 'try':
      return compileTry(here(node.body), node.handler === undefined ? undefined : here(node.handler));
    case 'variable':
      return compileVariable(node.name, node.line, scope);
    case 'call':
      return compileCall(node, scope, compile, findBuiltin);
    case 'array': {
      if (node.body === undefined) return (_, cell) => cell.made([]);
      const body = here(node.body);
      return (env, cell) => cell.made(collect(body(env, cell.plain)));
    }
    case 'object':
      return compileObject(node.entries, here);
    case 'negate': {
      const operand = here(node.operand);
      return (env, cell) => flatMap(operand(env, cell.plain), ({ value }) => cell.made(negate(value)));
    }
    case 'define':
      return compile(node.rest, define(node.definition, scope, compile));
    case 'label':
      return compileLabel(compile(node.body, scope.with('label', node.name)));
    case 'break':
      return compileBreak(node.name, node.line, scope);
    case 'bind':
      return compileBind(node, scope, compile);
    case 'reduce':
      return compileReduce(node, scope, compile);
    case 'foreach':
      return compileForeach(node, scope, compile);
    case 'if':
      return compileIf(
        here(node.condition),
        here(node.consequent),
        node.otherwise === undefined ? (_, cell) => cell : here(node.otherwise),
      );
    case 'assign':
      return compileAssign(node.operator, here(node.left), here(node.right));
    case 'operator':
      return compileOperator(node.operator, here(node.left), here(node.right));
    case 'pipe':
    case 'comma':
    case 'and':
    case 'or':
    case 'alternative':
      return compileFlow(node.type, here(node.left), here(node.right));
  }
}

/** Pipes, commas and the operators that do not evaluate both sides for every output. */
function compileFlow(type: 'pipe' | 'comma' | 'and' | 'or' | 'alternative', left: Run, right: Run): Run {
  switch (type) {
    case 'pipe':
      return (env, cell) => flatMap(left(env, cell), (output) => right(env, output));
    case 'comma':
      return function* (env, cell) {
        yield* each(left(env, cell));
        yield* each(right(env, cell));
      };
    case 'and':
    case 'or':
      return (env, cell) =>
        flatMap(left(env, cell.plain), ({ value }) => {
          if (isTruthy(value) === (type === 'or')) return cell.made(type === 'or');
          return flatMap(right(env, cell.plain), (output) => cell.made(isTruthy(output.value)));
        });
    case 'alternative':
      return (env, cell) => {
        const outputs = left(env, cell);
        if (!(outputs instanceof Cell)) return truthyOr(outputs, () => right(env, cell));
        return isTruthy(outputs.value) ? outputs : right(env, cell);
      };
  }
}

/**
 * `left // right` with several outputs on the left: every true one, or, if there is none, all of the right
 * side.
 */
function* truthyOr(outputs: Iterable<Cell>, otherwise: () => Outputs): Iterable<Cell> {
  let isFound = false;
  for (const output of outputs) {
    if (!isTruthy(output.value)) continue;
    isFound = true;
    yield output;
  }
  if (!isFound) yield* each(otherwise());
}

/** For each output of the right side all of the left. */
function compileOperator(operator: ArithmeticOperator, left: Run, right: Run): Run {
  return (env, cell) =>
    flatMap(right(env, cell.plain), (second) =>
      flatMap(left(env, cell.plain), (first) =>
        cell.made(applyOperator(operator, first.value, second.value)),
      ),
    );
}

/** For each output of the condition the branch it selects, with the original input. */
function compileIf(condition: Run, then: Run, otherwise: Run): Run {
  return (env, cell) =>
    flatMap(condition(env, cell.plain), ({ value }) => (isTruthy(value) ? then : otherwise)(env, cell));
}

/**
 * Outputs before the error are kept; the handler's outputs follow. LimitError and Break pass through: `try`
 * catches only values that a program raised.
 */
function compileTry(body: Run, handler: Run | undefined): Run {
  return (env, cell) => {
    const handle = (error: unknown): Outputs => {
      if (!(error instanceof JqError)) throw error;
      return handler === undefined ? NO_OUTPUTS : handler(env, cell.made(error.value));
    };
    // An expression with a single output fails while it is called, one with several while its outputs are
    // read.
    let outputs: Outputs;
    try {
      outputs = body(env, cell);
    } catch (error) {
      return handle(error);
    }
    return outputs instanceof Cell ? outputs : untilError(outputs, handle);
  };
}

/** Passes outputs on until reading the next one throws. */
function* untilError(outputs: Iterable<Cell>, handle: (error: unknown) => Outputs): Iterable<Cell> {
  try {
    yield* outputs;
  } catch (error) {
    yield* each(handle(error));
  }
}

/**
 * The environment is the identity of the label: a recursive function has one per call, so `break` ends the
 * right one.
 */
function compileLabel(body: Run): Run {
  return function* (env, cell) {
    const label = new Env(env, null, undefined);
    try {
      yield* each(body(label, cell));
    } catch (error) {
      if (!(error instanceof Break) || error.label !== label) throw error;
    }
  };
}

/** `break $name` unwinds with an exception to the label that is visible where it was written. */
function compileBreak(label: string, line: number, scope: Scope): Run {
  const hops = hopsTo(
    scope,
    `$*label-${label}`,
    line,
    ({ type, name }) => type === 'label' && name === label,
  );
  return (env) => {
    throw new Break(ascend(env, hops));
  };
}

/**
 * `$name`; `$ENV` is an empty object unless the program binds that name itself, since filters see no
 * environment.
 */
function compileVariable(name: string, line: number, scope: Scope): Run {
  if (
    name === 'ENV' &&
    scope.find((binding) => binding.type === 'variable' && binding.name === name) === undefined
  ) {
    return (_, cell) => cell.made({});
  }
  const hops = hopsTo(
    scope,
    `$${name}`,
    line,
    (binding) => binding.type === 'variable' && binding.name === name,
  );
  return (env, cell) => cell.made(ascend(env, hops).value);
}

/**
 * How many environments lie between the expression and the binding. Throws JqSyntaxError for an undefined
 * name.
 */
function hopsTo(scope: Scope, shown: string, line: number, fits: (binding: Binding) => boolean): number {
  const found = scope.find(fits);
  if (found === undefined) throw new JqSyntaxError(`${shown} is not defined (line ${line})`);
  return scope.depth - found.depth;
}
