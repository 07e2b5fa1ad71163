import { expect, test } from 'vitest';
import { sizeOf } from './size.ts';

const CASES: readonly { what: string; source: string; code: number; comments: number }[] = [
  { what: 'nothing', source: '', code: 0, comments: 0 },
  { what: 'blank lines', source: '\n  \nconst a = 1;\n\n', code: 1, comments: 0 },
  { what: 'a comment beside code', source: 'const a = 1; // one\n', code: 1, comments: 0 },
  { what: 'a comment on a line of its own', source: '// one\nconst a = 1;\n', code: 1, comments: 1 },
  {
    what: 'a block comment with a blank line',
    source: '/**\n * one\n\n */\nconst a = 1;\n',
    code: 1,
    comments: 3,
  },
  { what: 'code behind a block comment', source: '/*\n*/ const a = 1;\n', code: 1, comments: 1 },
  {
    what: 'a string that looks like a comment',
    source: "const a = [\n  '// no',\n  '/*',\n];\n",
    code: 4,
    comments: 0,
  },
  { what: 'a template over lines', source: 'const a = `\n// no\n\n${1}`;\n', code: 3, comments: 0 },
  { what: 'a regular expression with slashes', source: 'const a = /\\/\\//;\n', code: 1, comments: 0 },
];

test.each(CASES)('sizeOf() counts the lines of $what', ({ source, code, comments }) => {
  const { codeLines, commentLines } = sizeOf('a.ts', source);
  expect({ codeLines, commentLines }).toEqual({ codeLines: code, commentLines: comments });
});

test('sizeOf() measures functions with a block, without blank lines and comments, and finds their names', () => {
  const source = `
const short = () => 1;
function declared() {
  // why

  return 1;
}
const arrow = () => {
  return [1].map(() => {
    return 2;
  });
};
class A {
  method() {}
  field = () => {};
}
const table = { entry() {} };
`;
  expect(sizeOf('a.ts', source).functions.toSorted((a, b) => a.line - b.line)).toEqual([
    { name: 'declared', line: 3, codeLines: 3 },
    { name: 'arrow', line: 8, codeLines: 5 },
    { name: '(anonymous)', line: 9, codeLines: 3 },
    { name: 'method', line: 14, codeLines: 1 },
    { name: 'field', line: 15, codeLines: 1 },
    { name: 'entry', line: 17, codeLines: 1 },
  ]);
});

test('sizeOf() lists the names that a file declares and exports, not those that it passes on', () => {
  const source = `
import { passedOn } from './b.ts';
export interface AnInterface {}
export type AType = string;
export class AClass {}
export function aFunction() {}
export const [one, two] = [1, 2];
export const a = 1, b = 2;
export { passedOn };
export type { Other } from './c.ts';
const own = 1;
`;
  const { exports, imports } = sizeOf('a.ts', source);
  expect(exports.filter(({ isType }) => isType).map(({ name }) => name)).toEqual([
    'AnInterface',
    'AType',
    'AClass',
  ]);
  expect(exports.filter(({ isType }) => !isType).map(({ name }) => name)).toEqual(['aFunction', 'a', 'b']);
  expect(imports).toBe(1);
});

test('sizeOf() reads JSX in a file that may hold it, and refuses what is no TypeScript', () => {
  expect(sizeOf('a.tsx', 'const a = (\n  <b>\n    // shown\n  </b>\n);\n').codeLines).toBe(5);
  expect(() => sizeOf('a.ts', 'const = ;')).toThrow('Cannot parse a.ts: ');
});
