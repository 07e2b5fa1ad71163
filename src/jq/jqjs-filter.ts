import { type Jqjs, type JqjsNode, repairJqjs } from './jqjs-repairs.ts';

/** All outputs of a program for one parsed JSON value; throws strings and errors. */
export type JqjsFilter = (input: unknown) => unknown[];

const PACKAGE = '@michaelhomer/jqjs';

/** Functions that jqjs gets wrong, and that are not worth a repair. */
const WRONG_FUNCTIONS: ReadonlySet<string> = new Set([
  'delpaths/1',
  'getpath/1',
  'isinfinite/0',
  'pick/1',
  'setpath/2',
  'transpose/0',
]);

/** What can follow a term without an operator; jqjs takes anything, so `.a."b"` or `1e3` would mean something else. */
const SUFFIXES: ReadonlySet<string> = new Set([
  'ErrorSuppression',
  'GenericIndex',
  'GenericSlice',
  'GenericValueIterator',
  'IdentifierIndex',
]);

/** Where nothing at all may stand: `[]`, and the ends of a slice. */
const EMPTY_PARENTS: ReadonlySet<string> = new Set(['ArrayNode', 'GenericSlice', 'SliceNode']);

/**
 * Compiles a program with jqjs, repaired, and refuses what jqjs parses or runs differently from jq without saying so.
 * Rejects with what jqjs throws: strings.
 */
export async function compileJqjs(program: string): Promise<JqjsFilter> {
  const jqjs = await loadJqjs(program);
  if (/:\s*-1\s*\]/.test(program)) throw 'slices to -1 are not supported';
  const filter = jqjs.compile(program);
  const [functions] = jqjs.compile('builtins')(null);
  checkTree(filter.ast, new Set(Array.isArray(functions) ? functions : []), jqjs.formats);
  return (input) => {
    const outputs: unknown[] = [];
    for (const output of filter(input)) outputs.push(output);
    return outputs;
  };
}

async function loadJqjs(program: string): Promise<Jqjs> {
  // jqjs keeps functions defined by one program for all others; such a program gets a copy of the module.
  const query = /\bdef\b/.test(program) ? `?${encodeURIComponent(program)}` : '';
  const jqjs: Jqjs = await import(import.meta.resolve(PACKAGE) + query);
  repairJqjs(jqjs);
  return jqjs;
}

function checkTree(ast: JqjsNode, functions: ReadonlySet<unknown>, formats: Jqjs['formats']): void {
  const bound = new Set(['ENV']);
  const used: string[] = [];
  for (const [node, parentType] of nodesOf(ast, '')) {
    const type = node.constructor.name;
    if (type === 'FilterNode') checkJuxtaposition(node, parentType);
    if (!('name' in node) || typeof node.name !== 'string') continue;
    const { name } = node;
    if (type === 'FunctionCall' && !functions.has(name)) throw `${name} is not defined`;
    if (type === 'FunctionCall' && WRONG_FUNCTIONS.has(name)) throw `${name} is not supported`;
    if (type === 'FormatNode' && !Object.hasOwn(formats, name)) throw `@${name} is not a valid format`;
    if (type === 'VariableReference') used.push(name);
    else bound.add(name);
  }
  for (const name of used) if (!bound.has(name)) throw `$${name} is not defined`;
}

function checkJuxtaposition(node: object, parentType: string): void {
  const filter = 'filter' in node ? node.filter : undefined;
  if (typeof filter === 'object' && filter !== null) {
    if (SUFFIXES.has(filter.constructor.name)) return;
    throw 'an operator is missing, or the syntax is not supported';
  }
  if (!EMPTY_PARENTS.has(parentType)) throw 'an operand is missing (negation is not supported)';
}

/** Every object of a syntax tree, from the root on, with the class of the node above it. */
function* nodesOf(value: unknown, parentType: string): Iterable<readonly [node: object, parentType: string]> {
  if (typeof value !== 'object' || value === null) return;
  yield [value, parentType];
  const type = Array.isArray(value) ? parentType : value.constructor.name;
  for (const child of Object.values(value)) yield* nodesOf(child, type);
}
