import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '../lib/json.ts';

/** What tells one executable from another without running it. */
function fingerprint(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${path}:${size}:${mtimeMs}:${ino}`;
}

/** The version noted for just this executable; undefined when there is none, or the file was replaced since. */
export function rememberedVersion(file: string, path: string): string | undefined {
  try {
    const noted: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(noted) || noted['executable'] !== fingerprint(path)) return undefined;
    return typeof noted['version'] === 'string' ? noted['version'] : undefined;
  } catch {
    // No note, or none that can be read: the executable is asked again.
    return undefined;
  }
}

/** Notes the version of an executable. */
export function rememberVersion(file: string, path: string, version: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ executable: fingerprint(path), version }), { mode: 0o600 });
}
