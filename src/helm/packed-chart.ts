import type { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';

/** More than any chart has. */
const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024;

/** The tar archive in a packed chart (`.tgz`). @throws what zlib says when it is damaged or too large */
export function unpackChart(packed: Buffer): Buffer {
  return gunzipSync(packed, { maxOutputLength: MAX_ARCHIVE_BYTES });
}
