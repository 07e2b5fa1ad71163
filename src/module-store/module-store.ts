// The store of versions of modules: `content/sha256-…` with the files of a version, `sha256-….ok`
// beside it when it is whole, and `current/030-web`, a link to the content that runs. Every change
// is one rename; a process that dies between two of them leaves files that `recover` removes.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { KeyedLock } from '@addon-operator/concurrency/keyed-lock';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { isObject, parseJson } from '@addon-operator/json';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { ContentStore, NewContent, StoredContent } from './content-store.ts';
import { StoreLock } from './store-lock.ts';
import { syncPath, syncTree, treeDigest, treeSize, treeStamp } from './tree-digest.ts';

/** The moments at which a process may die with another state on the disk. */
export type StorePoint =
  | 'filling'
  | 'filled'
  | 'synced'
  | 'discarded'
  | 'renamed'
  | 'marked'
  | 'drafted'
  | 'linked'
  | 'unlinked'
  | 'noted'
  | 'unmarked'
  | 'trashed';

export interface ModuleStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** Called at each point, so that tests can end the process there. */
  readonly at?: (point: StorePoint) => void;
}

/** The modules directory of the store in a directory. */
function currentDirOf(directory: string): string {
  return join(resolve(directory), 'current');
}

/** Whether the store was opened before: until then it has no modules directory, and no module. */
export function isOpened(directory: string): boolean {
  return existsSync(currentDirOf(directory));
}

/** The modules directories, and after them the one of the module store. */
export function allModulesDirs({
  modulesDirs,
  moduleStore,
}: Pick<DirectorySettings, 'moduleStore' | 'modulesDirs'>): readonly string[] {
  return moduleStore === '' ? modulesDirs : [...modulesDirs, currentDirOf(moduleStore)];
}

const DRAFT = '.tmp-';
const TRASH = '.trash-';
const REMOVED = '.removed-';
const MARK = '.ok';
const DIGEST = /^sha256:[0-9a-f]{64}$/u;
const ENTRY = /^(?:\d+-)?(?<name>[a-z][a-z0-9-]*)$/u;

/** The content of a mark: the facts, and the tree as it was when it was whole. */
interface Mark extends StoredContent {
  readonly tree: string;
}

/** {@link ContentStore} in a directory, which several processes of one node may use at once. */
export class ModuleStore implements ContentStore {
  readonly currentDir: string;
  readonly #directory: string;
  readonly #contentDir: string;
  readonly #clock: Clock;
  readonly #at: (point: StorePoint) => void;
  readonly #lock: StoreLock;
  readonly #inProcess = new KeyedLock();
  /** The stamps of trees that were read and found whole. */
  readonly #whole = new Map<string, string>();

  constructor({ directory, clock, at = () => undefined }: ModuleStoreOptions) {
    this.#directory = resolve(directory);
    this.#contentDir = join(this.#directory, 'content');
    this.currentDir = currentDirOf(directory);
    this.#clock = clock;
    this.#at = at;
    this.#lock = new StoreLock(this.#directory, clock);
  }

