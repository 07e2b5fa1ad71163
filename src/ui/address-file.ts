/**
 * The file beside the debug socket that holds the address of the page with its token. `addon-operator ui` prints it. It
 * has the same protection as the socket: only the user of the operator can read it.
 */

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';

const PRIVATE_FILE = 0o600;
/** The permission bits of other users. */
const OTHERS = 0o077;
const TOKEN = /#token=([\w-]{43})\n$/;

/** Where the address of the page is kept, for those who may open the debug socket. */
export function addressFileOf(debugSocket: string): string {
  return `${debugSocket}.ui`;
}

/** Writes the address of the page, with its token, into a file for our user alone. */
export async function writeAddressFile(path: string, address: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${address}\n`, { mode: PRIVATE_FILE, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * The token of an operator that could not remove its address file, because it was killed. Undefined without one, and for a
 * file that another user may have written or read.
 */
export async function readKeptToken(path: string): Promise<string | undefined> {
  // Not through a symbolic link: another user could have put one there to choose our token.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { uid, mode } = await file.stat();
    const isPrivate = uid === process.getuid?.() && (mode & OTHERS) === 0;
    return isPrivate ? TOKEN.exec(await file.readFile('utf8'))?.[1] : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
