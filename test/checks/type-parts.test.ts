import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { countParts, partProblems } from './type-parts.ts';

const isProduct = (file: string): boolean =>
  /^(?:src|packages\/[\w-]+\/src)\//.test(file) && !file.endsWith('.test.ts');

test('no exported type has more than twelve members that are parts', () => {
  const types = countParts({ root: projectRoot }, isProduct);
  expect(types.length).toBeGreaterThan(2_000);
  expect(partProblems(types)).toEqual([]);
});

const PARTS = `
export interface Part { run(): void }
export interface Data { readonly name: string; readonly sizes: readonly number[] }
`;

/** The members and parts of each type in one file, beside those of `PARTS`. */
function counted(source: string): Readonly<Record<string, readonly [number, number]>> {
  const fs = createVirtualFileSystem({
    '/planted/tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, lib: ['es2024'], types: [] },
      include: ['src'],
    }),
    '/planted/src/parts.ts': PARTS,
    '/planted/src/a.ts': `import type { Data, Part } from './parts.ts';\nexport type Used = Data | Part;\n${source}`,
  });
  const types = countParts({ root: '/planted', fs }, (file) => file === 'src/a.ts');
  return Object.fromEntries(
    types
      .filter(({ name }) => name !== 'Used')
      .map(({ name, members, parts }) => [name, [members, parts]] as const),
  );
}

const MEMBERS: readonly { what: string; member: string; parts: number }[] = [
  { what: 'a string', member: 'readonly a: string;', parts: 0 },
  { what: 'data', member: 'readonly a: Data;', parts: 0 },
  { what: 'a list of data', member: 'readonly a: readonly Data[];', parts: 0 },
  { what: 'a promise of data', member: 'readonly a: Promise<Data>;', parts: 0 },
  { what: 'a date', member: 'readonly a: Date;', parts: 0 },
  { what: 'a method', member: 'a(): void;', parts: 0 },
  { what: 'a function', member: 'readonly a: () => void;', parts: 1 },
  { what: 'a function that may be missing', member: 'readonly a?: (() => void) | undefined;', parts: 1 },
  { what: 'an object with a method', member: 'readonly a: Part;', parts: 1 },
  {
    what: 'an object with a part in it',
    member: 'readonly a: { readonly b: { readonly c: Part } };',
    parts: 1,
  },
  { what: 'one of two, which is a part', member: 'readonly a: Data | Part;', parts: 1 },
  { what: 'a map of parts', member: 'readonly a: ReadonlyMap<string, Part>;', parts: 1 },
  { what: 'a class', member: 'readonly a: new () => Part;', parts: 1 },
  { what: 'a string of its own type', member: "readonly a: string & { readonly brand: 'a' };", parts: 0 },
];

test('countParts() of one member', () => {
  const source = MEMBERS.map(({ member }, index) => `export interface A${index} { ${member} }`).join('\n');
  const types = counted(source);
  const found = MEMBERS.map(({ what }, index) => ({ what, counts: types[`A${index}`] }));
  expect(found).toEqual(MEMBERS.map(({ what, parts }) => ({ what, counts: [1, parts] })));
});

const TYPES: readonly {
  what: string;
  source: string;
  counts: Readonly<Record<string, readonly number[]>>;
}[] = [
  {
    what: 'members of types that are joined and chosen from',
    source: `
interface Hidden { readonly a: Part; readonly b: Part; readonly c: string }
export type Joined = Omit<Hidden, 'a'> & { readonly d: Part };
export interface Longer extends Pick<Hidden, 'a' | 'c'> { readonly e: Part }
`,
    counts: { Joined: [3, 2], Longer: [3, 2] },
  },
  {
    what: 'what others can use of a class',
    source: `
export class A {
  readonly part: Part;
  readonly #hidden: Part;
  constructor(options: { readonly part: Part; readonly name: string }) {
    this.part = options.part;
    this.#hidden = options.part;
  }
  run(): void { this.#hidden.run(); }
}
`,
    counts: { A: [2, 1], 'new A(options)': [2, 1] },
  },
  {
    what: 'what an exported function returns and takes, unless the type is exported',
    source: `
interface Hidden { readonly a: Part; readonly b: Part }
export interface Shown { readonly a: Part }
export function f(hidden: Hidden, shown: Shown): { readonly c: Part } { return { c: hidden.a ?? shown.a }; }
export async function g(): Promise<{ readonly d: Part } | undefined> { return undefined; }
function inner(): { readonly e: Part; readonly f: Part } | undefined { return undefined; }
inner();
`,
    counts: { Shown: [1, 1], 'f()': [1, 1], 'f(hidden)': [2, 2], 'g()': [1, 1] },
  },
];

test.each(TYPES)('countParts() finds $what', ({ source, counts }) => {
  expect(counted(source)).toEqual(counts);
});

test('a planted type with thirteen parts is reported, and twelve are not', () => {
  const members = (count: number): string =>
    Array.from({ length: count }, (_, index) => `readonly m${index}: Part;`).join(' ');
  const source = `export interface Small { ${members(12)} }\nexport interface Large { ${members(13)} }\n`;
  const types = Object.entries(counted(source)).map(([name, [all, parts]]) => ({
    file: 'src/a.ts',
    name,
    members: all,
    parts,
  }));
  const sentence = (limit: number): string =>
    `src/a.ts Large has 13 members that are parts, at most ${limit} may be: pass what is used, or join what belongs together`;
  expect(partProblems(types)).toEqual([sentence(12)]);
  expect(partProblems(types, { 'src/a.ts Large': 13 })).toEqual([]);
  expect(partProblems(types, { 'src/a.ts Large': 14, 'src/a.ts Small': 13 })).toEqual([
    'src/a.ts Small has no more than 12 parts: remove it from the list',
  ]);
  expect(
    partProblems([{ file: 'src/a.ts', name: 'Large', members: 14, parts: 14 }], { 'src/a.ts Large': 13 }),
  ).toEqual([sentence(13).replace('13 members', '14 members')]);
});
