import { posix } from 'node:path';
import type { Import } from './import-graph.ts';

/** The part of a package.json that is checked here. */
export interface Manifest {
  readonly name: string;
  /** Entry point → source file, relative to the package. */
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * One sentence for each import in a package that reaches into the operator or another package, or that its package.json does
 * not declare. Files of the imports are paths relative to the package; tests may import what the repository has installed.
 */
export function packageViolations(
  { name, dependencies, optionalDependencies }: Manifest,
  imports: readonly Import[],
): string[] {
  return imports.flatMap(({ from, to, isOwn }) => {
    const declared = [name, ...Object.keys({ ...dependencies, ...optionalDependencies })];
    const problem = isOwn ? ownProblem(from, to) : foreignProblem(to, declared);
    return problem === undefined ? [] : [`${name}: ${from} imports ${to}: ${problem}`];
  });
}

function ownProblem(from: string, to: string): string | undefined {
  if (to.startsWith('../')) return 'it is outside of the package';
  return from.startsWith('src/') && !to.startsWith('src/') ? 'it is not published' : undefined;
}

function foreignProblem(to: string, declared: readonly string[]): string | undefined {
  if (to.startsWith('node:') || declared.some((name) => to === name || to.startsWith(`${name}/`)))
    return undefined;
  return 'package.json does not declare it';
}

/** One sentence for each entry point of a package that is no source file of it. */
export function entryViolations({ name, exports }: Manifest, files: readonly string[]): string[] {
  return Object.entries(exports)
    .filter(([, file]) => !file.startsWith('./src/') || !files.includes(posix.normalize(file)))
    .map(([entry, file]) => `${name}: the entry point ${entry} is ${file}, which is no file below src/`);
}
