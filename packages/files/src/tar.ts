// Reads and rewrites tar archives in memory, for charts: helm packages are small. Only ustar names and regular
// files matter; other entries are passed through unchanged. For archives of others, and for large ones, see tar-reader.ts.

import { Buffer } from 'node:buffer';
import { BLOCK_BYTES, paddedBytes, parseHeader, withSize } from './tar-header.ts';

/** One entry of an archive; all buffers are views of it. */
export interface TarEntry {
  /** With the ustar prefix; extended headers of long names come as entries of their own. */
  readonly name: string;
  readonly isRegularFile: boolean;
  readonly header: Buffer;
  readonly content: Buffer;
  /** Header, content and padding. */
  readonly whole: Buffer;
}

/**
 * The entries of an uncompressed tar archive (ustar names, GNU base-256 sizes), up to its end mark.
 *
 * @throws RangeError saying why, when the archive is damaged or cut short
 */
export function* tarEntries(archive: Buffer): Generator<TarEntry> {
  let at = 0;
  while (at + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    const { name, type, sizeBytes } = parseHeader(header);
    const start = at + BLOCK_BYTES;
    if (start + sizeBytes > archive.length) throw new RangeError('it ends within a file');
    const end = start + paddedBytes(sizeBytes);
    yield {
      name,
      isRegularFile: type === '0',
      header,
      content: archive.subarray(start, start + sizeBytes),
      whole: archive.subarray(at, end),
    };
    at = end;
  }
  throw new RangeError('its end mark is missing');
}

/** The whole entry with another content. */
export function withContent({ header }: TarEntry, content: Buffer): Buffer {
  return Buffer.concat(
    [withSize(header, content.length), content],
    BLOCK_BYTES + paddedBytes(content.length),
  );
}

/** The end mark of an archive: two empty blocks. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK_BYTES);
