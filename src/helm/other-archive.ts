import { Buffer } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { asOtherRendering } from './other-rendering.ts';

const BLOCK_BYTES = 512;
const SIZE = { start: 124, length: 12 };
const CHECKSUM = { start: 148, length: 8 };
const TYPE_AT = 156;
const REGULAR_FILE = ['0', '\0'];
const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024;

/** A packed chart (`.tgz`) with the texts of {@link asOtherRendering}; the same one when nothing in it differs or it cannot be read. */
export function archiveAsOtherRendering(packed: Buffer): Buffer {
  try {
    const archive = gunzipSync(packed, { maxOutputLength: MAX_ARCHIVE_BYTES });
    const other = Buffer.concat([...otherParts(archive)]);
    return other.equals(archive) ? packed : gzipSync(other);
  } catch {
    return packed;
  }
}

function* otherParts(archive: Buffer): Generator<Buffer> {
  let at = 0;
  while (at + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    const start = at + BLOCK_BYTES;
    const size = Number.parseInt(textAt(header, SIZE).trim() || '0', 8);
    const end = start + padded(size);
    if (!(end <= archive.length)) throw new RangeError('the archive is cut short');
    const text = archive.toString('latin1', start, start + size);
    const other = isRegularFile(header) ? asOtherRendering(text) : text;
    if (other === text) yield archive.subarray(at, end);
    else {
      yield headerFor(header, other.length);
      yield Buffer.concat([Buffer.from(other, 'latin1')], padded(other.length));
    }
    at = end;
  }
}

function headerFor(header: Buffer, sizeBytes: number): Buffer {
  const changed = Buffer.from(header);
  changed.write(octal(sizeBytes, SIZE.length), SIZE.start, 'latin1');
  changed.fill(' ', CHECKSUM.start, CHECKSUM.start + CHECKSUM.length);
  const sum = changed.reduce((total, byte) => total + byte, 0);
  changed.write(octal(sum, CHECKSUM.length), CHECKSUM.start, 'latin1');
  return changed;
}

function octal(value: number, fieldBytes: number): string {
  return `${value.toString(8).padStart(fieldBytes - 1, '0')}\0`;
}

function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

function isRegularFile(header: Buffer): boolean {
  return REGULAR_FILE.includes(header.toString('latin1', TYPE_AT, TYPE_AT + 1));
}

function textAt(
  header: Buffer,
  { start, length }: { readonly start: number; readonly length: number },
): string {
  return header.toString('latin1', start, start + length).split('\0', 1)[0] ?? '';
}
