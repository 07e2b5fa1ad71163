import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BLOCK_BYTES, fitsHeader, headerBlock, paddedBytes, parseHeader } from './tar-header.ts';
import { readTar } from './tar-reader.ts';

const FILE = { name: 'a', type: '0', mode: 0o755, sizeBytes: 0, linkName: '' };

function archive(...entries: readonly (readonly [header: Buffer, content?: string])[]): Buffer {
  const blocks = entries.flatMap(([header, content = '']) => [
    header,
    Buffer.from(content),
    Buffer.alloc(paddedBytes(Buffer.byteLength(content)) - Buffer.byteLength(content)),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

async function entriesOf(bytes: Buffer, chunkBytes: number): Promise<readonly (readonly [string, string])[]> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const found: (readonly [string, string])[] = [];
  for await (const entry of readTar(Readable.from(chunks))) {
    const parts: Buffer[] = [];
    // Contents of the first entry are skipped.
    if (found.length > 0) for await (const part of entry.content()) parts.push(Buffer.from(part));
    found.push([entry.name, Buffer.concat(parts).toString()]);
  }
  return found;
}

test.each([1, 7, 511, 512, 513, 100_000])(
  'an archive in chunks of %i bytes is read, and contents may be skipped',
  async (chunkBytes) => {
    const long = '11 path=ü\n';
    const bytes = archive(
      [headerBlock({ ...FILE, name: 'skipped', sizeBytes: 600 }), 'x'.repeat(600)],
      [headerBlock({ ...FILE, name: 'PaxHeader', type: 'x', sizeBytes: Buffer.byteLength(long) }), long],
      [headerBlock({ ...FILE, sizeBytes: 3 }), 'abc'],
    );
    expect(await entriesOf(bytes, chunkBytes)).toEqual([
      ['skipped', ''],
      ['ü', 'abc'],
    ]);
  },
);

test('a header is parsed as it was written', () => {
  const header = {
    name: `${'n'.repeat(98)}é`,
    type: '2',
    mode: 0o777,
    sizeBytes: 8_589_934_591,
    linkName: 'target',
  };
  expect(parseHeader(headerBlock(header))).toEqual(header);
  expect(fitsHeader(header.name)).toBe(true);
  expect(fitsHeader(`${header.name}x`)).toBe(false);
  expect(() => headerBlock({ ...header, name: `${header.name}x` })).toThrow('too long for a header');
});

test.each<[string, (block: Buffer) => void, string]>([
  ['a binary size of GNU', (block) => block.fill(0, 124, 136).writeUInt8(0x80, 124), '0'],
  ['a size with spaces', (block) => block.write('        017 ', 124), '15'],
  ['a negative size of GNU', (block) => block.fill(0xff, 124, 136), 'a number field is invalid'],
  [
    'a size beyond all numbers',
    (block) => block.fill(0xff, 124, 136).writeUInt8(0x80, 124),
    'a number field is invalid',
  ],
  ['a size that is no number', (block) => block.write('00000000x17\0', 124), 'a number field is invalid'],
])('the size of a header is read or refused: %s', (_title, change, expected) => {
  const block = headerBlock(FILE);
  change(block);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  expect(sizeIn(block)).toBe(expected);
});

function sizeIn(block: Buffer): string {
  try {
    return String(parseHeader(block).sizeBytes);
  } catch (error) {
    return String(error instanceof RangeError && error.message);
  }
}

test('the source is closed when the reader stops early', async () => {
  let isClosed = false;
  const source = async function* source(): AsyncGenerator<Buffer> {
    try {
      yield await Promise.resolve(archive([headerBlock(FILE)]));
    } finally {
      isClosed = true;
    }
  };
  for await (const entry of readTar(source())) {
    expect(entry.name).toBe('a');
    break;
  }
  expect(isClosed).toBe(true);
});
