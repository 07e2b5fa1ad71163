import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { execa } from 'execa';

const root = resolve(import.meta.dirname, '..');
const SCOPE = '@addon-operator/';

/** Packages for others, each with the parts of this repository and the packages of others that it takes along. */
export const PACKAGES = {
  sdk: { node: '>=20', parts: ['json'], others: [] },
  'kube-sandbox': {
    node: '>=24',
    parts: ['base', 'json', 'kube-client', 'strings'],
    others: ['js-yaml', 'argparse'],
  },
} as const satisfies Readonly<
  Record<
    string,
    { readonly node: string; readonly parts: readonly string[]; readonly others: readonly string[] }
  >
>;

/** Entry points of a part that others take along, where it is not all of them. */
const TAKEN_ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'kube-client': ['./api-refusal', './kube-client'],
};

export type PackageName = keyof typeof PACKAGES;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
}

/**
 * Packs a package with what it needs: compiled, with types and source maps, and without dependencies that npm would have
 * to fetch.
 *
 * @returns the archive in `directory`
 */
export async function packPackage(
  name: PackageName,
  directory: string,
  signal: AbortSignal,
): Promise<string> {
  const work = await mkdtemp(join(root, '.build-pack-'));
  try {
    const compiled = join(work, 'compiled');
    await compile(name, compiled, work, signal);
    const stage = join(work, 'package');
    const { parts, others, node } = PACKAGES[name];
    const manifest = await manifestOf(name);
    await placeCompiled(compiled, name, stage);
    const bundled = [...parts.map((part) => `${SCOPE}${part}`), ...others];
    const versions = await Promise.all(
      bundled.map(async (each) => [each, await installedVersion(each)] as const),
    );
    for (const part of parts) {
      const target = join(stage, 'node_modules', `${SCOPE}${part}`);
      await placeCompiled(compiled, part, target);
      await writeJson(join(target, 'package.json'), entryManifest(await manifestOf(part)));
    }
    for (const other of others)
      await cp(join(root, 'node_modules', other), join(stage, 'node_modules', other), { recursive: true });
    await writeJson(join(stage, 'package.json'), {
      ...entryManifest(manifest),
      description: manifest.description,
      license: manifest.license,
      engines: { node },
      dependencies: Object.fromEntries(versions),
      bundleDependencies: bundled,
    });
    await cp(join(root, 'packages', name, 'README.md'), join(stage, 'README.md'));
    await cp(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    return await npmPack(stage, directory, signal);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function manifestOf(name: string): Promise<Manifest> {
  const text = await readFile(join(root, 'packages', name, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  const taken = TAKEN_ENTRIES[name] ?? Object.keys(manifest.exports);
  const entries = Object.entries(manifest.exports).filter(([entry]) => taken.includes(entry));
  return { ...manifest, exports: Object.fromEntries(entries) };
}

async function installedVersion(name: string): Promise<string> {
  const file = join(root, 'node_modules', name, 'package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as Manifest).version;
}

/** The fields of a package.json that lead from a name to compiled files. */
function entryManifest({ name, version, exports }: Manifest): object {
  const entries = Object.entries(exports).map(([entry, file]) => {
    const base = file.replace(/\.ts$/, '');
    return [entry, { types: `${base}.d.ts`, default: `${base}.js` }];
  });
  return { name, version, type: 'module', exports: Object.fromEntries(entries) };
}

async function entryFiles(name: string): Promise<readonly string[]> {
  return Object.values((await manifestOf(name)).exports).map((file) => join(root, 'packages', name, file));
}

/** The compiler writes nothing for what it finds through node_modules/, so the files of parts are named. */
async function filesOfPart(name: string): Promise<readonly string[]> {
  if (TAKEN_ENTRIES[name] !== undefined) return await entryFiles(name);
  const directory = join(root, 'packages', name, 'src');
  const files = await readdir(directory);
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(directory, file));
}

async function compile(name: PackageName, into: string, work: string, signal: AbortSignal): Promise<void> {
  const files = await Promise.all([entryFiles(name), ...PACKAGES[name].parts.map(filesOfPart)]);
  const config = join(work, 'tsconfig.json');
  await writeJson(config, {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      target: 'esnext',
      rootDir: root,
      outDir: into,
      declaration: true,
      sourceMap: true,
      inlineSources: true,
      noCheck: true,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: files.flat(),
  });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await execa(process.execPath, [compiler, '-p', config], { cwd: root, cancelSignal: signal, all: true });
}

/** Moves the compiled files of one package of the repository to where it is found as a package. */
async function placeCompiled(compiled: string, name: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await rename(join(compiled, 'packages', name, 'src'), join(target, 'src'));
}

export async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

export async function npmPack(stage: string, directory: string, signal: AbortSignal): Promise<string> {
  await mkdir(directory, { recursive: true });
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(directory)];
  const { stdout } = await execa('npm', args, { cwd: stage, cancelSignal: signal });
  return join(directory, stdout.trim());
}
