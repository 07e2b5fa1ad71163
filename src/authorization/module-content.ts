/**
 * Reads a module's files in a way that an attacker who can write to the directory cannot exploit: no links are followed,
 * no devices opened, sizes are bounded, and bytes are hashed and copied in one pass. The result describes the copy, not
 * the source, which may change at any time.
 */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, symlink } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { shortLine } from '@addon-operator/strings/escape-controls';

/** A file or link of a module, with its path below the module's directory. */
export type ContentEntry =
  | {
      readonly path: string;
      readonly sha256: string;
      readonly size: number;
      /** Set if any user may execute the file. */
      readonly executable?: true;
    }
  | { readonly path: string; readonly link: string };

/** The limits of a module's content. */
interface ContentLimits {
  /** Files, links and directories. */
  readonly entries: number;
  readonly bytes: number;
}

const CONTENT_LIMITS: ContentLimits = { entries: 20_000, bytes: 256 * 1024 * 1024 };

/** The signed manifest and its signature: they are in the module's directory but not part of its content. */
export const MANIFEST_FILE = 'module.manifest';
export const SIGNATURE_FILE = `${MANIFEST_FILE}.sig`;
/** Keeps signatures of other things, made with the same key, from counting as signatures of modules. */
export const SIGNATURE_NAMESPACE = 'addon-operator-module';
const NO_CONTENT = [MANIFEST_FILE, SIGNATURE_FILE];

export interface ReadContentOptions {
  /** A directory that exists, for a copy of what is read: each byte is read once, so the copy is what is described. */
  readonly copyTo?: string;
  readonly limits?: ContentLimits;
  /** Lists a directory, whose entries may change during the list; default: `opendir`. */
  readonly list?: (directory: string) => Promise<AsyncIterable<{ readonly name: string }>>;
}

/**
 * Every file and link of a module, sorted by path. Directories count only by what is in them.
 *
 * @throws OperatorError MODULE_UNAUTHORIZED for what cannot be read or has no place in a module: links that lead out of
 *   it or nowhere, special files, names that are no UTF-8, more than the limits allow; `signal.reason` on abort
 */
export async function readContent(
  directory: string,
  options: ReadContentOptions,
  signal: AbortSignal,
): Promise<readonly ContentEntry[]> {
  const walk: Walk = {
    directory,
    copyTo: options.copyTo,
    limits: options.limits ?? CONTENT_LIMITS,
    list: options.list ?? opendir,
    paths: new Set(),
    directories: new Set(),
    entries: [],
    bytes: 0,
    signal,
  };
  try {
    await readDirectory(walk, '');
    await copyLinkedDirectories(walk);
    await refuseLinksOut(walk);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof OperatorError || !isFileError(cause)) throw cause;
    throw refused(`${directory} cannot be read and copied: ${cause.message}`, cause);
  }
  return walk.entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reasons name files and quote signatures, which an attacker may have made arbitrarily long. */
const MAX_REASON_CHARACTERS = 1_000;

/** @param reason why the module is not authorized; it becomes one line of a length that can be shown */
export function refused(reason: string, cause?: unknown): OperatorError {
  return new OperatorError('MODULE_UNAUTHORIZED', shortLine(reason, MAX_REASON_CHARACTERS), {
    cause,
    isPermanent: true,
  });
}

