import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { projectRoot, sourcesIn } from './checkout.ts';
import { type Import, importsOf } from './import-graph.ts';
import type { Manifest } from './packages.ts';

/** The files of src/ and the published files of packages/, without tests: path relative to src/ → text. */
export function sourcesOfProject(): Map<string, string> {
  const published = [...sourcesIn('packages')].filter(([file]) => /^[\w-]+\/src\//.test(file));
  return new Map([
    ...sourcesIn('src'),
    ...published.map(([file, text]) => [`../packages/${file}`, text] as const),
  ]);
}

/** The imports in the given files; an entry point of a package is replaced by the file that it is. */
export function importsOfProject(sources: ReadonlyMap<string, string>): Import[] {
  const entries = entryPoints();
  return importsOf(sources).map((one) => {
    const file = entries.get(one.to);
    return file === undefined ? one : { ...one, to: file, isOwn: true };
  });
}

/** What files import from packages of the project → its file, relative to src/. */
function entryPoints(): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(join(projectRoot, 'packages')).flatMap((directory) => {
      const manifest = readFileSync(join(projectRoot, 'packages', directory, 'package.json'), 'utf8');
      const { name, exports } = JSON.parse(manifest) as Manifest;
      return Object.entries(exports).map(
        ([entry, file]) => [posix.join(name, entry), posix.join('../packages', directory, file)] as const,
      );
    }),
  );
}
