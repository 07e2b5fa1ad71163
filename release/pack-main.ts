// `npm run pack -- DIRECTORY`: archives of the packages for others, as npm installs them.
import { parseArgs } from 'node:util';
import { runScript } from './command-line.ts';
import { PACKAGES, type PackageName, packPackage } from './pack.ts';

const USAGE = 'npm run pack -- DIRECTORY';

await runScript('pack', async (signal) => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new Error(`the directory is missing\n${USAGE}`);
  for (const name of Object.keys(PACKAGES) as PackageName[])
    console.log(await packPackage(name, directory, signal));
});
