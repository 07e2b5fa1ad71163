import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';

/** A file that is to be written. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable?: boolean;
  /** It is the same for several hooks: one that exists is kept. */
  readonly isShared?: boolean;
}

const [EXECUTABLE, PLAIN] = [0o755, 0o644];

/**
 * Writes files that do not exist yet: all of them or none.
 *
 * @returns the paths of those that were written
 * @throws OperatorError CONFIG_INVALID naming the files that exist, or what cannot be written
 */
export function writeNewFiles(files: readonly NewFile[]): readonly string[] {
  const existing = files.filter(({ path }) => existsSync(path));
  const refused = existing.filter(({ isShared }) => isShared !== true).map(({ path }) => path);
  if (refused.length > 0)
    throw new OperatorError(
      'CONFIG_INVALID',
      `nothing is written, because these files exist: ${refused.join(', ')}`,
    );
  const written: string[] = [];
  try {
    for (const { path, text, isExecutable = false } of files.filter((file) => !existing.includes(file))) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { flag: 'wx' });
      written.push(path);
      chmodSync(path, isExecutable ? EXECUTABLE : PLAIN);
    }
    return written;
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    throw new OperatorError('CONFIG_INVALID', `nothing is written: ${messageOf(error)}`, { cause: error });
  }
}
