import { lstatSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { Logger } from '@addon-operator/base/log';
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
  readonly onNoHook: (path: string) => void;
  readonly log: Logger;
}

/**
 * Finds hooks below a directory, sorted by path as byte strings: executables, and, with any file mode, scripts that hold
 * an in-process hook and `.http.yaml` files. Directories named `lib` (for modules also `venv`), virtual environments, names that begin with a dot and data files are
 * skipped; a file that is neither is skipped with a warning that says how to correct it. A root that does not exist has no
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
  const onNoHook = (path: string): void => {
    warnOfNoHook(path, log);
    onUnused(path);
  };
  await walk(root, isSkippedDirectory, { found, onNoHook, log });
  const named = new Set(batchHooks.map((path) => join(root, path)));
  for (const path of named)
    if (!found.some((file) => file.path === path && file.transport === 'executable'))
      log.warn({ path }, 'batchHooks in module.yaml names a file that is no executable hook');
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

async function walk(
  directory: string,
  isSkippedDirectory: (path: string) => boolean,
  { found, onNoHook, log }: Findings,
): Promise<void> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) {
      if (!isSkippedDirectory(path)) await walk(path, isSkippedDirectory, { found, onNoHook, log });
    } else if (!name.startsWith('.') && name.endsWith(HTTP_EXTENSION) && !isDirectory(path)) {
      found.push({ path, transport: 'http' });
    } else if (!name.startsWith('.') && !SKIPPED_EXTENSIONS.some((extension) => name.endsWith(extension))) {
      if (stats.isSymbolicLink() && isDirectory(path)) {
        log.debug({ path }, 'symlink to a directory among hooks is ignored');
      } else if (isScriptName(name) && isInProcessHook(await textOf(path))) {
        found.push({ path, transport: 'in-process' });
      } else if (!stats.isSymbolicLink() && (stats.mode & EXEC_BITS) === 0) {
        onNoHook(path);
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
