import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** By how many bytes the RSS of a bare process grows that downloads a list and keeps it whole. */
export async function keptListBytes(url: string): Promise<number> {
  const child = fork(join(import.meta.dirname, 'kept-list-main.ts'), [url]);
  const [response]: { readonly grownBytes: number }[] = await once(child, 'message');
  return response?.grownBytes ?? Number.NaN;
}
