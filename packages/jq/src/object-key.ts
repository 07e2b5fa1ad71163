// Finds constant keys of objects that are no strings, such as `{(1): 2}`. jq folds constants while it
// compiles and reports them then; without this check the same program would be accepted here and fail on
// every object.

import { setMember } from '@addon-operator/json/set-member';
import { applyOperator } from './arithmetic.ts';
import { described, JqError } from './jq-error.ts';
import { JqSyntaxError } from './lexer.ts';
import type { Node } from './syntax.ts';
import { type Value } from './value.ts';

/** The expression of a key. Throws JqSyntaxError for a constant that is no string: it would fail on every input. */
export function checkKey(key: Node, line: number): Node {
  const value = constantOf(key);
  if (value === undefined || typeof value === 'string') return key;
  throw new JqSyntaxError(`Cannot use ${described(value)} as object key (line ${line})`);
}

/** The value that an expression has for every input, where that can be seen without running it. */
function constantOf(node: Node): Value | undefined {
  if (node.type === 'literal') return node.value;
  if (node.type === 'group') return constantOf(node.inner);
  if (node.type === 'array') return node.body === undefined ? [] : itemsOf(node.body);
  if (node.type === 'object') return objectOf(node);
  if (node.type === 'operator') return resultOf(node);
  if (node.type !== 'pipe') return undefined;
  if (node.right.type === 'identity') return constantOf(node.left);
  return node.left.type === 'identity' ? constantOf(node.right) : undefined;
}

/**
 * The result of an operator with constant operands; undefined if it would fail, which is reported at run
 * time.
 */
function resultOf({ operator, left, right }: Extract<Node, { type: 'operator' }>): Value | undefined {
  const [first, second] = [constantOf(left), constantOf(right)];
  if (first === undefined || second === undefined) return undefined;
  try {
    return applyOperator(operator, first, second);
  } catch (error) {
    if (error instanceof JqError) return undefined;
    throw error;
  }
}

/** The items of an array whose outputs are all constant. */
function itemsOf(body: Node): readonly Value[] | undefined {
  if (body.type !== 'comma') {
    const item = constantOf(body);
    return item === undefined ? undefined : [item];
  }
  const [left, right] = [itemsOf(body.left), itemsOf(body.right)];
  return left === undefined || right === undefined ? undefined : [...left, ...right];
}

/** An object whose keys and values are all constant. */
function objectOf({ entries }: Extract<Node, { type: 'object' }>): Value | undefined {
  const object: Record<string, Value> = {};
  for (const entry of entries) {
    const [key, value] = [constantOf(entry.key), constantOf(entry.value)];
    if (typeof key !== 'string' || value === undefined) return undefined;
    setMember(object, key, value);
  }
  return object;
}