interface Walk {
  readonly directory: string;
  readonly copyTo: string | undefined;
  readonly limits: ContentLimits;
  readonly list: NonNullable<ReadContentOptions['list']>;
  /** All that was found so far. */
  readonly paths: Set<string>;
  readonly directories: Set<string>;
  readonly entries: ContentEntry[];
  bytes: number;
  readonly signal: AbortSignal;
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

async function readDirectory(walk: Walk, below: string): Promise<void> {
  for (const path of await listDirectory(walk, below)) {
    walk.signal.throwIfAborted();
    const stats = await lstat(join(walk.directory, path));
    if (stats.isDirectory()) {
      walk.directories.add(path);
      await readDirectory(walk, path);
    } else if (stats.isSymbolicLink()) walk.entries.push(await readLink(walk, path));
    else walk.entries.push(await readFile(walk, path));
  }
}

/** Paths of what is in a directory. Of one that is too large no more than the limit is read. */
async function listDirectory(walk: Walk, below: string): Promise<readonly string[]> {
  const { directory, limits, list, paths, signal } = walk;
  const found: string[] = [];
  for await (const { name } of await list(join(directory, below))) {
    signal.throwIfAborted();
    if (below === '' && NO_CONTENT.includes(name)) continue;
    const path = below === '' ? name : `${below}/${name}`;
    if (name.includes('\uFFFD')) throw refused(`the name of ${path} is not UTF-8: rename the file`);
    // First a link, then a directory of the same name: what is in it would be copied to where the link leads.
    if (paths.has(path)) throw refused(`${path} was replaced while it was read`);
    if (paths.size === limits.entries)
      throw refused(`there are more than ${limits.entries} files and directories in ${directory}`);
    paths.add(path);
    found.push(path);
  }
  return found;
}

async function readLink({ directory, copyTo }: Walk, path: string): Promise<ContentEntry> {
  const link = await readlink(join(directory, path));
  if (link.startsWith(sep) || isOutside(normalize(join(dirname(path), link))))
    throw refused(`${path} is a link to ${link}, outside of the module: copy its target into the module`);
  if (copyTo !== undefined) {
    await mkdir(dirname(join(copyTo, path)), { recursive: true, mode: 0o700 });
    await symlink(link, join(copyTo, path));
  }
  return { path, link };
}

/** A copy has directories for the files in them. One that has none may be where a link leads. */
async function copyLinkedDirectories({ copyTo, entries, directories }: Walk): Promise<void> {
  if (copyTo === undefined) return;
  for (const entry of entries) {
    const target = 'link' in entry ? normalize(join(dirname(entry.path), entry.link)).replace(/\/$/, '') : '';
    if (directories.has(target)) await mkdir(join(copyTo, target), { recursive: true, mode: 0o700 });
  }
}

function isOutside(relative: string): boolean {
  return relative === '..' || relative.startsWith(`..${sep}`);
}

/** Links can lead to links: only the file system knows where one ends. In a copy that does not change any more. */
async function refuseLinksOut({ directory, copyTo = directory, entries }: Walk): Promise<void> {
  const links = entries.filter((entry) => 'link' in entry);
  if (links.length === 0) return;
  const root = await realpath(copyTo);
  for (const { path } of links) {
    const target = await realpath(join(copyTo, path)).catch((cause: unknown) => {
      const why = isMissingFile(cause) ? 'has no target in the module' : 'cannot be followed';
      throw refused(`${path} is a link that ${why}: remove or correct it`, cause);
    });
    if (target !== root && !target.startsWith(`${root}${sep}`))
      throw refused(`${path} is a link to a target outside of the module: copy the target into the module`);
  }
}

/** A path may have become a link or a pipe since it was listed; neither is followed or waited for. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const BUFFER_BYTES = 256 * 1024;

async function readFile(walk: Walk, path: string): Promise<ContentEntry> {
  const stats = await lstat(join(walk.directory, path));
  // To open a device can already do something.
  if (!stats.isFile()) throw refused(`${path} is not a file, link or directory: remove it`);
  await using source = await open(join(walk.directory, path), READ_FLAGS);
  const opened = await source.stat();
  if (!opened.isFile()) throw refused(`${path} is no longer a file`);
  // What is too large is not even begun with.
  refuseTooMuch(walk, opened.size);
  const isExecutable = (opened.mode & 0o111) !== 0;
  await using copy = await openCopy(walk, path, isExecutable);
  const { sha256, size } = await digestAndCopy(walk, source, copy);
  return { path, sha256, size, ...(isExecutable && { executable: true }) };
}

async function openCopy(
  { copyTo }: Walk,
  path: string,
  isExecutable: boolean,
): Promise<FileHandle | undefined> {
  if (copyTo === undefined) return undefined;
  const target = join(copyTo, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  return open(target, 'wx', isExecutable ? 0o500 : 0o400);
}

async function digestAndCopy(
  walk: Walk,
  source: FileHandle,
  copy: FileHandle | undefined,
): Promise<{ readonly sha256: string; readonly size: number }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  for (let size = 0; ; ) {
    walk.signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES, null);
    if (bytesRead === 0) return { sha256: hash.digest('hex'), size };
    size += bytesRead;
    refuseTooMuch(walk, bytesRead);
    walk.bytes += bytesRead;
    const bytes = buffer.subarray(0, bytesRead);
    hash.update(bytes);
    await copy?.writeFile(bytes);
  }
}

function refuseTooMuch({ bytes, limits, directory }: Walk, more: number): void {
  if (bytes + more > limits.bytes) throw refused(`there are more than ${limits.bytes} bytes in ${directory}`);
}
