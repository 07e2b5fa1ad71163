import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';

const PRIVATE_FILE = 0o600;

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
