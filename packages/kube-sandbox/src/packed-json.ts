import { brotliDecompressSync } from 'node:zlib';

/** The JSON of a constant of `built-in-data.ts`. */
export function unpacked(base64: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(base64, 'base64')).toString('utf8'));
}
