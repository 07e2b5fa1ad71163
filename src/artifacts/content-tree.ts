/**
 * The tree of an archive that is being unpacked, in memory: it decides about each entry before a byte of it is written.
 * Layers of an image are put on top of each other here, and links are followed here, never on the disk.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { invalidArtifact } from './invalid-artifact.ts';

/** Limits of a module's content; those of unpacked content are also those of signed modules. */
export interface UnpackLimits {
  /** Files, links and directories. */
  readonly entries: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  /** Unpacked bytes for each compressed one; the first mebibyte is free, since short archives are mostly padding. */
  readonly ratio: number;
}

export const UNPACK_LIMITS: UnpackLimits = {
  entries: 20_000,
  bytes: 256 * 1024 * 1024,
  compressedBytes: 64 * 1024 * 1024,
  ratio: 100,
};

/** An entry with its path below the root. */
export type TreeEntry =
  | { readonly type: 'file'; readonly path: string; readonly sizeBytes: number }
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'symlink'; readonly path: string; readonly target: string };

/** A place in the tree, and the layer that wrote it. */
interface Node {
  readonly entry: TreeEntry;
  readonly layer: number;
}

const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 100;
/** As Linux follows links. */
const MAX_HOPS = 40;

export class ContentTree {
  readonly #limits: UnpackLimits;
  readonly #nodes = new Map<string, Node>();
  /** Paths by how they are on a file system that does not distinguish upper and lower case. */
  readonly #folded = new Map<string, string>();
  #layer = 0;
  #entries = 0;
  #bytes = 0;

  constructor(limits: UnpackLimits) {
    this.#limits = limits;
  }

  /** Begins a layer above the present ones. */
  nextLayer(): void {
    this.#layer += 1;
  }

  /**
   * Takes an entry, and its directories.
   *
   * @returns paths of a lower layer that it replaces
   * @throws OperatorError ARTIFACT_INVALID
   */
  add(entry: TreeEntry): readonly string[] {
    this.#count(entry.type === 'file' ? entry.sizeBytes : 0);
    for (const path of directoriesOf(entry.path)) this.#enter(path, entry.path);
    const before = this.#nodes.get(entry.path);
    if (entry.type === 'directory' && before?.entry.type === 'directory') {
      this.#set(entry);
      return [];
    }
    if (before?.layer === this.#layer) throw invalidArtifact(`${entry.path} is contained twice`);
    const replaced = before === undefined ? [] : this.#remove(entry.path, () => true);
    this.#set(entry);
    return replaced;
  }

  /**
   * Removes what lower layers have at a path, or below it.
   *
   * @param isOpaque whether the directory itself stays
   * @returns the paths, those of directories after those of what is in them
   */
  whiteout(path: string, isOpaque: boolean): readonly string[] {
    this.#count(0);
    return this.#remove(path, ({ layer }, at) => layer < this.#layer && !(isOpaque && at === path));
  }

  /** The file that a hard link leads to. @throws OperatorError ARTIFACT_INVALID if there is none */
  hardLinkTarget(path: string, target: string): TreeEntry & { readonly type: 'file' } {
    const entry = this.#nodes.get(target)?.entry;
    if (entry?.type === 'file') return entry;
    throw invalidArtifact(
      `${path} is a hard link to ${target}, which is not a file before it in the archive`,
    );
  }

  /** All links, each of which leads to something in the tree. @throws OperatorError ARTIFACT_INVALID for another one */
  links(): readonly (TreeEntry & { readonly type: 'symlink' })[] {
    const links = [...this.#nodes.values()].flatMap(({ entry }) => (entry.type === 'symlink' ? [entry] : []));
    for (const { path, target } of links) this.#follow(path, target);
    return links;
  }

  #count(bytes: number): void {
    this.#entries += 1;
    this.#bytes += bytes;
    this.#refuseMore(this.#entries);
    if (this.#bytes > this.#limits.bytes)
      throw invalidArtifact(`there are more than ${this.#limits.bytes} bytes in it`);
  }

  #refuseMore(count: number): void {
    if (count > this.#limits.entries)
      throw invalidArtifact(`there are more than ${this.#limits.entries} files and directories in it`);
  }

  /** Makes a directory for an entry below it, or says that this layer has it too. */
  #enter(path: string, entry: string): void {
    const type = this.#nodes.get(path)?.entry.type ?? 'directory';
    if (type !== 'directory') throw invalidArtifact(`${entry} is below ${path}, which is a ${type}`);
    this.#set({ type: 'directory', path });
  }

  #set(entry: TreeEntry): void {
    const folded = foldedPath(entry.path);
    const other = this.#folded.get(folded) ?? entry.path;
    if (other !== entry.path)
      throw invalidArtifact(`${other} and ${entry.path} differ only in case: rename one of them`);
    this.#folded.set(folded, entry.path);
    this.#nodes.set(entry.path, { entry, layer: this.#layer });
    this.#refuseMore(this.#nodes.size);
  }

