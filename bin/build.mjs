// Compiles src/ into dist/, and the packages of the workspace into dist/node_modules/, without type checking (the gate
// does that). Node finds a package there before it looks into node_modules/, which leads to the sources, so dist/ runs
// wherever it is copied to. Every file appears by rename and the stamp comes last, so that several builds at once, and
// a daemon that is starting, see whole files only.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = join(root, 'dist');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}

/** Paths of all files below a directory, relative to it. */
function filesIn(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(directory.length + 1));
}

function isAsset(file) {
  return !file.endsWith('.ts') && !file.endsWith('.md');
}

/** The directories of sources, relative to the root, and where each belongs in dist/. */
function sourceDirectories() {
  const packages = join(root, 'packages');
  const names = existsSync(packages) ? readdirSync(packages) : [];
  const manifests = names.map((name) => join('packages', name, 'package.json'));
  return [
    { from: 'src', to: '' },
    ...manifests
      .filter((file) => existsSync(join(root, file)))
      .map((file) => {
        const { name } = JSON.parse(readFileSync(join(root, file), 'utf8'));
        return { from: join(dirname(file), 'src'), to: join('node_modules', name, 'src'), manifest: file };
      }),
  ];
}

/** Compiles into a directory of its own, in which the files lie as in the root. */
function compile(into) {
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', into];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) fail(`tsc failed\n${stdout}${stderr}`);
}

/** Puts what was compiled from one directory where it belongs, with the files that need no compiler. */
function arrange(compiled, { from, to, manifest }, into) {
  const write = (file, text) => {
    mkdirSync(dirname(join(into, to, file)), { recursive: true });
    writeFileSync(join(into, to, file), text);
  };
  for (const file of filesIn(join(compiled, from))) {
    const text = readFileSync(join(compiled, from, file), 'utf8');
    write(
      file,
      file.endsWith('.map') ? movedMap(text, join(compiled, from, file), join(into, to, file)) : text,
    );
  }
  for (const file of filesIn(join(root, from)).filter(isAsset))
    write(file, readFileSync(join(root, from, file)));
  if (manifest !== undefined) write('../package.json', compiledManifest(manifest));
}

/** A source map whose file was moved; both places are as deep as those they stand for. */
function movedMap(text, oldPlace, newPlace) {
  const map = JSON.parse(text);
  const sources = map.sources.map((source) => relative(dirname(newPlace), join(dirname(oldPlace), source)));
  return JSON.stringify({ ...map, sources });
}

/** The package.json of a package whose entry points are compiled. */
function compiledManifest(file) {
  const { name, version, type, exports } = JSON.parse(readFileSync(join(root, file), 'utf8'));
  const compiled = Object.entries(exports).map(([entry, target]) => [entry, target.replace(/\.ts$/, '.js')]);
  return `${JSON.stringify({ name, version, type, exports: Object.fromEntries(compiled) }, undefined, 2)}\n`;
}

/** Moves the finished build over the last one, and removes what is not part of it any more. */
function publish(from) {
  const built = filesIn(from);
  for (const file of built) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    renameSync(join(from, file), join(target, file));
  }
  const kept = new Set([...built, '.stamp']);
  for (const file of filesIn(target).filter((file) => !kept.has(file))) {
    rmSync(join(target, file), { force: true });
  }
}

if (!existsSync(compiler)) fail(`the compiler is not installed, run 'npm ci' in ${root}`);
const startedAt = new Date();
mkdirSync(target, { recursive: true });
// Neighbours of dist/, so that the paths in the source maps hold after the move.
const compiled = mkdtempSync(join(root, '.build-'));
const workDir = mkdtempSync(join(root, '.build-'));
try {
  compile(compiled);
  for (const directory of sourceDirectories()) arrange(compiled, directory, workDir);
  publish(workDir);
  const stamp = join(workDir, '.stamp');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
  renameSync(stamp, join(target, '.stamp'));
} finally {
  for (const directory of [compiled, workDir]) rmSync(directory, { recursive: true, force: true });
}
