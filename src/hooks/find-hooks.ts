/**
 * Finds the files that are hooks, and decides how each is run, by name, mode and content. No file is executed. Files that
 * look like hooks but are none are logged with advice.
 */

import { closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Logger } from '@addon-operator/base/log';
import { looksLikeHook } from '../hook-config/hook-likeness.ts';
import { isNamedGlobalBatch } from './batch-file.ts';
import type { HookOwner, HookTransport } from './hook.ts';
import { findVenv, isVenv, type PythonVenv, VENV } from './python.ts';

export interface HookFile {
  readonly name: string;
  readonly path: string;
  readonly transport: HookTransport;
  /** The virtual environment that it runs with. */
  readonly python?: PythonVenv;
  /** It is said to hold several hooks. */
  readonly isNamedBatch?: true;
}

type FoundFile = Omit<HookFile, 'name' | 'isNamedBatch'>;

const HTTP_EXTENSION = '.http.yaml';
/** Data files, never hooks, even if they are executable. */
const SKIPPED_EXTENSIONS = ['.yaml', '.json', '.md', '.txt'];
const EXEC_BITS = 0o111;

export interface FindOptions {
  /** Directory that names of global hooks are relative to; default: `root`, whose parent it is where that is its `hooks/`. */
  readonly namedFrom?: string | undefined;
  /** Files that hold several hooks although they are no compiled programs, relative to `root`. */
  readonly batchHooks?: readonly string[] | undefined;
  /** Gets the path of each file that could be a hook and is none. */
  readonly onUnused?: ((path: string) => void) | undefined;
}

interface Findings {
  readonly found: FoundFile[];
  /** Paths of files that are no data and no hooks. */
  readonly unused: string[];
  readonly log: Logger;
}

/**
 * Finds hooks below a directory, sorted by path as byte strings: executables, and, with any file mode, scripts that hold
 * an in-process hook and `.http.yaml` files. Directories named `lib` (for modules also `venv`), virtual environments, names that begin with a dot and data files are
 * skipped; a file that is neither is skipped with a warning that says how to correct it, if it looks like a hook. A root that does not exist has no
 * hooks.
 *
 * Directories are read synchronously: they are many and small, and that costs a tenth of the other way.
 *
 */
export async function findHooks(
  root: string,
  owner: HookOwner,
  log: Logger,
  { namedFrom = root, onUnused = () => undefined, batchHooks = [] }: FindOptions = {},
): Promise<readonly HookFile[]> {
  const isSkippedDirectory = (path: string): boolean => {
    const name = basename(path);
    if (name === VENV) return owner.type === 'module' || isVenv(path);
    return name.startsWith('.') || name === 'lib';
  };
  if (isSkippedDirectory(root) || !isDirectory(root)) return [];
  const found: FoundFile[] = [];
  const unused: string[] = [];
  await walk(root, isSkippedDirectory, { found, unused, log });
  if (unused.length > 0) reportUnused(unused, found, log);
  for (const path of unused) onUnused(path);
  const named = new Set(batchHooks.map((path) => join(root, path)));
  for (const path of named)
    if (!found.some((file) => file.path === path && file.transport === 'executable'))
      log.warn({ path }, 'batchHooks in module.yaml names a file that is no executable hook');
  // A script with several hooks cannot be recognized by its content, so its name or module.yaml says it.
  const isNamed = (path: string): boolean =>
    owner.type === 'global' ? isNamedGlobalBatch(path) : named.has(path);
  return found
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .map((file) => ({
      name: hookName(file.path, namedFrom, owner),
      ...withVenv(file, root),
      ...(file.transport === 'executable' && isNamed(file.path) && { isNamedBatch: true as const }),
    }));
}

