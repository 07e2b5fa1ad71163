import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';

const TEST_FILE = /\.hook-test\.ya?ml$/;
/** Directories that are not searched for tests. */
const SKIPPED = new Set(['node_modules', '.git', '__snapshots__']);

/**
 * The test files at the paths: a file is one itself, in directories all `*.hook-test.yaml` below them count.
 *
 * @returns absolute, sorted, each once
 * @throws OperatorError CONFIG_INVALID when a path does not exist, or no test is found
 */
export async function findTestFiles(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) for (const file of await filesAt(resolve(cwd, path))) found.add(file);
  if (found.size > 0) return [...found].toSorted();
  throw new OperatorError(
    'CONFIG_INVALID',
    `no tests in ${paths.join(', ')}: files with tests end in .hook-test.yaml`,
  );
}

async function filesAt(path: string): Promise<readonly string[]> {
  const entry = await stat(path).catch((error: unknown) => {
    throw new OperatorError('CONFIG_INVALID', `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  });
  return entry.isDirectory() ? await filesBelow(path) : [path];
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) files.push(...(await filesBelow(path)));
    else if (entry.isFile() && TEST_FILE.test(entry.name)) files.push(path);
  }
  return files;
}

/** The absolute path of a hook: it is relative to the directory above `tests`, or to that of the test file elsewhere. */
export function hookPathOf(testFile: string, hook: string): string {
  const directory = dirname(testFile);
  return resolve(basename(directory) === 'tests' ? dirname(directory) : directory, hook);
}
