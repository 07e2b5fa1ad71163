import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { entriesAmong, entriesWithContent, type ModuleEntry } from './file-set.ts';
import type { Module } from './module.ts';
import { parseDirectoryName } from './module-name.ts';

/** The place of a module, with the facts in its directory's name. */
export interface ModulePlace extends Pick<Module, 'name' | 'order' | 'path'> {
  /** Whether the order comes from the number in the directory's name. */
  readonly isNumbered: boolean;
  /** The path in the modules directory, which may be a link. */
  readonly entry: string;
  readonly content: DirectoryContent;
  /** See `CandidateVersion`. */
  readonly isReturn?: boolean;
}

/** An unreadable entry whose name cannot be a module's. */
type NamelessEntry = Pick<ModulePlace, 'entry' | 'content'>;

/** An entry of a modules directory. */
export type DirectoryEntry = ModulePlace | NamelessEntry;

export function isPlace(entry: DirectoryEntry): entry is ModulePlace {
  return 'name' in entry;
}

/** The kind of an entry of a modules directory. */
export type DirectoryContent =
  | { readonly type: 'module'; readonly entries: readonly ModuleEntry[] }
  /**
   * A directory without any file of a module. `problem`: a sentence without subject and full stop.
   */
  | { readonly type: 'empty'; readonly problem: string }
  /** Not a directory, or an unreadable one. `notice`: logged if no module of this name is known. */
  | { readonly type: 'unreadable'; readonly problem: string; readonly notice: string };

/** The common values.yaml beside the modules. */
export const VALUES_FILE = 'values.yaml';

/**
 * The entries of a modules directory, by directory name; no file in them is read. Each
 * sub-directory, or link to one, whose name does not start with a dot, is a module.
 *
 * @throws OperatorError MODULE_INVALID for a directory name that cannot be a module's
 */
export async function modulePlaces(
  dir: string,
  { defaultOrder }: { readonly defaultOrder: number },
): Promise<readonly DirectoryEntry[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const places: DirectoryEntry[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === VALUES_FILE) continue;
    places.push(await placeOf(join(dir, entry.name), entry, defaultOrder));
  }
  return places;
}

/** A version of a module that is to be read in place of its entry. */
export interface CandidateVersion {
  /** The path in the modules directory. */
  readonly entry: string;
  /** The directory with its files, without links. */
  readonly path: string;
  /** Whether it ran before, and comes back by an explicit decision. */
  readonly isReturn: boolean;
}

/** The place that a candidate would have. @throws OperatorError MODULE_INVALID for an invalid name */
export async function candidatePlace(
  { entry, path, isReturn }: CandidateVersion,
  { defaultOrder }: { readonly defaultOrder: number },
): Promise<ModulePlace> {
  const { name, order } = parseDirectoryName(basename(entry));
  const content = await directoryContent(path);
  const place = { name, order: order ?? defaultOrder, isNumbered: order !== undefined };
  return { ...place, path, entry, content, isReturn };
}

async function placeOf(path: string, entry: Dirent, defaultOrder: number): Promise<DirectoryEntry> {
  const content = await (entry.isSymbolicLink() ? contentOfLink(path) : directoryContent(path));
  const parsed = nameOf(entry.name, content, path);
  if (parsed === undefined) return { entry: path, content };
  const { name, order = defaultOrder } = parsed;
  const isNumbered = parsed.order !== undefined;
  // The target of a link is resolved once: a later change of the link must not move a running
  // module.
  const isLink = entry.isSymbolicLink() && content.type !== 'unreadable';
  return { name, order, isNumbered, path: isLink ? await realpath(path) : path, entry: path, content };
}

/** Undefined for an entry that is no directory and cannot be a module. */
function nameOf(
  entryName: string,
  { type }: DirectoryContent,
  path: string,
): ReturnType<typeof parseDirectoryName> | undefined {
  try {
    return parseDirectoryName(entryName);
  } catch (cause) {
    if (type === 'unreadable') return undefined;
    throw new OperatorError('MODULE_INVALID', `${path}: ${messageOf(cause)}`, { cause });
  }
}

async function contentOfLink(path: string): Promise<DirectoryContent> {
  const content = await directoryContent(path);
  if (content.type !== 'unreadable') return content;
  // A missing target and one that is a file are different mistakes of the user.
  const isThere = await stat(path).then(
    () => true,
    (error: unknown) => !isMissingFile(error),
  );
  const notice = isThere
    ? 'Symlink target is not a directory. Ignoring module'
    : 'Symlink target does not exist. Ignoring module';
  return { ...content, notice };
}

/** The content of a directory that should be a module's; follows links. */
export async function directoryContent(path: string): Promise<DirectoryContent> {
  const unreadable = (problem: string): DirectoryContent => ({
    type: 'unreadable',
    problem,
    notice: NOT_A_MODULE,
  });
  try {
    if (!(await stat(path)).isDirectory()) return unreadable('is not a directory');
    const names = await readdir(path);
    const entries = entriesAmong(names);
    if (entries.length > 0) return { type: 'module', entries: await entriesWithContent(path, entries) };
    return { type: 'empty', problem: names.length === 0 ? 'is empty' : 'contains no file of a module' };
  } catch (error) {
    return unreadable(`cannot be read: ${messageOf(error)}`);
  }
}

const NOT_A_MODULE = 'not a directory, so not a module: ignored';

/** Logs why an entry without a known module is ignored. */
export function logNotice(path: string, content: DirectoryContent, log: Logger): void {
  if (content.type === 'unreadable') log.warn({ path, problem: content.problem }, content.notice);
}
