import { readFileSync } from 'node:fs';
import { OWN_CODE } from '../own-code.ts';

/** The version of the package we run from. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', OWN_CODE), 'utf8');
  const manifest: unknown = JSON.parse(text);
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
