import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, setPriority } from 'node:os';
import { basename, join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { execa } from 'execa';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { withBuildLock } from '../control-plane/build-lock.ts';
import { isPresent } from '../control-plane/go-programs.ts';
import type { FindOptions } from '../control-plane/programs.ts';

/** The jq that the built-in engine is held against. */
export const JQ_VERSION = '1.8.2';

/** The Python package whose source archive carries the sources of jq. */
const SOURCE = {
  requirement: 'jq==1.13.0',
  sha256: 'e62bdddeab3b8a0a404581a7bb6f1e8c4cc6082280870031f746074f4cac52c0',
  archive: `jq-1.13.0/deps/jq-${JQ_VERSION}.tar.gz`,
};
const CONFIGURE = [
  '--disable-docs',
  '--with-oniguruma=builtin',
  '--disable-maintainer-mode',
  '--enable-all-static',
  '--disable-shared',
];

/** Path of jq 1.8.2: the cached one, else built here (about a minute). Throws when neither works, and says why. */
export async function findJq(options: FindOptions, signal: AbortSignal): Promise<string> {
  return await findPart(
    'jq',
    'building jq from the source archive of a Python package (about 60 s)',
    options,
    signal,
  );
}

/** The directory with jq's own test files: the cached one, else downloaded. Throws when neither works, and says why. */
export async function findJqTests(options: FindOptions, signal: AbortSignal): Promise<string> {
  return await findPart('tests', 'downloading the test files of jq', options, signal);
}

type Part = 'jq' | 'tests';

/** Path of a part of jq in the cache; it is put there if it is missing. */
async function findPart(
  part: Part,
  work: string,
  options: FindOptions,
  signal: AbortSignal,
): Promise<string> {
  const directory = join(cacheDirectory(options.env, homedir()), `jq-${JQ_VERSION}`);
  const target = join(directory, part);
  if (await isPresent(target)) return target;
  await mkdir(directory, { recursive: true });
  const onWait = (pid: number): void => options.onProgress(`waiting for process ${pid}: ${work}`);
  await withBuildLock(
    `${target}.lock`,
    { clock: systemClock, onWait },
    async () => {
      if (await isPresent(target)) return;
      const startedMs = systemClock.steadyMs();
      options.onProgress(work);
      await withSources(directory, signal, async (sources, run) => {
        if (part === 'jq') await build(sources, run);
        await rename(join(sources, part), target);
      });
      options.onProgress(`done after ${Math.round((systemClock.steadyMs() - startedMs) / 1000)} s: ${work}`);
    },
    signal,
  );
  return target;
}

type Run = (command: string, args: readonly string[], cwd: string) => Promise<void>;

/** Calls `use` with the unpacked sources of jq, which are removed afterwards. */
async function withSources(
  directory: string,
  signal: AbortSignal,
  use: (sources: string, run: Run) => Promise<void>,
): Promise<void> {
  const workDir = await mkdtemp(join(directory, '.build-'));
  const run: Run = async (command, args, cwd) => {
    const child = execa(command, args, { cwd, stdin: 'ignore', cancelSignal: signal });
    if (child.pid !== undefined) setPriority(child.pid, 10);
    await child;
  };
  try {
    await download(workDir, run);
    await run('tar', ['xzf', basename(SOURCE.archive)], workDir);
    await use(join(workDir, `jq-${JQ_VERSION}`), run);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function build(sources: string, run: Run): Promise<void> {
  for (const tool of ['gcc', 'make']) await run(tool, ['--version'], sources);
  await run('./configure', CONFIGURE, sources);
  await run('make', ['-j2'], sources);
}

/**
 * Puts the archive with jq's sources into the directory. pip asks whichever index this machine is set to, and looks at
 * the digest before it looks into the package.
 */
async function download(workDir: string, run: Run): Promise<void> {
  const { requirement, sha256, archive } = SOURCE;
  await writeFile(join(workDir, 'requirements.txt'), `${requirement} --hash=sha256:${sha256}\n`);
  const options = ['--quiet', '--no-deps', '--no-binary', 'jq', '--require-hashes'];
  await run('pip', ['download', ...options, '-r', 'requirements.txt'], workDir);
  const file = (await readdir(workDir)).find((name) => name.endsWith('.tar.gz'));
  if (file === undefined) throw new Error(`pip download ${requirement} left no archive`);
  await run('tar', ['xzf', file, '--strip-components=2', archive], workDir);
}

/** Path of jq 1.8.2 for tests, undefined where it cannot be had; with `REQUIRE_CLUSTER=1` that is an error. */
export async function jqForTests(): Promise<string | undefined> {
  return await orSkipped(findJq, `tests with jq ${JQ_VERSION}`);
}

/** The directory with jq's own test files, undefined where it cannot be had; with `REQUIRE_CLUSTER=1` that is an error. */
export async function jqTestFiles(): Promise<string | undefined> {
  return await orSkipped(findJqTests, `the test files of jq ${JQ_VERSION}`);
}

async function orSkipped(find: typeof findJq, skipped: string): Promise<string | undefined> {
  const onProgress = (message: string): void => console.warn(`tools: ${message}`);
  try {
    return await find({ env: process.env, onProgress }, new AbortController().signal);
  } catch (error) {
    if (process.env['REQUIRE_CLUSTER'] === '1') throw error;
    onProgress(`${skipped} are skipped: ${messageOf(error)}`);
    return undefined;
  }
}
