import { hasCode } from '@addon-operator/base/errors';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import type { Repository } from '@addon-operator/oci/repository';
import rcompare from 'semver/functions/rcompare.js';
import { promote } from '../../artifacts/push-module.ts';
import { readArtifact } from '../../artifacts/read-artifact.ts';
import { isChannel, signatureTag, taggedVersions } from '../../artifacts/version-tags.ts';
import { textTable } from '../../status/module-explanation.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { inFormat } from '../output/data-format.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { printData } from '../output/print-data.ts';
import { parseRepository, parseVersionReference } from './artifact-reference.ts';
import { openRegistry } from './open-registry.ts';

/** Lets a channel name a version. Returns the exit code. */
export async function promoteCommand(
  text: string,
  channel: string,
  host: CliHost,
  open = openRegistry,
): Promise<number> {
  const { url, reference } = parseVersionReference(text);
  const { digest } = await promote(await open(url, host), reference, channel, host.stopSignal());
  host.stdout.write(harmless(`${url}:${channel} is ${reference} now, ${digest}\n`));
  return 0;
}

interface VersionRow {
  readonly version: string;
  readonly digest: string;
  readonly channels: readonly string[];
  readonly sizeBytes: number;
  readonly signed: boolean;
}

interface VersionsOptions {
  readonly isAll: boolean;
  readonly format: OutputFormat;
}

const NEWEST = 20;
const MAX_REQUESTS = 8;

/** Prints the versions in a repository, the newest first. Returns the exit code. */
export async function versionsCommand(
  text: string,
  { isAll, format }: VersionsOptions,
  host: CliHost,
  open = openRegistry,
): Promise<number> {
  const repository = await open(parseRepository(text), host);
  const namesIn = (data: unknown): readonly string[] =>
    (data as readonly VersionRow[]).map(({ version }) => version);
  return await inFormat(format, host, namesIn, async (chosen, output) => {
    const { rows, hidden } = await versionRows(repository, isAll, host.stopSignal());
    if (chosen === 'json') printData(output, `${JSON.stringify(rows)}\n`);
    else output.stdout.write(harmless(tableOf(rows, format === 'wide')));
    if (hidden > 0) output.stderr.write(`${hidden} older versions are not shown, --all shows them\n`);
    return 0;
  });
}

async function versionRows(
  repository: Repository,
  isAll: boolean,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly VersionRow[]; readonly hidden: number }> {
  const tags = await repository.tags(signal);
  const versions = taggedVersions(tags);
  const shown = versions.slice(0, isAll ? undefined : NEWEST).map(({ tag }) => tag);
  const channels = tags.filter(isChannel);
  const digests = new Map<string, string[]>();
  // A tag may be removed after it was listed.
  for (const { tag, digest } of await mapParallel([...shown, ...channels], MAX_REQUESTS, async (tag) => ({
    tag,
    digest: (await repository.resolve(tag, signal))?.digest,
  })))
    if (digest !== undefined) digests.set(digest, [...(digests.get(digest) ?? []), tag]);
  const rows = await mapParallel([...digests], MAX_REQUESTS, ([digest, names]) =>
    rowOf(repository, digest, names, tags, signal),
  );
  return {
    rows: rows.flatMap((row) => row ?? []).toSorted((a, b) => rcompare(a.version, b.version)),
    hidden: versions.length - shown.length,
  };
}

/** Undefined for what is not a module. */
async function rowOf(
  repository: Repository,
  digest: string,
  names: readonly string[],
  tags: readonly string[],
  signal: AbortSignal,
): Promise<VersionRow | undefined> {
  const tag = names.find((name) => !isChannel(name));
  const channels = names.filter(isChannel).toSorted();
  try {
    const descriptor = { mediaType: '', digest, size: 0 };
    const { facts, layers } = await readArtifact(repository, descriptor, signal, { tag });
    const signed =
      tags.includes(signatureTag(digest)) || (await repository.referrers(digest, signal)).length > 0;
    const sizeBytes = layers.reduce((sum, { size }) => sum + size, 0);
    return { version: facts.version, digest, channels, sizeBytes, signed };
  } catch (error) {
    if (hasCode(error, 'ARTIFACT_INVALID')) return undefined;
    throw error;
  }
}

function tableOf(rows: readonly VersionRow[], isWide: boolean): string {
  const shortDigest = (digest: string): string => (isWide ? digest : digest.slice(0, 'sha256:'.length + 12));
  return textTable([
    ['VERSION', 'DIGEST', 'CHANNELS', 'SIZE', 'SIGNED'],
    ...rows.map(({ version, digest, channels, sizeBytes, signed }) => [
      version,
      shortDigest(digest),
      channels.join(','),
      `${Math.ceil(sizeBytes / 1_024)} KiB`,
      signed ? 'yes' : 'no',
    ]),
  ]);
}
