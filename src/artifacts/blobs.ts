import type { Descriptor, Repository } from '@addon-operator/oci/repository';
import { invalidArtifact } from './invalid-artifact.ts';

/** A small blob as a whole. @throws OperatorError ARTIFACT_INVALID for one that is larger; errors of the repository */
export async function readBlob(
  repository: Repository,
  descriptor: Descriptor,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const tooLarge = () => invalidArtifact(`${descriptor.digest} has more than ${maxBytes} bytes`);
  if (descriptor.size > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of repository.blob(descriptor, signal)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
