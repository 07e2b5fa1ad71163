// Compiles src/ into dist/ without type checking (the gate does that). Every file appears by rename and the stamp
// comes last, so that several builds at once, and a daemon that is starting, see whole files only.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
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

function compile(into) {
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', into];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) fail(`tsc failed\n${stdout}${stderr}`);
  for (const file of filesIn(source).filter(isAsset)) {
    mkdirSync(dirname(join(into, file)), { recursive: true });
    cpSync(join(source, file), join(into, file));
  }
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
// A neighbour of dist/, so that the paths in the source maps hold after the move.
const workDir = mkdtempSync(join(root, '.build-'));
try {
  compile(workDir);
  publish(workDir);
  const stamp = join(workDir, '.stamp');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
  renameSync(stamp, join(target, '.stamp'));
} finally {
  rmSync(workDir, { recursive: true, force: true });
}
