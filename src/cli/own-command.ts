import { basename, delimiter, dirname } from 'node:path';
import { shellWord } from '@addon-operator/strings/shell-word';

const NAME = 'addon-operator';

/**
 * What a user types to start this program again: its name if PATH has it, else the path that it was started by.
 *
 * @param started how it was started; undefined: not by its launcher
 */
export function ownCommand(started: string | undefined, path: string | undefined): string {
  if (started === undefined || basename(started) === started) return NAME;
  const directory = dirname(started);
  // npx puts such a directory into PATH for the time of one command.
  const isInPath =
    !directory.endsWith('node_modules/.bin') && (path ?? '').split(delimiter).includes(directory);
  return isInPath && basename(started) === NAME ? NAME : shellWord(started);
}
