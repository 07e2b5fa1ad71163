/** Pushes artifacts, and names those that are there. */

import { OperatorError } from '@addon-operator/base/errors';
import type { Descriptor, WritableRepository } from '@addon-operator/oci/repository';
import { isTag } from '@addon-operator/oci/repository-url';
import type { PackedModule } from './pack-module.ts';
import { isHiddenTag, tagOfVersion, versionOfTag } from './version-tags.ts';

export interface PushOutcome {
  /** Of the manifest. */
  readonly digest: string;
  /** Whether bytes were sent: the registry did not have it all. */
  readonly sent: boolean;
}

/**
 * Pushes a module under the tag of its version and under channels. What the registry has is not sent.
 *
 * @throws OperatorError REQUEST_REFUSED if the version exists with other content; errors of the repository
 */
export async function pushPacked(
  { version, manifest, layer, config }: PackedModule,
  repository: WritableRepository,
  channels: readonly string[],
  signal: AbortSignal,
): Promise<PushOutcome> {
  for (const channel of channels) refuseVersion(channel);
  await repository.prepare();
  const tag = tagOfVersion(version);
  const { digest } = manifest.descriptor;
  const there = await repository.resolve(tag, signal);
  if (there !== undefined && there.digest !== digest)
    throw new OperatorError(
      'REQUEST_REFUSED',
      `${repository.url}:${tag} has other content, ${there.digest}: a version never changes; raise the version of the module, or pass another one with --version`,
    );
  let sent = false;
  for (const blob of [layer, config]) if (await repository.pushBlob(blob, signal)) sent = true;
  for (const name of [tag, ...channels])
    if (await repository.pushManifest(manifest, name, signal)) sent = true;
  return { digest, sent };
}

/**
 * Lets a channel name a manifest that is there.
 *
 * @returns what the channel names now
 * @throws OperatorError REQUEST_REFUSED for a channel that is named like a version; REGISTRY_NOT_FOUND; errors of the repository
 */
export async function promote(
  repository: WritableRepository,
  reference: string,
  channel: string,
  signal: AbortSignal,
): Promise<Descriptor> {
  refuseVersion(channel);
  const found = await repository.resolve(reference, signal);
  if (found === undefined)
    throw new OperatorError('REGISTRY_NOT_FOUND', `${repository.url} has no ${reference}`);
  await repository.pushManifest(await repository.manifest(found.digest, signal), channel, signal);
  return found;
}

function refuseVersion(channel: string): void {
  if (versionOfTag(channel) !== undefined)
    throw new OperatorError(
      'REQUEST_REFUSED',
      `${channel} is a version, not a channel: tags of versions never move`,
    );
  if (!isTag(channel) || isHiddenTag(channel))
    throw new OperatorError(
      'REQUEST_REFUSED',
      `${JSON.stringify(channel)} cannot be a channel: use letters, digits, ".", "_" and "-"`,
    );
}