function withVenv(file: FoundFile, root: string): FoundFile {
  const python = file.transport === 'executable' ? findVenv(file.path, root) : undefined;
  return python === undefined ? file : { ...file, python };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

/** Collects hooks and unused files, depth first. */
async function walk(
  directory: string,
  isSkippedDirectory: (path: string) => boolean,
  { found, unused, log }: Findings,
): Promise<void> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) {
      if (!isSkippedDirectory(path)) await walk(path, isSkippedDirectory, { found, unused, log });
    } else if (!name.startsWith('.') && name.endsWith(HTTP_EXTENSION) && !isDirectory(path)) {
      found.push({ path, transport: 'http' });
    } else if (!name.startsWith('.') && !SKIPPED_EXTENSIONS.some((extension) => name.endsWith(extension))) {
      if (stats.isSymbolicLink() && (isDirectory(path) || name === VENV)) {
        log.debug({ path }, 'symlink to a directory among hooks is ignored');
      } else if (isScriptName(name) && isInProcessHook(await textOf(path))) {
        found.push({ path, transport: 'in-process' });
      } else if (!stats.isSymbolicLink() && (stats.mode & EXEC_BITS) === 0) {
        unused.push(path);
      } else {
        found.push({ path, transport: 'executable' });
      }
    }
  }
}

/** Empty for a link that leads nowhere, and for what is no file: a FIFO would be waited for without end. */
async function textOf(path: string): Promise<string> {
  try {
    return statSync(path).isFile() ? await readFile(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Files that look like hooks are named in a warning each, all others of a directory in one record at level debug. */
function reportUnused(unused: readonly string[], found: readonly FoundFile[], log: Logger): void {
  const hooks = found.map(({ path }) => ({ path, text: beginningOf(path) }));
  const others = new Map<string, string[]>();
  for (const path of unused) {
    if (looksLikeHook({ path, text: beginningOf(path) }, hooks)) {
      warnOfNoHook(path, log);
      continue;
    }
    const directory = dirname(path);
    others.set(directory, [...(others.get(directory) ?? []), basename(path)]);
  }
  for (const [directory, files] of others)
    log.debug(
      { path: directory, files },
      'files in the hooks directory that are not executable are no hooks',
    );
}

/** Enough to see whether a file imports another one. */
const BEGINNING_BYTES = 64 * 1024;

/** Empty for what is no file, or cannot be read. */
function beginningOf(path: string): string {
  try {
    if (!statSync(path).isFile()) return '';
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(BEGINNING_BYTES);
      return buffer.toString('latin1', 0, readSync(file, buffer, 0, BEGINNING_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

function warnOfNoHook(path: string, log: Logger): void {
  if (isScriptName(path))
    log.warn(
      { path },
      'script in the hooks directory is not used as a hook: it is not executable, and it does not import defineHook from addon-operator/sdk and export its result as the default; put shared code into a directory named lib',
    );
  else
    log.warn(
      { path, fix: `chmod +x ${path}` },
      'file in the hooks directory is not executable and is not used as a hook; chmod +x makes it one',
    );
}

/** Global hooks are named by their path below `from`, module hooks from the first `hooks/` in their path. */
function hookName(path: string, from: string, owner: HookOwner): string {
  if (owner.type === 'global') return relative(from, path);
  const start = path.indexOf('/hooks/');
  return start < 0 ? relative(from, path) : path.slice(start + 1);
}

const SCRIPT_NAME = /\.(?:ts|mts|js|mjs)$/;
/** Lists end at a brace, so that no part of a text is scanned twice. */
const SDK_IMPORT = /\bimport\s*\{([^{}]*)\}\s*from\s*(['"])addon-operator\/sdk\2/g;
const DEFINE_HOOK = /\bdefineHook\b/;
const DEFAULT_EXPORT = /\bexport\s+default\b|\bas\s+default\b/;

/** Whether a file of this name may hold an in-process hook. */
export function isScriptName(name: string): boolean {
  return SCRIPT_NAME.test(name);
}

/**
 * Whether the text of a script is that of an in-process hook: it imports `defineHook` from `addon-operator/sdk`, and has
 * a default export. The text decides, since running a file to find out what it is would run executables by mistake.
 */
export function isInProcessHook(text: string): boolean {
  const imports = [...text.matchAll(SDK_IMPORT)];
  return imports.some(([, names = '']) => DEFINE_HOOK.test(names)) && DEFAULT_EXPORT.test(text);
}
