// Reads tar archives of strangers as a stream, with a few blocks in memory. It is strict: what two readers could
// understand in two ways (sparse files, sizes of global headers, a second archive behind the end mark) is refused.

import { Buffer } from 'node:buffer';
import { BLOCK_BYTES, paddedBytes, parseHeader, type TarHeader, utf8 } from './tar-header.ts';

/** An entry of a streamed archive. */
export interface StreamedEntry {
  /** As it is written in the archive: it may be absolute or contain `..`. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'hardlink';
  readonly mode: number;
  readonly sizeBytes: number;
  /** Target of a link; else empty. */
  readonly linkName: string;
  /** The bytes of a file, to be read before the next entry. What is not read is skipped. */
  content(): AsyncGenerator<Buffer>;
}

/**
 * The entries of an uncompressed archive: ustar, with the long names of PAX and GNU.
 *
 * @param chunks is read to its end
 * @throws RangeError saying why, when the archive is damaged, cut short, ambiguous or has special files
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEntry> {
  await using reader = new ChunkReader(chunks);
  let more: Extension = {};
  for (;;) {
    const block = await reader.exactly(BLOCK_BYTES);
    if (isEmpty(block)) break;
    const header = parseHeader(block);
    const kind = META[header.type];
    if (kind !== undefined) {
      more = extended(more, kind, header, await readMeta(reader, header));
      continue;
    }
    let left = more.size ?? header.sizeBytes;
    const padding = paddedBytes(left) - left;
    const entry = entryOf(header, more);
    more = {};
    const content = async function* content(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const chunk = await reader.some(left);
        left -= chunk.length;
        yield chunk;
      }
    };
    yield { ...entry, content };
    for await (const _ of content());
    await reader.exactly(padding);
  }
  if (Object.keys(more).length > 0) throw new RangeError('a header of a long name has no entry');
  if (!isEmpty(await reader.exactly(BLOCK_BYTES))) throw new RangeError('its end mark is incomplete');
  for await (const chunk of reader.rest())
    if (!isEmpty(chunk)) throw new RangeError('there is data behind its end mark');
}

/** Headers that say something about the next entry, or about all of them. */
const META: Readonly<Record<string, 'pax' | 'global' | 'path' | 'linkpath'>> = {
  x: 'pax',
  g: 'global',
  L: 'path',
  K: 'linkpath',
};
/** A long name has at most 4096 bytes; the rest is for attributes that are ignored. */
const MAX_META_BYTES = 64 * 1024;

/** The facts about an entry from the headers before it. */
interface Extension {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

async function readMeta(reader: ChunkReader, { sizeBytes }: TarHeader): Promise<Buffer> {
  if (sizeBytes > MAX_META_BYTES) throw new RangeError(`a header has more than ${MAX_META_BYTES} bytes`);
  return (await reader.exactly(paddedBytes(sizeBytes))).subarray(0, sizeBytes);
}

function extended(
  before: Extension,
  kind: 'pax' | 'global' | 'path' | 'linkpath',
  { name }: TarHeader,
  bytes: Buffer,
): Extension {
  if (kind === 'path' || kind === 'linkpath') {
    if (before[kind] !== undefined) throw new RangeError('an entry has two long names');
    const end = bytes.indexOf(0);
    return { ...before, [kind]: utf8(end === -1 ? bytes : bytes.subarray(0, end)) };
  }
  const said = fieldsOfPax(bytes, name);
  if (kind === 'pax') {
    if (Object.keys(said).some((key) => Object.hasOwn(before, key)))
      throw new RangeError('an entry has two long names');
    return { ...before, ...said };
  }
  if (Object.keys(said).length > 0) throw new RangeError('a global header sets names or sizes');
  return before;
}

/** Records of the form `LENGTH KEY=VALUE\n`; the length counts all of it. */
function fieldsOfPax(bytes: Buffer, name: string): Extension {
  const fields: { path?: string; linkpath?: string; size?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const length = space === -1 ? '' : bytes.toString('latin1', at, space);
    const end = at + Number(length);
    const equals = bytes.indexOf('=', space);
    if (
      !/^[1-9]\d{0,5}$/u.test(length) ||
      end > bytes.length ||
      equals === -1 ||
      equals >= end ||
      bytes[end - 1] !== 0x0a
    )
      throw new RangeError(`the PAX header ${name} is damaged`);
    const key = bytes.toString('latin1', space + 1, equals);
    const value = bytes.subarray(equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) throw new RangeError('sparse files are not accepted');
    if (key === 'path' || key === 'linkpath') fields[key] = utf8(value);
    if (key === 'size') fields.size = decimal(value);
    at = end;
  }
  return fields;
}

function decimal(value: Buffer): number {
  const digits = value.toString('latin1');
  if (!/^\d{1,15}$/u.test(digits)) throw new RangeError('a size is not a number');
  return Number(digits);
}

const TYPES: Readonly<Record<string, StreamedEntry['type']>> = {
  '0': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
  // Contiguous files of old systems.
  '7': 'file',
};
const REFUSED: Readonly<Record<string, string>> = {
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a named pipe',
  S: 'a sparse file',
};

function entryOf(header: TarHeader, { path, linkpath, size }: Extension): Omit<StreamedEntry, 'content'> {
  const name = path ?? header.name;
  const known = TYPES[header.type];
  if (known === undefined)
    throw new RangeError(
      `${JSON.stringify(name)} is ${REFUSED[header.type] ?? `of the unknown type ${JSON.stringify(header.type)}`}`,
    );
  const type = known === 'file' && name.endsWith('/') ? 'directory' : known;
  const sizeBytes = size ?? header.sizeBytes;
  if (type !== 'file' && sizeBytes > 0)
    throw new RangeError(`${JSON.stringify(name)} is no file, but has content`);
  return { name, type, mode: header.mode, sizeBytes, linkName: linkpath ?? header.linkName };
}

function isEmpty(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Cuts a stream of chunks into pieces of wanted sizes. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Between 1 and so many bytes. @throws RangeError at the end */
  async some(maxBytes: number): Promise<Buffer> {
    while (this.#current.length === 0) {
      const next = await this.#next();
      if (next === undefined) throw new RangeError('it is cut short');
      this.#current = next;
    }
    const part = this.#current.subarray(0, maxBytes);
    this.#current = this.#current.subarray(part.length);
    return part;
  }

  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const part = await this.some(left);
      left -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  async *rest(): AsyncGenerator<Buffer> {
    yield this.#current;
    for (let next = await this.#next(); next !== undefined; next = await this.#next()) yield next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<Buffer | undefined> {
    const { done, value } = await this.#chunks.next();
    return done === true ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}
