/** Writes the content of a module as a tar archive that depends on nothing but the content. */

import { createReadStream } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  BLOCK_BYTES,
  fitsHeader,
  headerBlock,
  paddedBytes,
  type TarHeader,
} from '@addon-operator/files/tar-header';
import type { ContentEntry } from '../authorization/module-content.ts';
import { UNPACK_LIMITS } from './content-tree.ts';
import { invalidArtifact } from './invalid-artifact.ts';

/** @param besides files that are not in the directory, by path */
export interface TarContent {
  readonly directory: string;
  /** The files in the directory. */
  readonly files: readonly ContentEntry[];
  /** Small files that are not in the directory, by path. */
  readonly besides: ReadonlyMap<string, Buffer>;
}

/**
 * The compressed archive: entries sorted by path, without owners and times, modes 0644 and 0755.
 *
 * @throws OperatorError ARTIFACT_INVALID for one that is larger than can be unpacked
 */
export async function moduleTar(content: TarContent, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await pipeline(
    archive(content),
    createGzip({ level: 9 }),
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) {
        bytes += chunk.length;
        if (bytes > UNPACK_LIMITS.compressedBytes)
          throw invalidArtifact(
            `the module has more than ${UNPACK_LIMITS.compressedBytes} bytes when it is compressed`,
          );
        chunks.push(chunk);
      }
    },
    { signal },
  );
  const packed = Buffer.concat(chunks);
  // Which system compressed it: "unknown", else it would depend on that.
  packed[OS_AT] = 255;
  return packed;
}

/** In the header of gzip. */
const OS_AT = 9;

async function* archive({ directory, files, besides }: TarContent): AsyncGenerator<Buffer> {
  const linked = linkedDirectories(files);
  const paths = [...files.map(({ path }) => path), ...besides.keys(), ...linked].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const path of paths) {
    const file = byPath.get(path);
    const beside = besides.get(path);
    if (beside !== undefined) yield* fileBlocks({ path, size: beside.length }, [beside]);
    else if (file === undefined)
      yield* entryBlocks({ name: `${path}/`, type: '5', mode: 0o755, sizeBytes: 0, linkName: '' });
    else if ('link' in file)
      yield* entryBlocks({ name: path, type: '2', mode: 0o777, sizeBytes: 0, linkName: file.link });
    else yield* fileBlocks(file, createReadStream(join(directory, path)));
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Directories count by what is in them; an empty one only if a link leads to it. */
function linkedDirectories(files: readonly ContentEntry[]): ReadonlySet<string> {
  const targets = files.flatMap((file) =>
    'link' in file ? [normalize(join(dirname(file.path), file.link)).replace(/\/$/u, '')] : [],
  );
  const isEmptyDirectory = (target: string): boolean =>
    target !== '.' &&
    !files.some(
      ({ path }) => path === target || path.startsWith(`${target}/`) || target.startsWith(`${path}/`),
    );
  return new Set(targets.filter(isEmptyDirectory));
}

async function* fileBlocks(
  { path, size, executable }: { readonly path: string; readonly size: number; readonly executable?: true },
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield* entryBlocks({
    name: path,
    type: '0',
    mode: executable === true ? 0o755 : 0o644,
    sizeBytes: size,
    linkName: '',
  });
  yield* chunks;
  yield Buffer.alloc(paddedBytes(size) - size);
}

/** A header, and one of PAX before it if a name is long. */
function* entryBlocks(header: TarHeader): Generator<Buffer> {
  const long = { path: header.name, linkpath: header.linkName };
  const records = Object.entries(long).filter(([, value]) => !fitsHeader(value));
  if (records.length > 0) {
    const body = Buffer.from(records.map(([key, value]) => paxRecord(key, value)).join(''));
    yield headerBlock({ name: 'PaxHeader', type: 'x', mode: 0o644, sizeBytes: body.length, linkName: '' });
    yield body;
    yield Buffer.alloc(paddedBytes(body.length) - body.length);
  }
  const short = (name: string): string => (fitsHeader(name) ? name : 'long');
  yield headerBlock({ ...header, name: short(header.name), linkName: short(header.linkName) });
}

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + 1;
  while (String(length).length + bytes > length) length += 1;
  return `${length}${rest}`;
}
