// Builds dist/: every program of src/ as a bundle without dependencies but native ones, which starts in a third of the
// time that 800 single files take, the packages that hook files import, compiled one by one with their types, and the page
// of ui/, where there is one.
// Nothing is type-checked here (the gate does that). Every file appears by rename and the stamp comes last, so that
// several builds at once, and a daemon that is starting, see whole files only.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { compiledValidators } from './compiled-validators.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
const pageSource = join(root, 'ui');
const target = join(root, 'dist');
const lockFile = join(root, 'package-lock.json');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
/** Packages that hook files import from the operator that runs them. */
const HOOK_PACKAGES = ['json', 'sdk'];
/** Packages that the page is made from. */
const PAGE_PACKAGES = ['http-server'];
/** Native code, which stays in node_modules/. */
const NATIVE = ['koffi'];

/** Paths of all files below a directory, relative to it. */
function filesIn(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(directory.length + 1));
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Bundles each program (`main.ts` and every `*-main.ts`) to the place its source has below src/. */
async function bundle(into) {
  const { rolldown } = await import('rolldown');
  const programs = filesIn(source).filter((file) => /(?:^|\/|-)main\.ts$/.test(file));
  const build = await rolldown({
    input: Object.fromEntries(programs.map((file) => [file.slice(0, -'.ts'.length), join(source, file)])),
    platform: 'node',
    external: NATIVE,
    plugins: [compiledValidators(join(root, 'src/hook-config'))],
    logLevel: 'warn',
    onLog(_level, { code, message }) {
      // Else left to be found when the program runs, where there are no packages.
      if (code === 'UNRESOLVED_IMPORT') throw new Error(message);
      console.error(message);
    },
  });
  const { output } = await build.write({
    dir: into,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // The daemon keeps the text of all code that it loads: one character outside of Latin-1 doubles that of its file, and
    // spaces are a third of the rest. Names stay, for stack traces.
    charset: 'ascii',
    comments: false,
    minify: { compress: false, mangle: false, codegen: true },
    plugins: [
      { name: 'built-in-modules', renderChunk: (code) => ({ code: loadedDirectly(code), map: null }) },
    ],
    // It finds dist/ from where it lies itself: one directory below.
    codeSplitting: { groups: [{ name: 'own-code', test: /src\/own-code\.ts$/ }] },
  });
  await build.close();
  for (const { fileName } of output)
    if (fileName.endsWith('.map')) write(join(into, fileName), placesOnly(join(into, fileName)));
  const bundled = output.flatMap((chunk) => chunk.moduleIds ?? []);
  const notices = licences(bundled);
  if (notices !== '') write(join(into, 'THIRD-PARTY-LICENSES.txt'), notices);
  for (const file of filesIn(source).filter((file) => !/\.(?:ts|md)$/.test(file)))
    write(join(into, file), readFileSync(join(source, file)));
}

/** One line, as the bundler writes it: a default import or a namespace, then names. */
const BUILTIN_IMPORT = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{(.*)\})? from "(node:[\w/]+)";$/gm;

/**
 * Takes built-in modules from Node directly. An import statement reads every export of them, and that of `node:http` loads
 * all of undici: 80 ms of CPU. Each statement stays on its line, so that source maps stay right.
 */
function loadedDirectly(code) {
  return code.replace(BUILTIN_IMPORT, (_statement, whole, names, module) => {
    // Not `process`, which a module may import by this name.
    const builtin = `globalThis.process.getBuiltinModule("${module}")`;
    const parts = [whole, names && `{${names.replaceAll(' as ', ': ')}}`].filter(Boolean);
    return `const ${parts.map((part) => `${part} = ${builtin}`).join(', ')};`;
  });
}

/** A source map without the texts of its sources, which are three quarters of it: stack traces need places and names. */
function placesOnly(file) {
  const { sourcesContent: _texts, ...places } = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify(places);
}

