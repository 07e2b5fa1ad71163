import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { systemClock } from '../../../src/lib/clock.ts';
import { messageOf } from '../../../src/lib/errors.ts';
import { cacheDirectory } from '../../../src/tools/cache-directory.ts';
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
  const target = join(cacheDirectory(options.env, homedir()), `jq-${JQ_VERSION}`, 'jq');
  if (await isPresent(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const onWait = (pid: number): void => options.onProgress(`waiting for process ${pid}, which builds jq`);
  await withBuildLock(
    `${target}.lock`,
    { clock: systemClock, onWait },
    async () => {
      if (await isPresent(target)) return;
      const startedMs = systemClock.now();
      options.onProgress('building jq from the source archive of a Python package (about a minute)');
      await build(target, signal);
      options.onProgress(`built jq in ${Math.round((systemClock.now() - startedMs) / 1000)} s`);
    },
    signal,
  );
  return target;
}

type Run = (command: string, args: readonly string[], cwd: string) => Promise<void>;

async function build(target: string, signal: AbortSignal): Promise<void> {
  const workDir = await mkdtemp(join(dirname(target), '.build-'));
  const run: Run = async (command, args, cwd) => {
    const child = execa(command, args, { cwd, stdin: 'ignore', cancelSignal: signal });
    if (child.pid !== undefined) setPriority(child.pid, 10);
    await child;
  };
  try {
    for (const tool of ['gcc', 'make', 'pip']) await run(tool, ['--version'], workDir);
    await download(workDir, run);
    await run('tar', ['xzf', basename(SOURCE.archive)], workDir);
    const sources = join(workDir, `jq-${JQ_VERSION}`);
    await run('./configure', CONFIGURE, sources);
    await run('make', ['-j2'], sources);
    await rename(join(sources, 'jq'), target);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/**
 * Puts the archive with jq's sources into the directory. pip asks whichever index this machine is set to, and looks at
 * the digest before it looks into the package.
 */
async function download(workDir: string, run: Run): Promise<void> {
  const { requirement, sha256, archive } = SOURCE;
  await writeFile(join(workDir, 'requirements.txt'), `${requirement} --hash=sha256:${sha256}\n`);
  const options = ['--quiet', '--no-deps', '--no-binary', ':all:', '--require-hashes'];
  await run('pip', ['download', ...options, '-r', 'requirements.txt'], workDir);
  const file = (await readdir(workDir)).find((name) => name.endsWith('.tar.gz'));
  if (file === undefined) throw new Error(`pip download ${requirement} left no archive`);
  await run('tar', ['xzf', file, '--strip-components=2', archive], workDir);
}

/** Path of jq 1.8.2 for tests, undefined where it cannot be had; with `REQUIRE_CLUSTER=1` that is an error. */
export async function jqForTests(): Promise<string | undefined> {
  const onProgress = (message: string): void => console.warn(`tools: ${message}`);
  try {
    return await findJq({ env: process.env, onProgress }, new AbortController().signal);
  } catch (error) {
    if (process.env['REQUIRE_CLUSTER'] === '1') throw error;
    onProgress(`tests with jq ${JQ_VERSION} are skipped: ${messageOf(error)}`);
    return undefined;
  }
}
