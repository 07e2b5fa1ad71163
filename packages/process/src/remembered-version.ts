import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Identifies an executable without running it. */
function fingerprint(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${path}:${size}:${mtimeMs}:${ino}`;
}

/** The version recorded for this executable; undefined when there is none, or the file was replaced since. */
export function rememberedVersion(file: string, path: string): string | undefined {
  try {
    const noted: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof noted !== 'object' || noted === null) return undefined;
    if (Reflect.get(noted, 'executable') !== fingerprint(path)) return undefined;
    const version: unknown = Reflect.get(noted, 'version');
    return typeof version === 'string' ? version : undefined;
  } catch {
    // No record, or none that can be read: the executable is run again.
    return undefined;
  }
}

/** Notes the version of an executable. Where that is not possible, such as on a full disk, it is run again next time. */
export function rememberVersion(file: string, path: string, version: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ executable: fingerprint(path), version }), { mode: 0o600 });
  } catch {
    // A part of it is none that can be read.
  }
}
