import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, extname, relative } from 'node:path';
import { OperatorError } from '../../lib/errors.ts';
import { exportsDefinition, mayExportDefinition } from '../runtime/exports-definition.ts';
import { filesBelow, readExtensionFile } from '../runtime/files-below.ts';
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
  /** Files that export extensions but are no hosts: at another depth, or with another ending. */
  readonly misplaced: readonly string[];
  /** Of every file of the directory, since hosts may import others. */
  readonly digest: string;
}

/** The directory of the core group, which has no name. */
const CORE = 'core';

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
    const content = await readExtensionFile(path);
    hash.update(`${relative(directory, path)}\n${content.length}\n`).update(content);
  }
  return { hosts, misplaced, digest: hash.digest('hex') };
}

async function exportingExtensions(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths.filter(mayExportDefinition))
    if (exportsDefinition((await readExtensionFile(path)).toString(), 'defineExtensions')) found.push(path);
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
      `Several files extend the same kind, but only one file may: ${paths.join(', ')}. Merge them into one; put shared code into files directly in customizations/`,
    );
  }
}
