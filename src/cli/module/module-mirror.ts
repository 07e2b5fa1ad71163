import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { ArtifactCopier, type CopiedArtifact } from '@addon-operator/oci/copy-artifacts';
import type { Repository } from '@addon-operator/oci/repository';
import { isHiddenTag } from '../../artifacts/version-tags.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { type MirrorFlags, type NamedDigest, selectTags } from './mirror-selection.ts';
import { openRegistry } from './open-registry.ts';

const MAX_REQUESTS = 8;
const BYTES_PER_MB = 1_000_000;

/** Copies versions, channels and signatures from one repository to another one. Returns the exit code. */
export async function mirrorCommand(
  source: string,
  target: string,
  flags: MirrorFlags,
  host: CliHost,
  open = openRegistry,
): Promise<number> {
  const signal = host.stopSignal();
  const from = await open(source, host);
  const to = await open(target, host);
  const selected = selectTags(await namedDigests(from, signal), flags);
  const copier = new ArtifactCopier(from, to, signal);
  let missing = 0;
  for (const { tag, digest } of selected) {
    const copied = await copier.copy(digest, tag);
    host.stdout.write(harmless(`${tag} ${lineOf(copied)}\n`));
    missing += copied.missing.length;
    for (const one of copied.missing) {
      host.stderr.write(
        harmless(
          `${tag}: the destination does not list ${one}, which the source lists as a signature of it\n`,
        ),
      );
    }
  }
  host.stdout.write(harmless(`${selected.length} tags of ${from.url} are at ${to.url}\n`));
  return missing === 0 ? 0 : 1;
}

/** By digest: a tag that moves in the meantime is copied as it was. */
async function namedDigests(from: Repository, signal: AbortSignal): Promise<readonly NamedDigest[]> {
  const resolve = async (tag: string): Promise<readonly NamedDigest[]> => {
    const found = await from.resolve(tag, signal);
    return found === undefined ? [] : [{ tag, digest: found.digest }];
  };
  const tags = (await from.tags(signal)).filter((tag) => !isHiddenTag(tag));
  return (await mapParallel(tags, MAX_REQUESTS, resolve)).flat();
}

function lineOf({ digest, sent, sentBytes, referrers }: CopiedArtifact): string {
  const signatures = referrers === 0 ? '' : `, ${referrers} signatures or attestations`;
  const what =
    sent === 0 ? 'unchanged' : `copied, ${sent} parts, ${(sentBytes / BYTES_PER_MB).toFixed(1)} MB`;
  return `${digest} ${what}${signatures}`;
}
