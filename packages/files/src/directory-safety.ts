import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** Why other users could change what is in a directory; undefined when only we and root can. */
export function writableByOthers(directory: string): string | undefined {
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) return 'it is not a directory';
  if (stats.uid !== process.getuid?.()) return 'it belongs to another user';
  return (stats.mode & OTHERS_MAY_WRITE) === 0 ? undefined : 'other users can write to it';
}

/** Why other users could put another directory in the place of this one; undefined when only we and root can. */
export function replaceableByOthers(directory: string): string | undefined {
  const parent = dirname(directory);
  const { mode } = statSync(parent);
  if ((mode & OTHERS_MAY_WRITE) !== 0 && (mode & STICKY) === 0)
    return `other users can write to ${parent} and could replace it`;
  const foreign = ancestors(realpathSync(directory)).find((path) => {
    const { uid } = statSync(path);
    return uid !== 0 && uid !== process.getuid?.();
  });
  return foreign === undefined ? undefined : `${foreign} belongs to another user, who could replace it`;
}

/** The directories above, up to the root. */
function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...ancestors(above)];
}
