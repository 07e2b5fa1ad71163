// The record of a module's files, to distinguish a lost file from a removed one. The operator stores it
// before each run (`reconcile/module-memory.ts`). If decisive entries are missing later and
// everything else is unchanged, they count as lost and the module is held; if anything else has
// changed too, it is a new version of the module. A run may begin while files are being restored, so
// the files of earlier runs are compared as well until the last ones have lasted.

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** The entries that make a directory a module. */
export const MODULE_ENTRIES = [
  'values.yaml',
  'Chart.yaml',
  'templates',
  'hooks',
  'module.yaml',
  'enabled',
  'crds',
  'openapi',
] as const;

/** The values.yaml of the modules directory, which may hold the module's flag. */
export const COMMON_VALUES = '../values.yaml';

export type ModuleEntry = (typeof MODULE_ENTRIES)[number] | typeof COMMON_VALUES;

/**
 * Without one of these, or without its content, a run would disable the module, or delete objects
 * of its chart.
 */
export const DECISIVE_ENTRIES: ReadonlySet<string> = new Set([
  COMMON_VALUES,
  'values.yaml',
  'Chart.yaml',
  'templates',
] satisfies ModuleEntry[]);

/** The files of a module at one time. */
export interface FileSet {
  /** Names of {@link MODULE_ENTRIES}; also {@link COMMON_VALUES}. */
  readonly entries: readonly string[];
  /** A digest of the path and one of the content for each file, as `path:content`. At most {@link MAX_FILES}. */
  readonly digests: readonly string[];
  /** The name of its entry in the module store, such as `030-web`; absent for other modules. */
  readonly stored?: string;
}

/** The files of a module at its last run. */
export interface FileRecord extends FileSet {
  /** When they were recorded, in milliseconds since the epoch; absent in records of earlier versions. */
  readonly sinceMs?: number;
  /** The files before them, which had lasted. */
  readonly before?: FileSet;
}

/** Files that no run has found changed for so long are no step of a repair. */
export const LASTING_MS = 60_000;

/** The record when a run begins; the same object if nothing has changed. */
export function nextRecord(last: FileRecord | undefined, now: FileSet, nowMs: number): FileRecord {
  const recorded = { ...now, sinceMs: nowMs };
  if (last === undefined) return recorded;
  const { sinceMs = 0, before, ...files } = last;
  const haveLasted = nowMs - sinceMs >= LASTING_MS;
  if (!isDeepStrictEqual(files, now)) return { ...recorded, before: haveLasted ? files : (before ?? files) };
  return haveLasted && before !== undefined ? { ...files, sinceMs } : last;
}

/** The maximum number of compared files: one ConfigMap holds the digests of all modules. */
const MAX_FILES = 250;
/** Larger files, such as programs, are compared by size. */
const MAX_READ_BYTES = 64 * 1024;
const DIGEST_LENGTH = 6;
/** Part of a label of the release record. */
const FILES_DIGEST_LENGTH = 32;

/** The entries of a module among the names in its directory. */
export function entriesAmong(names: readonly string[]): readonly ModuleEntry[] {
  return MODULE_ENTRIES.filter((entry) => names.includes(entry));
}

/**
 * The entries with content. A decisive entry that is an empty file, a dangling link or a directory
 * without files counts as lost.
 */
export async function entriesWithContent(
  directory: string,
  entries: readonly ModuleEntry[],
): Promise<readonly ModuleEntry[]> {
  const haveContent = await Promise.all(
    entries.map(async (entry) => !DECISIVE_ENTRIES.has(entry) || (await hasContent(join(directory, entry)))),
  );
  return entries.filter((_entry, index) => haveContent[index]);
}

async function hasContent(path: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return stats.size > 0;
    for (const name of await readdir(path))
      if (!name.startsWith('.') && (await hasContent(join(path, name)))) return true;
    return false;
  } catch {
    return false;
  }
}

/** Reads the digests of a module's files with content. @throws errors of the file system */
export async function readDigests(directory: string): Promise<readonly string[]> {
  const digests: string[] = [];
  for (const entry of entriesAmong(await readdir(directory))) await addDigests(directory, entry, digests);
  return digests;
}

/** One digest of all files of a module, as they were read by {@link readDigests}. */
export function filesDigest(digests: readonly string[]): string {
  return createHash('sha256')
    .update(digests.toSorted().join('\n'))
    .digest('hex')
    .slice(0, FILES_DIGEST_LENGTH);
}

async function addDigests(root: string, path: string, digests: string[]): Promise<void> {
  if (digests.length >= MAX_FILES) return;
  const absolute = join(root, path);
  const stats = await stat(absolute).catch(() => undefined);
  if (stats?.isDirectory() === true) {
    for (const name of (await readdir(absolute)).toSorted())
      if (!name.startsWith('.')) await addDigests(root, `${path}/${name}`, digests);
    return;
  }
  if (stats === undefined || stats.size === 0) return;
  digests.push(`${digestOf(path)}:${digestOf(await contentOf(absolute, stats.size))}`);
}

async function contentOf(path: string, sizeBytes: number): Promise<string | Buffer> {
  return sizeBytes > MAX_READ_BYTES ? `${sizeBytes} bytes` : await readFile(path);
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, DIGEST_LENGTH);
}

/**
 * The decisive entries that were lost: they are missing, and all remaining files are as in the last
 * run or as before it. Another content or a new file makes it a new version of the module, in which
 * its author removed the entries.
 */
export function lostEntries({ before, ...last }: FileRecord, now: FileSet): readonly string[] {
  const lost = new Set([last, ...(before ? [before] : [])].flatMap((files) => lostSince(files, now)));
  return [...lost];
}

function lostSince(before: FileSet, now: FileSet): readonly string[] {
  const gone = before.entries.filter((entry) => DECISIVE_ENTRIES.has(entry) && !now.entries.includes(entry));
  if (gone.length === 0) return [];
  const known = new Set(before.digests);
  const isCut = before.digests.length >= MAX_FILES;
  const paths = new Set(before.digests.map(pathPart));
  // Beyond the limit unknown files may have existed before, so only known paths are compared.
  const isNew = (digest: string): boolean => !known.has(digest) && (!isCut || paths.has(pathPart(digest)));
  return now.digests.some(isNew) ? [] : gone;
}

function pathPart(digest: string): string {
  return digest.slice(0, digest.indexOf(':'));
}
