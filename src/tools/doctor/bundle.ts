import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { isObject } from '@addon-operator/json';

const BLOCK = 512;
const SECRET_KEY = /pass|token|secret|credential|authorization|privatekey|apikey/i;
const SECRET_TEXT =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----|\bBearer [A-Za-z0-9._~+/-]+|\/\/[^/@\s]+@/g;
const MASK = '***';

/** The data without what is probably secret: values of such keys, tokens, private keys, and users in URLs. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(SECRET_TEXT, (found) => (found.startsWith('//') ? `//${MASK}@` : MASK));
  if (Array.isArray(value)) return value.map(redacted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECRET_KEY.test(key) && (typeof item === 'string' || typeof item === 'number') && item !== ''
        ? MASK
        : redacted(item),
    ]),
  );
}

/**
 * An archive (tar, compressed by gzip) with a JSON file for each entry, {@link redacted}.
 *
 * @param documents by name of the file, at most 100 characters
 */
export function bundleOf(documents: Readonly<Record<string, unknown>>, mtimeMs: number): Buffer {
  const entries = Object.entries(documents).map(([name, document]) => {
    const content = Buffer.from(`${JSON.stringify(redacted(document), null, 2)}\n`);
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return Buffer.concat([header(name, content.length, mtimeMs), content, padding]);
  });
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));
}

/** A header of ustar for a regular file. */
function header(name: string, sizeBytes: number, mtimeMs: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void =>
    void block.write(
      `${Math.floor(value)
        .toString(8)
        .padStart(length - 1, '0')}\0`,
      at,
      'latin1',
    );
  block.write(name, 0, 100, 'utf8');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(sizeBytes, 124, 12);
  octal(mtimeMs / 1_000, 136, 12);
  block.write(' '.repeat(8), 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
