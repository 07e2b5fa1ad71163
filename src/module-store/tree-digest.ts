import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Python writes byte code beside the files that it runs, and working copies have the data of git. */
const IGNORED: ReadonlySet<string> = new Set(['__pycache__', '.git']);

/** Whether a file with this name is no part of the content. */
export function isIgnored(name: string): boolean {
  return IGNORED.has(name);
}

interface TreeEntry {
  /** Relative, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link';
  readonly isExecutable: boolean;
  readonly sizeBytes: number;
  /** Changes whenever the entry does. */
  readonly stamp: string;
}

/** All entries in the order of their paths. @throws errors of the file system, and for devices and sockets */
async function readTree(root: string): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const visit = async (path: string): Promise<void> => {
    for (const name of (await readdir(join(root, path))).toSorted()) {
      if (isIgnored(name)) continue;
      const entry = await readEntry(root, path === '' ? name : `${path}/${name}`);
      entries.push(entry);
      if (entry.kind === 'directory') await visit(entry.path);
    }
  };
  await visit('');
  return entries;
}

async function readEntry(root: string, path: string): Promise<TreeEntry> {
  const stats = await lstat(join(root, path));
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'link'
        : undefined;
  if (kind === undefined) throw new Error(`${path} is neither a file, a directory nor a symbolic link`);
  const isExecutable = kind === 'file' && (stats.mode & 0o100) !== 0;
  const { ino, mode, size, mtimeMs, ctimeMs } = stats;
  // The size of a directory says nothing about its content, and files that are ignored change its times.
  const stamp =
    kind === 'directory' ? `${path} ${mode}` : `${path} ${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`;
  return { path, kind, isExecutable, sizeBytes: kind === 'file' ? size : 0, stamp };
}

/**
 * The SHA-256 of all names, kinds, contents and bits for execution, as `sha256:…`. It depends on
 * neither times nor owners.
 *
 * @throws errors of the file system, and for devices and sockets
 */
export async function treeDigest(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of await readTree(root)) hash.update(`${JSON.stringify(await describe(root, entry))}\n`);
  return `sha256:${hash.digest('hex')}`;
}

async function describe(root: string, { path, kind, isExecutable }: TreeEntry): Promise<readonly unknown[]> {
  const file = join(root, path);
  if (kind === 'directory') return [path, kind];
  if (kind === 'link') return [path, kind, await readlink(file)];
  const content = createHash('sha256');
  for await (const chunk of createReadStream(file)) content.update(chunk as Buffer);
  return [path, kind, isExecutable, content.digest('hex')];
}

/** A fingerprint without reading contents, which changes whenever a file does. @throws as {@link treeDigest} */
export async function treeStamp(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const { stamp } of await readTree(root)) hash.update(`${stamp}\n`);
  return hash.digest('hex');
}

/** The bytes of all files. @throws as {@link treeDigest} */
export async function treeSize(root: string): Promise<number> {
  return (await readTree(root)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Writes all files and directories through to the disk. @throws errors of the file system */
export async function syncTree(root: string): Promise<void> {
  for (const { path, kind } of await readTree(root)) if (kind !== 'link') await syncPath(join(root, path));
  await syncPath(root);
}

/** Writes a file, or the names in a directory, through to the disk. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