  /**
   * Creates the directories, removes what processes that died have left, and content that is not
   * whole. Linked content stays, so that its module is held until it is added again.
   *
   * @returns digests of content that is not whole
   */
  async recover(): Promise<readonly string[]> {
    return await this.#change('prepare the module store', async () => {
      const linked = new Set((await this.links()).values());
      const damaged: string[] = [];
      for (const name of await readdir(this.#contentDir)) {
        if (name.startsWith('.')) await rm(join(this.#contentDir, name), { recursive: true, force: true });
        const digest = name.replace(MARK, '').replace('-', ':');
        if (!DIGEST.test(digest) || damaged.includes(digest) || (await this.has(digest))) continue;
        damaged.push(digest);
        if (!linked.has(digest)) await this.#discard(digest);
      }
      for (const name of await readdir(this.currentDir))
        if (name.startsWith(DRAFT)) await rm(join(this.currentDir, name), { force: true });
      return damaged;
    });
  }

  pathOf(digest: string): string {
    if (!DIGEST.test(digest)) throw new OperatorError('STORE_FAILED', `'${digest}' is no SHA-256 digest`);
    return join(this.#contentDir, digest.replace(':', '-'));
  }

  /** The digest of a directory with content; undefined for others. */
  digestOf(path: string): string | undefined {
    const digest = this.contains(path) ? basename(path).replace('-', ':') : '';
    return DIGEST.test(digest) ? digest : undefined;
  }

  async has(digest: string): Promise<boolean> {
    return (await this.problemOf(this.pathOf(digest))) === undefined;
  }

  /** Whether a path, without symbolic links, is in this store. */
  contains(path: string): boolean {
    return path.startsWith(`${this.#contentDir}${sep}`);
  }

  /** Why content must not be used: it is not as it was added. Undefined for whole content. */
  async problemOf(path: string): Promise<string | undefined> {
    try {
      const mark = await readMark(`${path}${MARK}`);
      if (mark === undefined) return 'was not added completely to the module store';
      const stamp = await treeStamp(path);
      if (this.#whole.get(path) === stamp) return undefined;
      if ((await treeDigest(path)) !== mark.tree) return 'differs from what was added to the module store';
      this.#whole.set(path, stamp);
      return undefined;
    } catch (error) {
      return `cannot be read: ${messageOf(error)}`;
    }
  }

  /** The version with which content was added; undefined for incomplete content. */
  async versionOf(path: string): Promise<string | undefined> {
    return (await readMark(`${path}${MARK}`))?.version;
  }

  async add(content: NewContent, fill: (directory: string) => Promise<void>): Promise<void> {
    const path = this.pathOf(content.digest);
    const what = `add ${content.module} ${content.version} to the module store`;
    await this.#change(what, async () => {
      if (await this.has(content.digest)) return;
      const draft = join(this.#contentDir, `${DRAFT}${randomUUID()}`);
      try {
        await mkdir(draft);
        this.#at('filling');
        await fill(draft);
        this.#at('filled');
        await syncTree(draft);
        const { digest, module, version } = content;
        const mark: Mark = {
          digest,
          module,
          version,
          sizeBytes: await treeSize(draft),
          addedAtMs: this.#clock.wallMs(),
          tree: await treeDigest(draft),
        };
        this.#at('synced');
        await this.#discard(content.digest);
        this.#at('discarded');
        await rename(draft, path);
        await syncPath(this.#contentDir);
        this.#at('renamed');
        await this.#replace(this.#contentDir, `${basename(path)}${MARK}`, (file) =>
          writeFile(file, `${JSON.stringify(mark)}\n`, { flush: true }),
        );
        this.#at('marked');
      } finally {
        await rm(draft, { recursive: true, force: true });
      }
    });
  }

  async list(): Promise<readonly StoredContent[]> {
    return await this.#attempt('list the module store', async () => {
      const names = await namesIn(this.#contentDir);
      const marks = await Promise.all(
        names
          .filter((name) => name.endsWith(MARK) && !name.startsWith('.'))
          .map((name) => readMark(join(this.#contentDir, name))),
      );
      return marks
        .filter((mark) => mark !== undefined)
        .map(({ tree: _tree, ...content }) => content)
        .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    });
  }

  async links(): Promise<ReadonlyMap<string, string>> {
    return await this.#attempt('read the links of the module store', async () => {
      const links = new Map<string, string>();
      for (const name of await namesIn(this.currentDir)) {
        if (name.startsWith('.')) continue;
        const target = await readlink(join(this.currentDir, name)).catch(() => '');
        const digest = basename(target).replace('-', ':');
        if (DIGEST.test(digest)) links.set(name, digest);
      }
      return links;
    });
  }

  async link(entry: string, digest: string): Promise<void> {
    const module = moduleOfEntry(entry);
    await this.#change(`link ${entry} in the module store`, async () => {
      const problem = await this.problemOf(this.pathOf(digest));
      if (problem !== undefined) throw new Error(`the content ${digest} ${problem}`);
      await this.#replace(this.currentDir, entry, (path) => symlink(this.#targetOf(digest), path), 'drafted');
      this.#at('linked');
      await rm(join(this.currentDir, `${REMOVED}${module}`), { force: true });
      for (const other of (await this.links()).keys())
        if (other !== entry && moduleOfEntry(other) === module) await rm(join(this.currentDir, other));
      await syncPath(this.currentDir);
      this.#at('unlinked');
    });
  }

