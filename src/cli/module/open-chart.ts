import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { readArtifact } from '../../artifacts/read-artifact.ts';
import { unpackArchive } from '../../artifacts/unpack-archive.ts';
import { unpackArtifact } from '../../artifacts/unpack-artifact.ts';
import type { CliHost } from '../cli-host.ts';
import { parseVersionReference } from './artifact-reference.ts';
import { openRegistry } from './open-registry.ts';

/** A chart in a directory, until it is disposed of. */
export interface OpenChart extends AsyncDisposable {
  readonly directory: string;
}

/**
 * Makes a chart available as a directory: a directory itself, an archive as `helm package` writes it, or a version in a
 * registry.
 *
 * @throws OperatorError CONFIG_INVALID for a path that does not exist; errors of archives and registries
 */
export async function openChart(from: string, host: CliHost, open = openRegistry): Promise<OpenChart> {
  const signal = host.stopSignal();
  const isReference = /^oci(?:-layout)?:\/\//u.test(from);
  const path = resolve(host.cwd, from);
  const entry = isReference ? undefined : await stat(path).catch(() => undefined);
  if (entry?.isDirectory() === true) return { directory: path, [Symbol.asyncDispose]: async () => undefined };
  if (!isReference && entry === undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      `there is no ${path}: name the directory of a chart, an archive of helm package, or oci://HOST/NAME:VERSION`,
    );
  const directory = await mkdtemp(join(tmpdir(), 'chart-'));
  const opened = {
    directory,
    [Symbol.asyncDispose]: async () => await rm(directory, { recursive: true, force: true }),
  };
  try {
    if (!isReference) await unpackArchive(path, directory, signal);
    else await pullChart(from, directory, host, open);
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

async function pullChart(
  from: string,
  directory: string,
  host: CliHost,
  open: typeof openRegistry,
): Promise<void> {
  const signal = host.stopSignal();
  const { url, reference } = parseVersionReference(from);
  const repository = await open(url, host);
  const descriptor = await repository.resolve(reference, signal);
  if (descriptor === undefined) throw new OperatorError('REGISTRY_NOT_FOUND', `${url} has no ${reference}`);
  const artifact = await readArtifact(repository, descriptor, signal, { tag: reference });
  await unpackArtifact(repository, artifact, directory, signal);
}
