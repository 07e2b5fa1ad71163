import { existsSync } from 'node:fs';
import type { Logger } from '../lib/log.ts';

/** Warns of a directory that somebody has set and that is not there: what should lie in it is missed in silence else. */
export function warnOfMissingDirectory(directory: string, flag: string, log: Logger): void {
  if (directory !== '' && !existsSync(directory))
    log.warn({ flag, directory }, 'the directory does not exist; nothing is loaded');
}
