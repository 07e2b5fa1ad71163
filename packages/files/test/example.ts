import { existsSync } from 'node:fs';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';

let path: string;
{
  await using running = new AsyncDisposableStack();
  path = await scratchDirectory(running);
  console.log(existsSync(path));
}
console.log(existsSync(path));
