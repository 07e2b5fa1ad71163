import { createHash } from 'node:crypto';
import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { messageOf, OperatorError } from '../../lib/errors.ts';
import { isMissingFile } from '../../lib/missing-file.ts';
import { isExtensionFile } from '../runtime/is-extension-file.ts';

/** A file that extends one kind. */
export interface HostFile {
  readonly path: string;
  /** Empty for the core group. */
  readonly group: string;
  /** In lower case. */
  readonly kind: string;
}

export interface CustomizationFiles {
  readonly hosts: readonly HostFile[];
  /** Files that export extensions and are no hosts where they lie: at another depth. */
  readonly misplaced: readonly string[];
  /** Of every file of the directory, since hosts may import others. */
  readonly digest: string;
}

/** The directory of the core group, which has no name. */
const CORE = 'core';
const EXPORTS_EXTENSIONS = /^\s*export\s+default\s+defineExtensions\s*\(/m;

/**
 * What lies in a `customizations` directory: a host for each script `<group>/<kind>`; undefined without a directory, or
 * without anything in it that is one or looks like one.
 *
 * @throws OperatorError EXTENSION_INVALID for two hosts of one kind, or what cannot be read
 */
export async function findCustomizations(directory: string): Promise<CustomizationFiles | undefined> {
  // Most modules have none, and every run of a module asks.
  if (!existsSync(directory)) return undefined;
  const paths = await filesBelow(directory);
  const hosts = paths.flatMap((path) => hostFile(path, relative(directory, path).split('/')));
  const misplaced = await exportingExtensions(
    paths.filter((path) => !hosts.some((host) => host.path === path)),
  );
  if (hosts.length === 0 && misplaced.length === 0) return undefined;
  refuseDoubles(hosts);
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = await read(path);
    hash.update(`${relative(directory, path)}\n${content.length}\n`).update(content);
  }
  return { hosts, misplaced, digest: hash.digest('hex') };
}

async function exportingExtensions(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths.filter(isExtensionFile))
    if (EXPORTS_EXTENSIONS.test((await read(path)).toString())) found.push(path);
  return found;
}

function hostFile(path: string, parts: readonly string[]): readonly HostFile[] {
  const [group, file, ...deeper] = parts;
  if (group === undefined || file === undefined || deeper.length > 0) return [];
  if (!isExtensionFile(file)) return [];
  const kind = basename(file, extname(file)).replaceAll('-', '').toLowerCase();
  return [{ path, group: group === CORE ? '' : group, kind }];
}

function refuseDoubles(hosts: readonly HostFile[]): void {
  for (const same of Map.groupBy(hosts, ({ group, kind }) => `${group}/${kind}`).values()) {
    if (same.length < 2) continue;
    const paths = same.map(({ path }) => path).toSorted();
    throw new OperatorError(
      'EXTENSION_INVALID',
      `Several files extend the same kind, but only one may: ${paths.join(', ')}. Join them into one; what hosts share can be in files directly in customizations/`,
    );
  }
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await list(directory);
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else files.push(path);
  }
  return files.toSorted();
}

async function list(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (cause) {
    if (isMissingFile(cause)) return [];
    throw unreadable(directory, cause);
  }
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): OperatorError {
  return new OperatorError('EXTENSION_INVALID', `Cannot read extensions at ${path}: ${messageOf(cause)}`, {
    cause,
  });
}
