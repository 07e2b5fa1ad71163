import { gzipSync } from 'node:zlib';
import { headerBlock, paddedBytes } from '@addon-operator/files/tar-header';

/** An entry as an archive may have it, sensible or not. */
export interface RawEntry {
  readonly name: string;
  /** Type flag; default: a file, or a directory if the name ends with a slash. */
  readonly type?: string;
  readonly content?: Buffer | string;
  readonly mode?: number;
  readonly linkName?: string;
  /** What the header says, if not the size of the content. */
  readonly sizeBytes?: number;
}

/** An uncompressed archive of these entries, in this order, with its end mark. */
export function rawTar(entries: readonly RawEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, type, content = '', mode, linkName = '', sizeBytes }) => {
    const body = Buffer.from(content);
    const flag = type ?? (name.endsWith('/') ? '5' : '0');
    const header = headerBlock({
      name,
      type: flag,
      linkName,
      mode: mode ?? (flag === '5' ? 0o755 : 0o644),
      sizeBytes: sizeBytes ?? body.length,
    });
    return [header, body, Buffer.alloc(paddedBytes(body.length) - body.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

export function rawTgz(entries: readonly RawEntry[]): Buffer {
  return gzipSync(rawTar(entries));
}

/** The header before an entry, with records of PAX. */
export function paxHeader(records: Readonly<Record<string, string>>, type: 'x' | 'g' = 'x'): RawEntry {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const bytes = Buffer.byteLength(rest);
    let length = bytes + 1;
    while (String(length).length + bytes !== length) length += 1;
    return `${length}${rest}`;
  });
  return { name: 'PaxHeader', type, content: lines.join('') };
}
