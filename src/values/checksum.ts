import { createHash } from 'node:crypto';
import { canonicalJson } from '../lib/json.ts';

/** MD5 (hex) over key-sorted compact JSON: equal values have equal checksums, however they were written. */
export function valuesChecksum(value: unknown): string {
  return createHash('md5').update(canonicalJson(value)).digest('hex');
}
