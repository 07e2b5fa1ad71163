// Most filters of hooks only select fields. This file recognises them in the syntax tree and compiles them to
// plain property reads, which `engines/plain-filters.ts` runs inside the daemon; every other program is left
// to the engine. The decision is made per program, before any object is seen, and has to be conservative: a
// program that could loop, fail late or multiply its input must not run in the daemon's thread.

import { described, JqError } from './jq-error.ts';
import { parseProgram } from './parse-program.ts';
import type { Node, ObjectEntry } from './syntax.ts';

/** The outputs of a program for one value of JSON; they share parts with the input. Throws JqError. */
export type PlainProgram = (input: unknown) => readonly unknown[];

type Select = (input: unknown) => unknown;

/** Expressions that give one output each, and how often one of them can repeat a part of its input. */
interface Selection {
  readonly outputs: readonly Select[];
  readonly copies: number;
}

/** A longer program is not read here: it could keep the caller waiting. */
const MAX_LENGTH = 2_000;
/** `{a: ., b: .}` holds its input twice, and thirty of them in a row would hold it a billion times. */
const MAX_COPIES = 16;

/**
 * Compiles a program that only selects: paths of constant keys, objects and arrays made of them, `//`, `|` and `,`. Such
 * a program ends soon and takes no memory, so it needs no process of its own. Returns undefined for any other program,
 * and for a string that is not valid jq.
 *
 * Unlike `Engine` it works on JSON as `JSON.parse` gives it, with `JSON.rawJSON` numbers, and passes on what it selects.
 */
export function compilePlain(program: string): PlainProgram | undefined {
  if (program.length > MAX_LENGTH) return undefined;
  let selection: Selection | undefined;
  try {
    selection = select(parseProgram(program));
  } catch {
    return undefined;
  }
  if (selection === undefined) return undefined;
  const { outputs } = selection;
  return (input) => outputs.map((output) => output(input));
}

/** A selection whose outputs repeat their input at most {@link MAX_COPIES} times. */
function select(node: Node): Selection | undefined {
  const selection = selectAny(node);
  return selection === undefined || selection.copies > MAX_COPIES ? undefined : selection;
}

/** Complete over all node types: a new kind of node does not compile until it is decided here. */
function selectAny(node: Node): Selection | undefined {
  switch (node.type) {
    case 'identity':
      return single((input) => input);
    case 'group':
      return select(node.inner);
    case 'literal':
      return isPlainLiteral(node.value) ? single(() => node.value, 0) : undefined;
    case 'index':
      return selectField(node);
    case 'pipe':
      return selectPipe(node.left, node.right);
    case 'comma':
      return selectBoth(node.left, node.right);
    case 'alternative':
      return selectAlternative(node.left, node.right);
    case 'array':
      return selectArray(node.body);
    case 'object':
      return selectObject(node.entries);
    case 'and':
    case 'assign':
    case 'bind':
    case 'break':
    case 'call':
    case 'define':
    case 'foreach':
    case 'format':
    case 'if':
    case 'iterate':
    case 'label':
    case 'negate':
    case 'operator':
    case 'or':
    case 'recurse':
    case 'reduce':
    case 'slice':
    case 'text':
    case 'try':
    case 'variable':
      return undefined;
  }
}

function single(output: Select, copies = 1): Selection {
  return { outputs: [output], copies };
}

/** A selection with exactly one output, as keys, pipes and `//` need it. */
function selectOne(node: Node): { readonly output: Select; readonly copies: number } | undefined {
  const selection = select(node);
  const [output, ...more] = selection?.outputs ?? [];
  return selection === undefined || output === undefined || more.length > 0
    ? undefined
    : { output, copies: selection.copies };
}

/** Excludes infinities, NaN and integers beyond 2^53, which the engine treats in its own way. */
function isPlainLiteral(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : value === null || typeof value !== 'object';
}

function selectField(node: Extract<Node, { type: 'index' }>): Selection | undefined {
  if (node.isOptional || node.key.type !== 'literal' || typeof node.key.value !== 'string') return undefined;
  const target = selectOne(node.target);
  const key = node.key.value;
  return target && single((input) => fieldOf(target.output(input), key), target.copies);
}

/** The copies multiply: `{a: ., b: .} | {a: ., b: .}` holds its input four times. */
function selectPipe(left: Node, right: Node): Selection | undefined {
  const [first, second] = [selectOne(left), selectOne(right)];
  return first && second
    ? single((input) => second.output(first.output(input)), first.copies * second.copies)
    : undefined;
}

function selectBoth(left: Node, right: Node): Selection | undefined {
  const [first, second] = [select(left), select(right)];
  return first && second
    ? { outputs: [...first.outputs, ...second.outputs], copies: first.copies + second.copies }
    : undefined;
}

function selectAlternative(left: Node, right: Node): Selection | undefined {
  const [first, second] = [selectOne(left), selectOne(right)];
  if (first === undefined || second === undefined) return undefined;
  const output = (input: unknown): unknown => {
    const value = unlessFailed(() => first.output(input));
    return value === null || value === false ? second.output(input) : value;
  };
  return single(output, Math.max(first.copies, second.copies));
}

/** In jq an alternative takes the place of a failure too. */
function unlessFailed(output: () => unknown): unknown {
  try {
    return output();
  } catch (error) {
    if (error instanceof JqError) return null;
    throw error;
  }
}

function selectArray(body: Node | undefined): Selection | undefined {
  if (body === undefined) return single(() => [], 0);
  const items = select(body);
  return items && single((input) => items.outputs.map((output) => output(input)), items.copies);
}

function selectObject(entries: readonly ObjectEntry[]): Selection | undefined {
  const fields: (readonly [key: string, output: Select])[] = [];
  let copies = 0;
  for (const { key, value } of entries) {
    const field = selectOne(value);
    if (key.type !== 'literal' || typeof key.value !== 'string' || field === undefined) return undefined;
    fields.push([key.value, field.output]);
    copies += field.copies;
  }
  return single((input) => {
    const pairs = fields.map(([key, output]) => [key, output(input)] as const);
    return Object.fromEntries(pairs);
  }, copies);
}

/** `.key` with the message of jq, since users see it whichever engine runs. */
function fieldOf(target: unknown, key: string): unknown {
  if (target === null) return null;
  const type = typeOf(target);
  if (type !== 'object') throw new JqError(`Cannot index ${type} with ${described(key)}`);
  const fields = target as Readonly<Record<string, unknown>>;
  return Object.hasOwn(fields, key) ? (fields[key] ?? null) : null;
}

/** The raw-number part of JSON, which the ES library types do not know yet. */
const { isRawJSON } = JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean };

function typeOf(value: unknown): string {
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return 'array';
  return isRawJSON(value) ? 'number' : 'object';
}
