import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { SnapshotFile } from '../../tools/hook-test/hook-test.ts';

/** The snapshots of one test file, and where they are stored. */
export interface StoredSnapshots {
  readonly path: string;
  readonly snapshots: SnapshotFile;
}

/**
 * Reads the snapshots of a test file.
 *
 * @throws OperatorError CONFIG_INVALID when they cannot be read
 */
export async function readSnapshots(testFile: string, isUpdate: boolean): Promise<StoredSnapshots> {
  const path = join(dirname(testFile), '__snapshots__', basename(testFile));
  try {
    const content = await readFile(path, 'utf8').catch((error: unknown) => {
      if (isMissingFile(error)) return undefined;
      throw error;
    });
    return { path, snapshots: new SnapshotFile(content, isUpdate) };
  } catch (cause) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `cannot use the snapshots in ${path}: ${messageOf(cause)}: remove the file, and store them again with --update`,
      { cause },
    );
  }
}

export interface SnapshotNotes {
  readonly written: readonly string[];
  readonly obsolete: readonly string[];
}

/**
 * Writes what has changed, if that is wanted.
 *
 * @param isWhole whether all cases of the test file were run to their end
 */
export async function finishSnapshots(
  { path, snapshots }: StoredSnapshots,
  { isWhole, cwd }: { readonly isWhole: boolean; readonly cwd: string },
): Promise<SnapshotNotes> {
  const shown = relative(cwd, path);
  const content = snapshots.updated(isWhole);
  if (content === '') await rm(path, { force: true });
  else if (content !== undefined) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  if (content !== undefined)
    return { written: [`${shown}: ${content === '' ? 'removed' : 'written'}`], obsolete: [] };
  const obsolete = isWhole ? snapshots.obsolete : [];
  return { written: [], obsolete: obsolete.map((key) => `obsolete snapshot in ${shown}: ${key}`) };
}
