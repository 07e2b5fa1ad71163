import type { ESTree } from 'rolldown/utils';
import { parseSync, Visitor } from 'rolldown/utils';

/** The measures of one source file. A line of code holds at least one token that is no comment. */
export interface SourceSize {
  readonly codeLines: number;
  /** Lines that hold a comment and nothing else. */
  readonly commentLines: number;
  readonly imports: number;
  /** Functions and methods with a block as body. */
  readonly functions: readonly FunctionSize[];
  /** Names that the file declares and exports; what it only passes on is not among them. */
  readonly exports: readonly ExportedName[];
}

export interface FunctionSize {
  readonly name: string;
  readonly line: number;
  readonly codeLines: number;
}

export interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
}

type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** Measures a source by its syntax tree. The extension of the file says whether it may hold JSX. */
export function sizeOf(file: string, source: string): SourceSize {
  const { program, comments, module } = parse(file, source);
  const code = withoutRanges(source, comments);
  const isCode = code.split('\n').map((line) => line.trim() !== '');
  const written = source.split('\n').filter((line) => line.trim() !== '').length;
  const codeLines = isCode.filter(Boolean).length;
  return {
    codeLines,
    commentLines: written - codeLines,
    imports: module.staticImports.length,
    functions: functionsOf(program, code),
    exports: program.body.flatMap(exportedNames),
  };
}

/** The source with spaces in place of its comments: what is left of each line is code, at the same place. */
export function codeOf(file: string, source: string): string {
  return withoutRanges(source, parse(file, source).comments);
}

function parse(file: string, source: string): ReturnType<typeof parseSync> {
  const parsed = parseSync(file, source);
  const [error] = parsed.errors;
  if (error !== undefined) throw new Error(`Cannot parse ${file}: ${error.message}`);
  return parsed;
}

/** Replaces the ranges by spaces, except for their line breaks. */
function withoutRanges(source: string, ranges: readonly { start: number; end: number }[]): string {
  let [code, end] = ['', 0];
  for (const range of ranges) {
    code += source.slice(end, range.start) + source.slice(range.start, range.end).replaceAll(/[^\n]/g, ' ');
    end = range.end;
  }
  return code + source.slice(end);
}

function functionsOf(program: ESTree.Program, code: string): readonly FunctionSize[] {
  const names = new Map<object, string>();
  const functions: FunctionSize[] = [];
  const named = (value: object | null, key: object): void => {
    if (value !== null && 'name' in key && typeof key.name === 'string') names.set(value, key.name);
  };
  const measure = (node: FunctionNode): void => {
    if (node.body?.type !== 'BlockStatement') return;
    functions.push({
      name: ('id' in node ? node.id?.name : undefined) ?? names.get(node) ?? '(anonymous)',
      line: code.slice(0, node.start).split('\n').length,
      codeLines: code
        .slice(node.start, node.end)
        .split('\n')
        .filter((line) => line.trim() !== '').length,
    });
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => named(init, id),
    Property: ({ key, value }) => named(value, key),
    PropertyDefinition: ({ key, value }) => named(value, key),
    MethodDefinition: ({ key, value }) => named(value, key),
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return functions;
}

function exportedNames(statement: ESTree.Statement | ESTree.Directive): readonly ExportedName[] {
  if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return [];
  const { declaration } = statement;
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ name: id.name, isType: false }] : [],
    );
  }
  if (!('id' in declaration) || declaration.id === null || !('name' in declaration.id)) return [];
  const isType = /^(?:TS|Class)/.test(declaration.type);
  return [{ name: declaration.id.name, isType }];
}
