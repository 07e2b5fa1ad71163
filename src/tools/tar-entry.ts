import { Buffer } from 'node:buffer';
import { OperatorError } from '../lib/errors.ts';

const BLOCK_BYTES = 512;
const CHECKSUM_AT = 148;
const CHECKSUM_END = 156;

/**
 * The content of one regular file in an uncompressed tar archive (ustar names, GNU base-256 sizes; no long-name
 * extensions), or undefined when the archive has no such file.
 *
 * @throws OperatorError TOOL_UNAVAILABLE when the archive is damaged or cut short
 */
export function tarEntry(archive: Buffer, path: string): Buffer | undefined {
  let at = 0;
  while (at + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return undefined;
    if (checksumOf(header) !== numberField(header, CHECKSUM_AT, 8))
      throw damaged('a header checksum is wrong');
    const sizeBytes = numberField(header, 124, 12);
    const start = at + BLOCK_BYTES;
    if (start + sizeBytes > archive.length) throw damaged('it ends within a file');
    if (isRegularFile(header) && nameOf(header) === path) return archive.subarray(start, start + sizeBytes);
    at = start + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  throw damaged('its end mark is missing');
}

/** Sum of the header's bytes, those of the checksum field counted as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= CHECKSUM_AT && at < CHECKSUM_END ? 0x20 : byte;
  return sum;
}

function isRegularFile(header: Buffer): boolean {
  const typeFlag = header[156];
  return typeFlag === 0 || typeFlag === 0x30;
}

function nameOf(header: Buffer): string {
  const name = textField(header, 0, 100);
  const prefix = textField(header, 257, 5) === 'ustar' ? textField(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textField(header: Buffer, at: number, lengthBytes: number): string {
  const field = header.subarray(at, at + lengthBytes);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? lengthBytes : end);
}

function numberField(header: Buffer, at: number, lengthBytes: number): number {
  const isBase256 = ((header[at] ?? 0) & 0x80) !== 0;
  const value = isBase256
    ? header.readUIntBE(at + lengthBytes - 6, 6)
    : Number.parseInt(textField(header, at, lengthBytes).trim() || '0', 8);
  if (!Number.isSafeInteger(value)) throw damaged('a number field is unreadable');
  return value;
}

function damaged(detail: string): OperatorError {
  return new OperatorError('TOOL_UNAVAILABLE', `Cannot read the tar archive: ${detail}`);
}
