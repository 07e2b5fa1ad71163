/**
 * Builtins that would break the line protocol (`input` eats the next object, `halt` ends the process), reach outside
 * the object, or are unknown to the original's engine.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'debug',
  'get_search_list',
  'halt',
  'halt_error',
  'import',
  'include',
  'input',
  'input_filename',
  'input_line_number',
  'inputs',
  'modulemeta',
  'stderr',
]);

const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Tokens that matter here; strings are taken apart by {@link findProgramProblem} because they can contain code. */
const TOKEN = /#[^\n]*|[.$@][A-Za-z_]\w*|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|\d[\w.]*|\s+|[^]/y;
/** Matches behind a key. A comment can be read in one way only, or a row of them would take exponential time. */
const KEY_END = /(?:\s|#[^\n]*(?:\n|$))*[:,}]/y;
const STRING_PART = /[^"\\]+|\\\(|\\[^]?|"/y;

/**
 * The reason to refuse a program before any engine sees it, or undefined: a call of a refused builtin (fields and
 * keys of that name are fine), or brackets and strings that do not match, which could reach outside of the program.
 */
export function findProgramProblem(program: string): string | undefined {
  const open: string[] = [];
  let previous = '';
  let position = 0;
  while (position < program.length) {
    if (open.at(-1) === '"') {
      position = skipStringPart(program, position, open);
      previous = '"';
      continue;
    }
    const token = matchAt(TOKEN, program, position);
    position += token.length;
    if (token.trim() === '' || token.startsWith('#')) continue;
    if (REFUSED.has(token) && !isKey(program, position, previous, open.at(-1))) {
      return `${token} is not allowed in filters`;
    }
    if (token === '(' || token === '[' || token === '{' || token === '"') open.push(token);
    else if (CLOSING[token] !== undefined && open.pop() !== CLOSING[token])
      return `"${token}" has no opening counterpart`;
    previous = token;
  }
  return open.length === 0
    ? undefined
    : `${open.at(-1) === '"' ? 'a string' : `"${open.at(-1)}"`} is not closed`;
}

/** Moves over a piece of a string; an interpolation is left to the caller as code in parentheses. */
function skipStringPart(program: string, position: number, open: string[]): number {
  const part = matchAt(STRING_PART, program, position);
  if (part === '"') open.pop();
  else if (part === '\\(') open.push('(');
  return position + part.length;
}

/** Whether the name that ends at `end` is the key of an object: `{halt: 1}`, `{halt}`, `{a: 1, halt}`. */
function isKey(program: string, end: number, previous: string, enclosing: string | undefined): boolean {
  if (enclosing !== '{' || (previous !== '{' && previous !== ',')) return false;
  KEY_END.lastIndex = end;
  return KEY_END.test(program);
}

function matchAt(pattern: RegExp, program: string, position: number): string {
  pattern.lastIndex = position;
  return pattern.exec(program)?.[0] ?? program.slice(position, position + 1);
}
