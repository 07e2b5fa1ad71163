import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { findHooks, type HookFile, isScriptName } from '../hooks/find-hooks.ts';
import type { HookOwner } from '../hooks/hook.ts';
import { parseDirectoryName } from '../modules/module-name.ts';
import type { ModuleName } from '../values/module-key.ts';

/** Whose hook a file is, and where that owner is found. */
export type HookPlace =
  | { readonly type: 'global'; readonly globalHooksDir: string }
  | {
      readonly type: 'module';
      readonly module: ModuleName;
      readonly modulesDir: string;
      readonly moduleDir: string;
    };

export function ownerOf(place: HookPlace): HookOwner {
  return place.type === 'global' ? { type: 'global' } : { type: 'module', module: place.module };
}

/** What a directory of a module has, apart from its hooks. */
const MODULE_FILES = ['module.yaml', 'Chart.yaml', 'values.yaml', 'templates', 'enabled'];
const NUMBERED = /^[0-9]+-/;

/**
 * Whose hook the file at an absolute path is: below a directory `hooks` of a module it is the module's, else a global one,
 * which is named by its path below the global hooks directory, below a directory `global-hooks`, or by its file name.
 *
 * @param globalHooksDir of the settings, absolute
 * @throws OperatorError MODULE_INVALID when the directory of the module has a name that no module can have
 */
export function placeOf(path: string, globalHooksDir: string): HookPlace {
  for (const directory of directoriesAbove(path)) {
    const moduleDir = dirname(directory);
    if (basename(directory) === 'hooks' && isModule(moduleDir))
      return {
        type: 'module',
        module: parseDirectoryName(basename(moduleDir)).name,
        modulesDir: dirname(moduleDir),
        moduleDir,
      };
  }
  const isBelow = path.startsWith(`${globalHooksDir}${sep}`);
  const named = directoriesAbove(path).find((directory) => basename(directory) === 'global-hooks');
  return { type: 'global', globalHooksDir: isBelow ? globalHooksDir : (named ?? dirname(path)) };
}

function directoriesAbove(path: string): readonly string[] {
  const directory = dirname(path);
  return directory === path ? [] : [directory, ...directoriesAbove(directory)];
}

function isModule(directory: string): boolean {
  return NUMBERED.test(basename(directory)) || MODULE_FILES.some((name) => existsSync(join(directory, name)));
}

/**
 * The hook at a path, found in the way in which the operator finds it.
 *
 * @throws OperatorError CONFIG_INVALID when the operator would not take the file for a hook, and why
 */
export async function findHookFile(path: string, place: HookPlace): Promise<HookFile> {
  const root = place.type === 'module' ? join(place.moduleDir, 'hooks') : place.globalHooksDir;
  const found = await findHooks(root, ownerOf(place), silentLogger).catch((error: unknown) => {
    throw new OperatorError('CONFIG_INVALID', `cannot look for hooks in ${root}: ${messageOf(error)}`, {
      cause: error,
    });
  });
  const file = found.find((hook) => resolve(hook.path) === path);
  if (file !== undefined) return file;
  throw new OperatorError('CONFIG_INVALID', `${path} is not a hook: ${whyNoHook(path, root)}`);
}

function whyNoHook(path: string, root: string): string {
  if (!existsSync(path)) return 'there is no such file';
  const hidden = relative(root, path)
    .split(sep)
    .find((part) => part.startsWith('.') || part === 'lib' || part === 'venv');
  if (hidden !== undefined) return `the operator ignores '${hidden}' in a hooks directory`;
  if (isScriptName(path))
    return 'it is not executable, and it does not import defineHook from addon-operator/sdk and export its result as the default';
  return `it is a data file or not executable; 'chmod +x ${path}' makes it executable`;
}
