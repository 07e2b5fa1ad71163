// `npm run pack -- DIRECTORY`: archives of the operator and of the packages for others, as npm installs them.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { runScript } from './command-line.ts';
import { PACKAGES, type PackageName, packPackage } from './pack.ts';
import { packOperator } from './pack-operator.ts';

const USAGE = 'npm run pack -- DIRECTORY';

await runScript('pack', async (signal) => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new Error(`the directory is missing\n${USAGE}`);
  const build = resolve(import.meta.dirname, '../bin/build.mjs');
  await execa(process.execPath, [build], { stdio: 'inherit', cancelSignal: signal });
  console.log(await packOperator(directory, signal));
  for (const name of Object.keys(PACKAGES) as PackageName[])
    console.log(await packPackage(name, directory, signal));
});
