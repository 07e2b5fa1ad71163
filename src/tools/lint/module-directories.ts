import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';

/** Where a module is. */
export interface ModuleDirectory {
  /** Absolute; a link is not followed. */
  readonly path: string;
  /** As messages show it. */
  readonly directory: string;
}

/** A directory with one of these is a module. */
const MARKS = ['Chart.yaml', 'module.yaml', 'hooks', 'templates', 'openapi', 'crds', 'enabled'];
const NUMBERED = /^\d+-/;

/**
 * The modules that are meant by directories: each is a module, or has modules in it.
 *
 * @returns each module once, in the order of their paths
 * @throws OperatorError CONFIG_INVALID for what is no directory, and for one without modules
 */
export function findModuleDirectories(given: readonly string[], cwd: string): readonly ModuleDirectory[] {
  const paths = given.flatMap((name) => {
    const path = resolve(cwd, name);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new OperatorError(
        'CONFIG_INVALID',
        `${name} is no directory: name a module, or a directory of modules`,
      );
    const found = isModule(path) ? [path] : modulesIn(path);
    if (found.length > 0) return found;
    throw new OperatorError(
      'CONFIG_INVALID',
      `there are no modules in ${name}: a module has ${MARKS.join(', ')}, or a number in its name`,
    );
  });
  return [...new Set(paths)].toSorted().map((path) => ({ path, directory: relative(cwd, path) || '.' }));
}

function modulesIn(path: string): readonly string[] {
  return readdirSync(path)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(path, name))
    .filter((entry) => statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true)
    .filter((entry) => NUMBERED.test(basename(entry)) || isModule(entry));
}

function isModule(path: string): boolean {
  return MARKS.some((name) => existsSync(join(path, name)));
}
