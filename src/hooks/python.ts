/** Virtual environments of Python hooks: where they are, whether they can be used, and the command that uses them. */

import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';

/** The name of a directory with a virtual environment. */
export const VENV = 'venv';
const INTERPRETER = 'bin/python3';

/** The virtual environment that a hook in Python runs with. */
export interface PythonVenv {
  /** Absolute path of its interpreter. */
  readonly interpreter: string;
  /** For `PYTHONHOME`: set for an environment that has the standard library in it, and would not find it otherwise. */
  readonly home?: string;
  /** Why its interpreter cannot be run. */
  readonly problem?: string;
}

/** How a hook is started. */
export interface HookCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the environment of all hooks. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The virtual environment of a hook: the nearest directory `venv` beside it or above, up to the directory of all hooks.
 * Undefined without one, and for hooks that are not written in Python.
 */
export function findVenv(hookPath: string, hooksRoot: string): PythonVenv | undefined {
  if (extname(hookPath) !== '.py') return undefined;
  for (let directory = dirname(hookPath); ; directory = dirname(directory)) {
    const path = join(directory, VENV);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // A link that leads nowhere counts: the hook was written for what it led to.
    if (stats?.isDirectory() || stats?.isSymbolicLink()) return readVenv(path);
    if (relative(hooksRoot, directory) === '' || directory === dirname(directory)) return undefined;
  }
}

/** Whether a directory is a virtual environment, and no directory of hooks with that name. */
export function isVenv(path: string): boolean {
  return ['pyvenv.cfg', INTERPRETER].some((name) => existsSync(join(path, name)));
}

/** The command that runs a hook, with its virtual environment where it has one. */
export function hookCommand(
  { path, python }: { readonly path: string; readonly python?: PythonVenv | undefined },
  args: readonly string[],
): HookCommand {
  if (python === undefined) return { file: path, args, env: {} };
  const { interpreter, home } = python;
  return { file: interpreter, args: [path, ...args], env: home === undefined ? {} : { PYTHONHOME: home } };
}

function readVenv(path: string): PythonVenv {
  const interpreter = join(path, INTERPRETER);
  if (!existsSync(interpreter)) return { interpreter, problem: problemOf(path, interpreter) };
  // With `python3 -m venv` the library stays where that python3 has it, and PYTHONHOME would hide it.
  return hasLibrary(path) ? { interpreter, home: path } : { interpreter };
}

function problemOf(path: string, interpreter: string): string {
  const create = `create it with \`python3 -m venv ${path}\`, in the image that the operator runs in, or remove the directory`;
  const broken = existsSync(path) ? interpreter : path;
  try {
    return `${broken} is a link to ${readlinkSync(broken)}, which does not exist: ${create}`;
  } catch {
    return `the virtual environment ${path} has no ${INTERPRETER}: ${create}`;
  }
}

function hasLibrary(path: string): boolean {
  try {
    const lib = join(path, 'lib');
    return readdirSync(lib).some(
      (name) => name.startsWith('python3') && existsSync(join(lib, name, 'os.py')),
    );
  } catch {
    return false;
  }
}
