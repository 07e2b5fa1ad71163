import type { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { tarEntries } from '@addon-operator/files/tar';

const inflate = promisify(inflateRaw);

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_RECORD = 0x06054b50;
const END_RECORD_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const STORED = 0;
const DEFLATED = 8;

/**
 * The content of one file in a zip archive, its CRC checked, or undefined when the archive has no such file.
 * Knows stored and deflated files; no encryption, no archives or files beyond 4 GiB.
 *
 * @throws OperatorError TOOL_UNAVAILABLE when the archive is damaged or uses what is not supported
 */
export async function zipEntry(archive: Buffer, path: string): Promise<Buffer | undefined> {
  try {
    const entry = findEntry(archive, path);
    return entry === undefined ? undefined : await contentOf(archive, entry);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw damaged('an offset or a compressed stream is wrong', error);
  }
}

interface Entry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly sizeBytes: number;
  readonly headerAt: number;
}

function findEntry(archive: Buffer, path: string): Entry | undefined {
  const end = endRecordAt(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== CENTRAL_HEADER) throw damaged('its directory is unreadable');
    const nameBytes = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === path) {
      return {
        isEncrypted: (archive.readUInt16LE(at + 8) & 1) !== 0,
        method: archive.readUInt16LE(at + 10),
        crc: archive.readUInt32LE(at + 16),
        compressedBytes: archive.readUInt32LE(at + 20),
        sizeBytes: archive.readUInt32LE(at + 24),
        headerAt: archive.readUInt32LE(at + 42),
      };
    }
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

/** The end record lies last, followed only by a comment of at most 64 KiB. */
function endRecordAt(archive: Buffer): number {
  const lowest = Math.max(0, archive.length - END_RECORD_BYTES - MAX_COMMENT_BYTES);
  for (let at = archive.length - END_RECORD_BYTES; at >= lowest; at -= 1) {
    if (archive.readUInt32LE(at) === END_RECORD) return at;
  }
  throw damaged('its directory is missing');
}

async function contentOf(archive: Buffer, entry: Entry): Promise<Buffer> {
  if (entry.isEncrypted || (entry.method !== STORED && entry.method !== DEFLATED)) {
    throw damaged('it is encrypted or compressed in an unknown way');
  }
  const at = entry.headerAt;
  if (archive.readUInt32LE(at) !== LOCAL_HEADER) throw damaged('a file header is unreadable');
  const start = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const packed = archive.subarray(start, start + entry.compressedBytes);
  const content =
    entry.method === STORED ? packed : await inflate(packed, { maxOutputLength: entry.sizeBytes || 1 });
  if (content.length !== entry.sizeBytes || crc32(content) !== entry.crc) {
    throw damaged('the content of a file does not match its checksum');
  }
  return content;
}

function damaged(detail: string, cause?: unknown): OperatorError {
  return new OperatorError('TOOL_UNAVAILABLE', `Cannot read the zip archive: ${detail}`, { cause });
}

/**
 * The content of one regular file in an uncompressed tar archive, or undefined when the archive has no such file.
 *
 * @throws OperatorError TOOL_UNAVAILABLE when the archive is damaged or cut short
 */
export function tarEntry(archive: Buffer, path: string): Buffer | undefined {
  try {
    for (const { name, isRegularFile, content } of tarEntries(archive))
      if (isRegularFile && name === path) return content;
    return undefined;
  } catch (cause) {
    throw new OperatorError('TOOL_UNAVAILABLE', `Cannot read the tar archive: ${messageOf(cause)}`, {
      cause,
    });
  }
}
