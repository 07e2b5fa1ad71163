/**
 * The measures of the checkout as tables of numbers, computed from the sizes of its files. They limit nothing: they show
 * where code grows, and what a change has made of it. `npm run measures` prints them, and the gate prints the totals.
 */
import { dirname } from 'node:path';
import type { Import } from './import-graph.ts';
import { type FunctionSize, type SourceSize, sizeOf } from './size.ts';

/** Files with one importer count as small below so many lines of code. */
const SMALL = 40;

export interface MeasuredFile {
  /** Relative to the checkout. */
  readonly file: string;
  readonly size: SourceSize;
}

/** The measures of some files: tests beside them are only counted as tests. */
export interface Measures {
  readonly name: string;
  readonly files: number;
  readonly codeLines: number;
  /** Lines of comments among the lines of code and comments, from 0 to 1. */
  readonly commentShare: number;
  /** Lines of tests for each line of code. */
  readonly testRatio: number;
  readonly fileLines: Spread;
  readonly functionLines: Spread;
}

/** Of lines of code. */
export interface Spread {
  readonly median: number;
  readonly p90: number;
  readonly max: number;
}

export interface Place<T> {
  readonly file: string;
  readonly what: T;
}

/** What no product is: tests beside the code, in a folder of their own, and all that they use. */
export function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file) || /^(?:test|packages\/[\w-]+\/test)\//.test(file);
}

export function measureFiles(sources: ReadonlyMap<string, string>): readonly MeasuredFile[] {
  return [...sources].map(([file, source]) => ({ file, size: sizeOf(file, source) }));
}

/** The measures of the files below some folders; the tests are those of these folders and of `testFolders`. */
export function measuresOf(
  name: string,
  all: readonly MeasuredFile[],
  folders: readonly string[],
  testFolders: readonly string[] = [],
): Measures {
  const below = (file: string, those: readonly string[]): boolean =>
    those.some((folder) => file.startsWith(folder));
  const files = all.filter(({ file }) => below(file, folders) && !isTest(file));
  const tests = all.filter(({ file }) => below(file, [...folders, ...testFolders]) && isTest(file));
  const codeLines = linesOf(files);
  const comments = sum(files.map(({ size }) => size.commentLines));
  return {
    name,
    files: files.length,
    codeLines,
    commentShare: comments / Math.max(codeLines + comments, 1),
    testRatio: linesOf(tests) / Math.max(codeLines, 1),
    fileLines: spreadOf(files.map(({ size }) => size.codeLines)),
    functionLines: spreadOf(files.flatMap(({ size }) => size.functions.map((one) => one.codeLines))),
  };
}

/** The rooms of `src/` or the packages, largest first; files beside the rooms are together in one row. */
export function measuresOfFolders(all: readonly MeasuredFile[], parent: string): readonly Measures[] {
  const inside = all.filter(({ file }) => file.startsWith(parent));
  const names = new Set(inside.map(({ file }) => file.slice(parent.length).split('/')[0] ?? ''));
  const rows = [...names]
    .filter((name) => !name.includes('.'))
    .map((name) => measuresOf(name, all, [`${parent}${name}/`]));
  const loose = inside.filter(({ file }) => !file.slice(parent.length).includes('/'));
  const entries = loose.length === 0 ? [] : [measuresOf('files beside them', loose, [parent])];
  return [...rows.toSorted((a, b) => b.codeLines - a.codeLines), ...entries];
}

/** The number of files of each folder, without tests and without those of its folders; the largest first. */
export function folderSizes(
  all: readonly MeasuredFile[],
  parent: string,
): readonly (readonly [string, number])[] {
  const files = all.filter(({ file }) => file.startsWith(parent) && !isTest(file));
  const counts = Map.groupBy(files, ({ file }) => dirname(file));
  return [...counts]
    .map(([folder, inside]) => [folder, inside.length] as const)
    .toSorted(([, a], [, b]) => b - a);
}

export function longestFunctions(
  all: readonly MeasuredFile[],
  limit: number,
): readonly Place<FunctionSize>[] {
  return all
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, size }) => size.functions.map((what) => ({ file, what })))
    .toSorted((a, b) => b.what.codeLines - a.what.codeLines)
    .slice(0, limit);
}

/** Names that more than one file declares and exports, with those files; of types (classes among them) or of values. */
export function repeatedNames(
  all: readonly MeasuredFile[],
  kind: 'types' | 'values',
): ReadonlyMap<string, readonly string[]> {
  const names = all
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, size }) =>
      size.exports
        .filter(({ isType }) => isType === (kind === 'types'))
        .map((what) => ({ file, name: what.name })),
    );
  const files = [...Map.groupBy(names, ({ name }) => name)].map(
    ([name, places]) => [name, [...new Set(places.map(({ file }) => file))].toSorted()] as const,
  );
  return new Map(
    files
      .filter(([, places]) => places.length > 1)
      .toSorted(([a, of], [b, others]) => others.length - of.length || a.localeCompare(b)),
  );
}

/** Small files that one other file imports: what may belong to their importer. */
export function smallWithOneImporter(
  all: readonly MeasuredFile[],
  imports: readonly Import[],
): readonly Place<string>[] {
  const importers = Map.groupBy(
    imports.filter(({ isOwn }) => isOwn),
    ({ to }) => to,
  );
  return all.flatMap(({ file, size }) => {
    const from = new Set(importers.get(file)?.map((one) => one.from));
    const [first] = from;
    return from.size === 1 && first !== undefined && size.codeLines < SMALL ? [{ file, what: first }] : [];
  });
}

function linesOf(files: readonly MeasuredFile[]): number {
  return sum(files.map(({ size }) => size.codeLines));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? 0 };
}
