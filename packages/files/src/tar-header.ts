// The 512-byte header of a tar entry (POSIX ustar, with GNU's binary numbers), for those who read and who write archives.

import { Buffer } from 'node:buffer';

export const BLOCK_BYTES = 512;

/** A field of the header. */
interface Field {
  readonly at: number;
  readonly lengthBytes: number;
}

const NAME: Field = { at: 0, lengthBytes: 100 };
const MODE: Field = { at: 100, lengthBytes: 8 };
const SIZE: Field = { at: 124, lengthBytes: 12 };
const CHECKSUM: Field = { at: 148, lengthBytes: 8 };
const TYPE_AT = 156;
const LINK_NAME: Field = { at: 157, lengthBytes: 100 };
const MAGIC: Field = { at: 257, lengthBytes: 5 };
const PREFIX: Field = { at: 345, lengthBytes: 155 };

/** The fields of a header, without the headers of long names that may precede it. */
export interface TarHeader {
  /** With the ustar prefix. */
  readonly name: string;
  readonly mode: number;
  readonly sizeBytes: number;
  /** The type flag: `0` for a file, `5` for a directory, and so on; a NUL of old archives is `0`. */
  readonly type: string;
  readonly linkName: string;
}

/**
 * @param block 512 bytes
 * @throws RangeError saying why, for a damaged header and for names that are not UTF-8
 */
export function parseHeader(block: Buffer): TarHeader {
  if (checksumOf(block) !== numberField(block, CHECKSUM)) throw new RangeError('a header checksum is wrong');
  const name = textField(block, NAME);
  const prefix = textField(block, MAGIC) === 'ustar' ? textField(block, PREFIX) : '';
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    mode: numberField(block, MODE),
    sizeBytes: numberField(block, SIZE),
    type: block[TYPE_AT] === 0 ? '0' : String.fromCharCode(block[TYPE_AT] ?? 0),
    linkName: textField(block, LINK_NAME),
  };
}

/** The block of a header. Owner and times are 0, so that equal files have equal headers. @throws RangeError for a name that needs a PAX header */
export function headerBlock({ name, mode, sizeBytes, type, linkName }: TarHeader): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  writeText(block, NAME, name);
  writeText(block, LINK_NAME, linkName);
  writeOctal(block, MODE, mode);
  for (const at of [108, 116]) writeOctal(block, { at, lengthBytes: 8 }, 0);
  for (const field of [SIZE, { at: 136, lengthBytes: 12 }]) writeOctal(block, field, 0);
  writeOctal(block, SIZE, sizeBytes);
  block.write(type, TYPE_AT, 'latin1');
  block.write('ustar\x0000', MAGIC.at, 'latin1');
  writeOctal(block, CHECKSUM, checksumOf(block));
  return block;
}

/** Whether a name fits into the field of a header. */
export function fitsHeader(name: string): boolean {
  return Buffer.byteLength(name) <= NAME.lengthBytes;
}

/** The header with another size. */
export function withSize(block: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(block);
  writeOctal(changed, SIZE, sizeBytes);
  writeOctal(changed, CHECKSUM, checksumOf(changed));
  return changed;
}

/** Contents fill whole blocks. */
export function paddedBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Sum of the header's bytes, those of the checksum field counted as spaces. */
function checksumOf(block: Buffer): number {
  const end = CHECKSUM.at + CHECKSUM.lengthBytes;
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= CHECKSUM.at && at < end ? 0x20 : byte;
  return sum;
}

/** @throws RangeError for bytes that are not UTF-8 */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new RangeError(`the name ${JSON.stringify(new TextDecoder().decode(bytes))} is not UTF-8`, {
      cause,
    });
  }
}

function textField(block: Buffer, { at, lengthBytes }: Field): string {
  const field = block.subarray(at, at + lengthBytes);
  const end = field.indexOf(0);
  return utf8(field.subarray(0, end === -1 ? lengthBytes : end));
}

/** Octal digits, or a binary number if the high bit of the first byte is set (GNU, for large files). */
function numberField(block: Buffer, { at, lengthBytes }: Field): number {
  const field = block.subarray(at, at + lengthBytes);
  if (field[0] === 0x80 && field.subarray(1, -6).every((byte) => byte === 0))
    return field.readUIntBE(lengthBytes - 6, 6);
  const digits = /^ *(?<octal>[0-7]*)[ \0]*$/u.exec(field.toString('latin1'))?.groups?.['octal'];
  if (digits === undefined) throw new RangeError('a number field is invalid');
  return Number.parseInt(digits || '0', 8);
}

function writeText(block: Buffer, { at, lengthBytes }: Field, text: string): void {
  if (Buffer.byteLength(text) > lengthBytes) throw new RangeError(`${text} is too long for a header`);
  block.write(text, at);
}

function writeOctal(block: Buffer, { at, lengthBytes }: Field, value: number): void {
  block.write(`${value.toString(8).padStart(lengthBytes - 1, '0')}\0`, at, 'latin1');
}