  #remove(path: string, isGone: (node: Node, at: string) => boolean): readonly string[] {
    const prefix = path === '' ? '' : `${path}/`;
    const isFile = path !== '' && this.#nodes.get(path)?.entry.type !== 'directory';
    const candidates = isFile ? [path] : [...this.#nodes.keys()];
    const gone = candidates.filter((at) => {
      const node = at === path || at.startsWith(prefix) ? this.#nodes.get(at) : undefined;
      return node !== undefined && isGone(node, at);
    });
    for (const at of gone) {
      this.#nodes.delete(at);
      this.#folded.delete(foldedPath(at));
    }
    return gone.toReversed();
  }

  /** Resolves a link component by component, as the kernel does. */
  #follow(path: string, target: string): void {
    let todo = [...directoriesOf(path).slice(-1), target].join('/').split('/');
    let at: readonly string[] = [];
    let hops = 0;
    while (todo.length > 0) {
      const [name = '', ...rest] = todo;
      todo = rest;
      if (name === '' || name === '.') continue;
      if (name === '..' && at.length === 0) throw outside(path, target);
      const next = name === '..' ? at.slice(0, -1) : [...at, name];
      const entry: TreeEntry | undefined = next.length === 0 ? ROOT : this.#nodes.get(next.join('/'))?.entry;
      if (entry === undefined || (rest.length > 0 && entry.type === 'file'))
        throw invalidArtifact(
          `${path} is a link to ${target}, which is not in it: remove or correct the link`,
        );
      if (entry.type !== 'symlink') at = next;
      else {
        hops += 1;
        if (hops > MAX_HOPS) throw invalidArtifact(`${path} is a link in a circle`);
        todo = [...entry.target.split('/'), ...rest];
      }
    }
  }
}

const ROOT: TreeEntry = { type: 'directory', path: '' };

function foldedPath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** `a/b/c` has the directories `a` and `a/b`. */
function directoriesOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function outside(path: string, target: string): OperatorError {
  return invalidArtifact(
    `${path} is a link to ${target}, outside of the module: copy its target into the module`,
  );
}

/** @throws OperatorError ARTIFACT_INVALID for a target that is absolute */
export function linkTarget(path: string, target: string): string {
  if (target.startsWith('/')) throw outside(path, target);
  if (target === '' || hasControls(target))
    throw invalidArtifact(`${path} is a link to ${JSON.stringify(target)}`);
  return target;
}

/**
 * The path that a name in an archive means; empty for the root, `./`.
 *
 * @throws OperatorError ARTIFACT_INVALID for an absolute one, one with `..`, and others that no module needs
 */
export function pathOf(name: string): string {
  const path = name.replace(/^(?:\.\/+)+/u, '').replace(/\/+$/u, '');
  const parts = path.split('/');
  const problem = problemOf(name, path, parts);
  if (problem !== undefined) throw invalidArtifact(`the name ${JSON.stringify(name)} ${problem}`);
  return path === '.' ? '' : path;
}

function problemOf(name: string, path: string, parts: readonly string[]): string | undefined {
  if (name.startsWith('/')) return 'is absolute';
  if (name === '') return 'is empty';
  if (parts.includes('..')) return 'leads out of the module with ".."';
  if (hasControls(name)) return 'has control characters';
  if (path === '' || path === '.') return undefined;
  if (parts.some((part) => part === '' || part === '.')) return 'has an empty part';
  if (parts.length > MAX_DEPTH) return `has more than ${MAX_DEPTH} parts`;
  if (
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)
  )
    return 'is too long';
  return undefined;
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u001F\u007F]/u.test(text);
}
