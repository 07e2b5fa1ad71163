import { buffer } from 'node:stream/consumers';
import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { invalidArtifact } from './invalid-artifact.ts';

/** A small blob as a whole. @throws OperatorError ARTIFACT_INVALID for one that is larger; errors of the repository */
export async function readBlob(
  repository: Repository,
  descriptor: Descriptor,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  if (descriptor.size > maxBytes)
    throw invalidArtifact(`${descriptor.digest} has more than ${maxBytes} bytes`);
  // A repository ends a blob that is longer than its descriptor says.
  return await buffer(repository.blob(descriptor, signal));
}
