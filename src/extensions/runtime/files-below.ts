import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../../lib/errors.ts';
import { isMissingFile } from '../../lib/missing-file.ts';

/**
 * All files below a directory, sorted, but for hidden ones and packages; none without the directory.
 *
 * @throws OperatorError EXTENSION_INVALID when it cannot be read
 */
export async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await list(directory);
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else files.push(path);
  }
  return files.toSorted();
}

async function list(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (cause) {
    if (isMissingFile(cause)) return [];
    throw unreadable(directory, cause);
  }
}

/** @throws OperatorError EXTENSION_INVALID */
export async function readExtensionFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): OperatorError {
  return new OperatorError('EXTENSION_INVALID', `Cannot read extensions at ${path}: ${messageOf(cause)}`, {
    cause,
  });
}
