import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;
/** With the sticky bit, as on /tmp, only the owner of an entry can rename or remove it. */
const STICKY = 0o1000;

/** The reason why other users could change the contents of a directory; undefined when only this user and root can. */
export function writableByOthers(directory: string): string | undefined {
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) return 'it is not a directory';
  if (stats.uid !== process.getuid?.()) return 'it belongs to another user';
  return (stats.mode & OTHERS_MAY_WRITE) === 0 ? undefined : 'other users can write to it';
}

/** The reason why other users could replace this directory by another; undefined when only this user and root can. */
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
