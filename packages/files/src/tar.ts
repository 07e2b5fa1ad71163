// Reads and rewrites tar archives in memory, for charts: helm packages are small, and a library would bring
// streams and extraction that are not needed. Only ustar names and regular files matter; other entries are
// passed through unchanged.

import { Buffer } from 'node:buffer';

const BLOCK_BYTES = 512;

/** A field of the header. */
interface Field {
  readonly at: number;
  readonly lengthBytes: number;
}

const NAME: Field = { at: 0, lengthBytes: 100 };
const SIZE: Field = { at: 124, lengthBytes: 12 };
const CHECKSUM: Field = { at: 148, lengthBytes: 8 };
const TYPE_AT = 156;
const MAGIC: Field = { at: 257, lengthBytes: 5 };
const PREFIX: Field = { at: 345, lengthBytes: 155 };
const REGULAR_FILE: readonly (number | undefined)[] = [0, 0x30];

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
    if (checksumOf(header) !== numberField(header, CHECKSUM))
      throw new RangeError('a header checksum is wrong');
    const sizeBytes = numberField(header, SIZE);
    const start = at + BLOCK_BYTES;
    if (start + sizeBytes > archive.length) throw new RangeError('it ends within a file');
    const end = start + paddedBytes(sizeBytes);
    yield {
      name: nameOf(header),
      isRegularFile: REGULAR_FILE.includes(header[TYPE_AT]),
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
  const changed = Buffer.from(header);
  writeOctal(changed, SIZE, content.length);
  writeOctal(changed, CHECKSUM, checksumOf(changed));
  return Buffer.concat([changed, content], BLOCK_BYTES + paddedBytes(content.length));
}

/** The end mark of an archive: two empty blocks. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK_BYTES);

/** Contents fill whole blocks. */
function paddedBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Sum of the header's bytes, those of the checksum field counted as spaces. */
function checksumOf(header: Buffer): number {
  const end = CHECKSUM.at + CHECKSUM.lengthBytes;
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= CHECKSUM.at && at < end ? 0x20 : byte;
  return sum;
}

function nameOf(header: Buffer): string {
  const name = textField(header, NAME);
  const prefix = textField(header, MAGIC) === 'ustar' ? textField(header, PREFIX) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textField(header: Buffer, { at, lengthBytes }: Field): string {
  const field = header.subarray(at, at + lengthBytes);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? lengthBytes : end);
}

/** Octal digits, or a binary number if the high bit of the first byte is set (GNU, for large files). */
function numberField(header: Buffer, field: Field): number {
  const { at, lengthBytes } = field;
  const isBase256 = ((header[at] ?? 0) & 0x80) !== 0;
  const value = isBase256
    ? header.readUIntBE(at + lengthBytes - 6, 6)
    : Number.parseInt(textField(header, field).trim() || '0', 8);
  if (!Number.isSafeInteger(value)) throw new RangeError('a number field is invalid');
  return value;
}

function writeOctal(header: Buffer, { at, lengthBytes }: Field, value: number): void {
  header.write(`${value.toString(8).padStart(lengthBytes - 1, '0')}\0`, at, 'latin1');
}
