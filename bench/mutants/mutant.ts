/** One small fault: the text `find` of a file, which must be there exactly once, becomes `replace`. */
export interface Mutant {
  readonly find: string;
  readonly replace: string;
  /** What is wrong with the operator that has it. */
  readonly breaks: string;
}

/** Faults of one file, whose path is relative to the checkout. */
export interface MutatedFile {
  readonly file: string;
  /** Tests of other folders or names that belong to the file; paths, or folders. */
  readonly tests?: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** The text with the fault, and the line in which it begins. */
export interface MutatedText {
  readonly text: string;
  readonly line: number;
}

/** @throws Error for an entry whose text is not found exactly once: it is stale */
export function withMutant(file: string, text: string, { find, replace }: Mutant): MutatedText {
  const start = text.indexOf(find);
  const count = text.split(find).length - 1;
  if (count !== 1)
    throw new Error(`stale mutant: ${file} contains ${count} times, not once, ${JSON.stringify(find)}`);
  return {
    text: text.slice(0, start) + replace + text.slice(start + find.length),
    line: text.slice(0, start).split('\n').length,
  };
}

/** The nearest tests of a file: first those that have its name or are named for it, then all others of its folder. */
export interface NearestTests {
  readonly own: readonly string[];
  readonly folder: readonly string[];
}

/**
 * @param tests paths of all test files
 */
export function nearestTests(
  { file, tests: named = [] }: Pick<MutatedFile, 'file' | 'tests'>,
  tests: readonly string[],
): NearestTests {
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const stem = file.slice(folder.length, -'.ts'.length);
  const isOwn = (path: string): boolean =>
    new RegExp(`^${folder}${stem}([.-][\\w.-]+)?\\.test\\.ts$`).test(path) ||
    named.some((name) => path === name || path.startsWith(`${name}/`));
  const own = tests.filter(isOwn);
  return {
    own,
    folder: tests.filter(
      (path) => path.startsWith(folder) && !path.slice(folder.length).includes('/') && !own.includes(path),
    ),
  };
}
