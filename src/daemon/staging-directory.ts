import { lstat, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isProcessAlive } from '../helm/process-alive.ts';
import { messageOf, OperatorError } from '../lib/errors.ts';

const PREFIX = 'run-';
const OWNED = /^run-(?<pid>\d+)-/u;
const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Makes an empty directory below `path`, which is made if missing, that nobody but our user can enter or put something
 * else in the place of. What daemons left there that are no longer alive is removed.
 *
 * @returns its absolute path
 * @throws OperatorError CONFIG_INVALID where others could change what is in it
 */
export async function makeStagingDirectory(path: string): Promise<string> {
  const parent = resolve(path);
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await refuseUnsafe(parent);
    for (const name of await readdir(parent)) {
      const pid = Number(OWNED.exec(name)?.groups?.['pid']);
      // Our own number on a directory that exists already: in a container every daemon has the same one.
      if (Number.isNaN(pid) || (pid !== process.pid && isProcessAlive(pid))) continue;
      await rm(join(parent, name), { recursive: true, force: true });
    }
    return await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  } catch (cause) {
    throw new OperatorError(
      'CONFIG_INVALID',
      `--auth-staging-dir (AUTH_STAGING_DIR) ${parent}: ${messageOf(cause)}; set it to a directory that only the user of the daemon can write to`,
      { cause },
    );
  }
}

async function refuseUnsafe(directory: string): Promise<void> {
  const stats = await lstat(directory);
  if (!stats.isDirectory()) throw new Error('it is no directory');
  const ourUid = process.getuid?.();
  if (stats.uid !== ourUid) throw new Error('it belongs to another user');
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0) throw new Error('others may write to it');
  const above = await stat(dirname(directory));
  if ((above.mode & OTHERS_MAY_WRITE) !== 0 && (above.mode & STICKY) === 0)
    throw new Error(`others may write to ${dirname(directory)}, so they could replace it`);
  for (const ancestor of ancestors(await realpath(directory))) {
    const { uid } = await stat(ancestor);
    if (uid !== 0 && uid !== ourUid)
      throw new Error(`${ancestor} belongs to another user, who could replace it`);
  }
}

/** The directories above, up to the root. */
function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...ancestors(above)];
}
