import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { npmPack, writeJson } from './pack.ts';

const root = resolve(import.meta.dirname, '..');
/** What the operator needs where it is installed, as in the image. */
const PARTS = [
  'bin/addon-operator',
  'dist',
  'shell_lib.sh',
  'frameworks/shell',
  // For `hook new --template`.
  'examples/catalogue',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
];
/** Made where the operator runs. */
const NOT_PACKED: ReadonlySet<string> = new Set(['.stamp', '.compile-cache']);

interface RootManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly engines: object;
  readonly bin: object;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly optionalDependencies: object;
}

/**
 * Packs the operator as npm installs it and `npx` starts it. `dist/` has everything but native code and Node itself, which
 * are optional dependencies: the launch script takes Node 24 from there or from PATH.
 *
 * @returns the archive in `directory`
 */
export async function packOperator(directory: string, signal: AbortSignal): Promise<string> {
  const stage = await mkdtemp(join(root, '.build-pack-'));
  try {
    for (const part of PARTS)
      await cp(join(root, part), join(stage, part), {
        recursive: true,
        filter: (file) => !NOT_PACKED.has(basename(file)),
      });
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as RootManifest;
    await writeJson(join(stage, 'package.json'), publishedManifest(manifest));
    return await npmPack(stage, directory, signal);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Without what is for a checkout: workspaces, scripts, sources, and dependencies that are bundled. */
function publishedManifest(manifest: RootManifest): object {
  const { name, version, description, license, type, engines, bin, exports, optionalDependencies } = manifest;
  const published = Object.entries(exports).map(([entry, target]) => {
    if (typeof target === 'string') return [entry, target];
    const { source: _source, ...files } = target;
    return [entry, files];
  });
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    exports: Object.fromEntries(published),
    optionalDependencies,
  };
}
