import type { Buffer } from 'node:buffer';
import { messageOf, OperatorError } from '../lib/errors.ts';
import { tarEntries } from '../lib/tar.ts';

/**
 * The content of one regular file in an uncompressed tar archive, or undefined when the archive has no such file.
 *
 * @throws OperatorError TOOL_UNAVAILABLE when the archive is damaged or cut short
 */
export function tarEntry(archive: Buffer, path: string): Buffer | undefined {
  try {
    for (const { name, isRegularFile, content } of tarEntries(archive))
      if (isRegularFile && name === path) return content;
    return undefined;
  } catch (cause) {
    throw new OperatorError('TOOL_UNAVAILABLE', `Cannot read the tar archive: ${messageOf(cause)}`, {
      cause,
    });
  }
}
