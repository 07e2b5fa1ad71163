// `npm run pack -- DIRECTORY`: archives of the operator and of the packages for others, as npm installs them.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { runScript } from './command-line.ts';
import { writeKrewManifest } from './krew-manifest.ts';
import { PACKAGES, type PackageName, packPackage } from './pack.ts';
import { packOperator } from './pack-operator.ts';

const USAGE = 'npm run pack -- DIRECTORY [--krew-url URL]';

await runScript('pack', async (signal) => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'krew-url': { type: 'string' } },
  });
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new Error(`the directory is missing\n${USAGE}`);
  const build = resolve(import.meta.dirname, '../bin/build.mjs');
  await execa(process.execPath, [build], { stdio: 'inherit', cancelSignal: signal });
  const archive = await packOperator(directory, signal);
  console.log(archive);
  const url = values['krew-url'];
  if (url !== undefined) console.log(await writeKrewManifest(archive, url));
  for (const name of Object.keys(PACKAGES) as PackageName[])
    console.log(await packPackage(name, directory, signal));
});
