import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { execa } from 'execa';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { withBuildLock } from '../control-plane/build-lock.ts';
import type { FindOptions } from '../control-plane/programs.ts';

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

/**
 * Prometheus and promtool: the cached ones, else from the Debian package, which is unpacked and not installed. Throws where
 * neither works, and says why.
 */
export async function findPrometheus(options: FindOptions, signal: AbortSignal): Promise<PrometheusPrograms> {
  const directory = join(cacheDirectory(options.env, homedir()), 'prometheus');
  const programs = {
    prometheus: join(directory, 'usr/bin/prometheus'),
    promtool: join(directory, 'usr/bin/promtool'),
  };
  if (await isThere(programs)) return programs;
  await mkdir(join(directory, '..'), { recursive: true });
  const onWait = (pid: number): void =>
    options.onProgress(`waiting for process ${pid}, which downloads Prometheus`);
  await withBuildLock(
    `${directory}.lock`,
    { clock: systemClock, onWait },
    async () => {
      if (await isThere(programs)) return;
      options.onProgress('downloading Prometheus from the Debian archive (19 MB)');
      await unpack(directory, signal);
      options.onProgress('downloaded Prometheus');
    },
    signal,
  );
  return programs;
}

async function isThere({ prometheus, promtool }: PrometheusPrograms): Promise<boolean> {
  const found = await Promise.allSettled([access(prometheus), access(promtool)]);
  return found.every(({ status }) => status === 'fulfilled');
}

/** The lists of packages are kept apart from those of the system, which only root may bring up to date. */
async function unpack(directory: string, signal: AbortSignal): Promise<void> {
  const workDir = await mkdtemp(join(directory, '..', '.prometheus-'));
  const run = async (command: string, ...args: readonly string[]): Promise<void> => {
    await execa(command, args, { cwd: workDir, stdin: 'ignore', cancelSignal: signal });
  };
  try {
    await mkdir(join(workDir, 'lists/partial'), { recursive: true });
    await mkdir(join(workDir, 'archives/partial'), { recursive: true });
    const own = [
      '-o',
      `Dir::State::lists=${workDir}/lists`,
      '-o',
      `Dir::Cache=${workDir}`,
      '-o',
      'APT::Sandbox::User=',
    ];
    await run('apt-get', '-qq', ...own, 'update');
    await run('apt-get', '-qq', ...own, 'download', 'prometheus');
    const archive = (await readdir(workDir)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get download prometheus left no package');
    await run('dpkg', '-x', archive, 'unpacked');
    await rm(directory, { recursive: true, force: true });
    await rename(join(workDir, 'unpacked'), directory);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** For tests: undefined where there is no Prometheus; with `REQUIRE_CLUSTER=1` that is an error. */
export async function prometheusForTests(): Promise<PrometheusPrograms | undefined> {
  const onProgress = (message: string): void => console.warn(`tools: ${message}`);
  try {
    return await findPrometheus({ env: process.env, onProgress }, new AbortController().signal);
  } catch (error) {
    if (process.env['REQUIRE_CLUSTER'] === '1') throw error;
    onProgress(`tests with Prometheus are skipped: ${messageOf(error)}`);
    return undefined;
  }
}
