/** Recordings as files: written atomically and private to the user, since values may contain secrets. */

import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Recording } from './recording.ts';

const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;
const MAX_NAME = 100;

/**
 * Writes a recording to a file of its own, which appears whole or not at all, and which only the user can read.
 *
 * @param number among those of a session, so that the names sort as the runs ended
 * @returns the path
 * @throws Error when it cannot be written, such as on a full disk; nothing is left of it then
 */
export async function writeRecording(
  directory: string,
  recording: Recording,
  number: number,
): Promise<string> {
  const { at, module, hook } = recording;
  const name = `${module}-${hook}`
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_NAME);
  const time = at.replaceAll(/[^\dTZ]/g, '');
  const path = join(directory, `${time}-${String(number).padStart(4, '0')}-${name}.json`);
  const draft = join(directory, `.${time}-${number}-${process.pid}.tmp`);
  try {
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const file = await open(draft, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(`${JSON.stringify(recording, undefined, 2)}\n`);
      // Without it a crash could leave an empty file under the final name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    return path;
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw writeFailure(path, cause);
  }
}

/** The error for a recording that cannot be written; it says what helps where that is known. */
export function writeFailure(path: string, cause: unknown): Error {
  return new Error(`cannot write the recording ${path}: ${messageOf(cause)}${remedyOf(cause)}`, { cause });
}

function remedyOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return '; free space, or record into another directory with -o';
  return code === 'EFBIG' ? '; raise the limit for the size of files (ulimit -f)' : '';
}

/**
 * The files of recordings in a directory, sorted by name, or the file itself.
 *
 * @throws OperatorError CONFIG_INVALID when there is none
 */
export async function findRecordings(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    const files = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).toSorted();
    if (files.length > 0) return files.map((name) => join(path, name));
  } catch (cause) {
    throw new OperatorError('CONFIG_INVALID', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
  throw new OperatorError(
    'CONFIG_INVALID',
    `no recordings in ${path}: they are files *.json, written by hook record`,
  );
}
