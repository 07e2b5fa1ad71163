/** Reads manifest and signature of a module, with limits, and defers the reading of its content. */

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isMissingFile } from '@addon-operator/files/missing-file';
import type { Candidate, CandidateContent } from './authorization-policy.ts';
import { contentDigest } from './content-manifest.ts';
import {
  MANIFEST_FILE,
  type ReadContentOptions,
  readContent,
  refused,
  SIGNATURE_FILE,
} from './module-content.ts';

const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;
const MAX_SIGNATURE_BYTES = 64 * 1024;

/**
 * A module with its signature; its content is copied when it is read, if requested.
 *
 * @param signal also ends the reading of the content
 * @throws OperatorError MODULE_UNAUTHORIZED for a signature that cannot be read
 */
export async function readCandidate(
  name: string,
  directory: string,
  options: ReadContentOptions,
  signal: AbortSignal,
): Promise<Candidate> {
  const manifest = await readBeside(join(directory, MANIFEST_FILE), MAX_MANIFEST_BYTES);
  const signature = await readBeside(join(directory, SIGNATURE_FILE), MAX_SIGNATURE_BYTES);
  const read = async (): Promise<CandidateContent> => {
    const files = await readContent(directory, options, signal);
    return { files, digest: contentDigest({ name, files }) };
  };
  let content: Promise<CandidateContent> | undefined;
  return { name, manifest, signature, content: () => (content ??= read()) };
}

/** Without waiting for the writer of a pipe, without following a link, and without more memory than the limit. */
async function readBeside(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw refused(`${path} is not a file`);
    const bytes = await buffer(file.createReadStream({ end: maxBytes, autoClose: false }));
    if (bytes.length > maxBytes) throw refused(`${path} has more than ${maxBytes} bytes`);
    return bytes;
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
    throw refused(`${path} cannot be read: ${cause.message}`, cause);
  }
}