  async unlink(entry: string): Promise<void> {
    const module = moduleOfEntry(entry);
    await this.#change(`remove ${entry} from the module store`, async () => {
      // Noted first: a link that is gone without a note was lost, and its module is held.
      await writeFile(join(this.currentDir, `${REMOVED}${module}`), '', { flush: true });
      this.#at('noted');
      await rm(join(this.currentDir, entry), { force: true });
      await syncPath(this.currentDir);
      this.#at('unlinked');
    });
  }

  /** Modules whose links were removed by {@link unlink}, and have not been set since. */
  async removedModules(): Promise<ReadonlySet<string>> {
    const names = await namesIn(this.currentDir).catch(() => []);
    const linked = new Set(names.filter((name) => ENTRY.test(name)).map(moduleOfEntry));
    const noted = names.filter((name) => name.startsWith(REMOVED)).map((name) => name.slice(REMOVED.length));
    return new Set(noted.filter((module) => !linked.has(module)));
  }

  async collect(keep: ReadonlySet<string>, olderThanMs: number): Promise<readonly StoredContent[]> {
    return await this.#change('remove old content from the module store', async () => {
      const kept = new Set([...keep, ...(await this.links()).values()]);
      const latestMs = this.#clock.wallMs() - olderThanMs;
      const old = (await this.list()).filter(
        ({ digest, addedAtMs }) => !kept.has(digest) && addedAtMs <= latestMs,
      );
      for (const { digest } of old) await this.#discard(digest);
      return old;
    });
  }

  #targetOf(digest: string): string {
    return join('..', 'content', basename(this.pathOf(digest)));
  }

  /** Removes content if it is there. The mark goes first, so that half of it never counts. */
  async #discard(digest: string): Promise<void> {
    const path = this.pathOf(digest);
    await rm(`${path}${MARK}`, { force: true });
    this.#at('unmarked');
    const trash = join(this.#contentDir, `${TRASH}${randomUUID()}`);
    try {
      await rename(path, trash);
    } catch (error) {
      if (isMissingFile(error)) return;
      throw error;
    }
    this.#whole.delete(path);
    this.#at('trashed');
    await rm(trash, { recursive: true, force: true });
  }

  /** Writes an entry under another name, and renames it. */
  async #replace(
    directory: string,
    name: string,
    write: (path: string) => Promise<unknown>,
    point?: StorePoint,
  ): Promise<void> {
    const draft = join(directory, `${DRAFT}${randomUUID()}`);
    try {
      await write(draft);
      if (point !== undefined) this.#at(point);
      await rename(draft, join(directory, name));
      await syncPath(directory);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Changes the store while no other process does. @throws OperatorError STORE_FAILED */
  async #change<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
    return await this.#attempt(what, async () => {
      await mkdir(this.#contentDir, { recursive: true });
      await mkdir(this.currentDir, { recursive: true });
      const { signal } = new AbortController();
      return await this.#inProcess.run('', signal, () => this.#lock.run(signal, act));
    });
  }

  async #attempt<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (cause) {
      // Errors of the caller that fills a directory have their own code.
      if (cause instanceof OperatorError) throw cause;
      const message = `cannot ${what} in ${this.#directory}: ${messageOf(cause)}`;
      throw new OperatorError('STORE_FAILED', message, { cause });
    }
  }
}

/** The module that an entry such as `030-web` is for. @throws OperatorError STORE_FAILED */
function moduleOfEntry(entry: string): string {
  const name = ENTRY.exec(entry)?.groups?.['name'];
  if (name === undefined)
    throw new OperatorError(
      'STORE_FAILED',
      `'${entry}' cannot be the directory name of a module, such as 030-web`,
    );
  return name;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

/** Orders by module, then by age. */
function sortKey({ module, addedAtMs }: StoredContent): string {
  return `${module} ${String(addedAtMs).padStart(16, '0')}`;
}

/** Undefined for a mark that is missing or not written completely. */
async function readMark(path: string): Promise<Mark | undefined> {
  try {
    const value = parseJson(await readFile(path, 'utf8'));
    return isMark(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMark(value: unknown): value is Mark {
  if (!isObject(value)) return false;
  const { digest, module, version, sizeBytes, addedAtMs, tree } = value;
  const areStrings = [digest, module, version, tree].every((each) => typeof each === 'string');
  return areStrings && typeof sizeBytes === 'number' && typeof addedAtMs === 'number';
}