/** The licence of each package that files come from; most demand that it goes with every copy. */
function licences(files) {
  const packages = files.map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  const texts = [...new Set(packages)]
    .filter((directory) => directory !== undefined)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((directory) => {
      const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
      const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? '' : `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`;
      return `${name} ${version} (${license})\n${text}`;
    });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Compiles what hook files import, each file by itself: the entry points of the SDK, and packages into node_modules/ of the build. */
async function compileForHooks(into) {
  const names = HOOK_PACKAGES.filter((name) => existsSync(join(root, 'packages', name)));
  if (names.length === 0) return;
  // A neighbour of dist/, so that paths in source maps are as deep as they will be.
  const compiled = mkdtempSync(join(root, '.build-'));
  try {
    const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', compiled];
    await run(process.execPath, args);
    arrange(join(compiled, 'src'), into);
    for (const name of names) {
      const directory = join('packages', name);
      const manifest = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8'));
      const to = join(into, 'node_modules', manifest.name);
      arrange(join(compiled, directory, 'src'), join(to, 'src'));
      write(join(to, 'package.json'), compiledManifest(manifest));
    }
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

async function run(file, args) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(`tsc failed\n${Buffer.concat(output).toString()}`);
}

/** Moves compiled files, each with its source map, which names the source by a relative path. */
function arrange(from, to) {
  for (const file of filesIn(from)) {
    const text = readFileSync(join(from, file), 'utf8');
    write(join(to, file), file.endsWith('.map') ? movedMap(text, join(from, file), join(to, file)) : text);
  }
}

/** The package.json of a package whose entry points are compiled. */
function compiledManifest({ name, version, type, exports }) {
  const compiled = Object.entries(exports).map(([entry, file]) => [entry, file.replace(/\.ts$/, '.js')]);
  return `${JSON.stringify({ name, version, type, exports: Object.fromEntries(compiled) }, undefined, 2)}\n`;
}

/** A source map whose file was moved; both places are as deep as those they represent. */
function movedMap(text, oldPlace, newPlace) {
  const map = JSON.parse(text);
  const sources = map.sources.map((file) => relative(dirname(newPlace), join(dirname(oldPlace), file)));
  return JSON.stringify({ ...map, sources });
}

/** Builds the page into ui/ of the build, each file with a compressed copy, which the operator then need not make. */
async function buildPage(into) {
  const { build } = await import('vite');
  const directory = join(into, 'ui');
  const { output } = await build({
    configFile: join(pageSource, 'vite.config.mjs'),
    logLevel: 'warn',
    build: { outDir: directory, emptyOutDir: false },
  });
  const bundled = output.flatMap((chunk) => chunk.moduleIds ?? []);
  write(join(directory, 'THIRD-PARTY-LICENSES.txt'), licences(bundled));
  for (const file of filesIn(directory))
    write(join(directory, `${file}.gz`), gzipSync(readFileSync(join(directory, file)), { level: 9 }));
  const stamp = join(directory, '.stamp');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}

/** Whether the page was built after the last change: of the rest it depends on one package, and on types. */
function isPageBuilt() {
  const stamp = statSync(join(target, 'ui/.stamp'), { throwIfNoEntry: false });
  if (stamp === undefined) return false;
  const directories = [pageSource, ...PAGE_PACKAGES.map((name) => join(root, 'packages', name, 'src'))];
  const sources = directories.flatMap((from) => filesIn(from).map((file) => join(from, file)));
  return [...sources, lockFile].every((file) => statSync(file).mtimeMs < stamp.mtimeMs);
}

/** Moves the finished build over the last one, and removes what is not part of it any more. */
function publish(from, isKept) {
  const built = filesIn(from);
  // Programs and pages last: what they import is there by then.
  const depth = (file) => Number(!/^chunks\/|^ui\/assets\//.test(file));
  for (const file of built.toSorted((a, b) => depth(a) - depth(b))) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    renameSync(join(from, file), join(target, file));
  }
  const kept = new Set([...built, '.stamp']);
  for (const file of filesIn(target).filter((file) => !kept.has(file) && !isKept(file)))
    rmSync(join(target, file), { force: true });
}

/** The pages of the documentation in one file, for `mcp` where there is no checkout. */
function collectDocs(into) {
  const directory = join(root, 'docs');
  if (!existsSync(directory)) return;
  const pages = filesIn(directory).filter((file) => file.endsWith('.md'));
  const texts = pages.toSorted().map((file) => [file, readFileSync(join(directory, file), 'utf8')]);
  write(join(into, 'docs.json'), JSON.stringify(Object.fromEntries(texts)));
}

const startedAt = new Date();
mkdirSync(target, { recursive: true });
const workDir = mkdtempSync(join(root, '.build-'));
try {
  if (!existsSync(compiler)) throw new Error(`the compiler is not installed, run 'npm ci' in ${root}`);
  const hasPage = existsSync(pageSource);
  const isPageKept = hasPage && isPageBuilt();
  const parts = await Promise.allSettled([
    bundle(workDir),
    compileForHooks(workDir),
    hasPage && !isPageKept && buildPage(workDir),
  ]);
  for (const { status, reason } of parts) if (status === 'rejected') throw reason;
  collectDocs(workDir);
  publish(workDir, (file) => isPageKept && file.startsWith('ui/'));
  const stamp = join(workDir, '.stamp');
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
  renameSync(stamp, join(target, '.stamp'));
} catch (error) {
  // Not at once: the directory is to be removed.
  process.exitCode = 1;
  console.error(`build: ${error.message}`);
} finally {
  rmSync(workDir, { recursive: true, force: true });
}
