import { returnProgramPages } from './code-pages.ts';
import { type Libc, loadLibc } from './native-libc.ts';

let loaded: Promise<Libc | undefined> | undefined;

/**
 * Gives back the memory that the code of this process takes, 50 MB of Node after a start: what is used afterwards is a
 * part of it and comes back from the page cache. To be called when the process has become idle. Does nothing without
 * native calls.
 */
export async function returnIdleCode(): Promise<void> {
  loaded ??= loadLibc().catch(() => undefined);
  const libc = await loaded;
  if (libc !== undefined) returnProgramPages(libc);
}
