import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { findHooks, type HookFile, isScriptName } from '../hooks/find-hooks.ts';
import type { Hook, HookOwner } from '../hooks/hook.ts';
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

/** Files in a directory of a module, apart from its hooks. */
const MODULE_FILES = ['module.yaml', 'Chart.yaml', 'values.yaml', 'templates', 'enabled'];
const NUMBERED = /^[0-9]+-/;

/** A file, and which of its hooks is meant if it has several: its own name, its index, or both. */
export interface HookAddress {
  /** Absolute. */
  readonly file: string;
  /** Empty: the only hook of the file. */
  readonly part: string;
}

/** Names the probe of a file, whose full name is `FILE-readiness`. */
const READINESS = 'readiness';

/** Reads `FILE` or `FILE:NAME:INDEX`, as commands and recordings name hooks. Names of files and of hooks may have colons. */
export function splitAddress(address: string): HookAddress {
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const probed = address.slice(0, -READINESS.length - 1);
  if (address === `${probed}-${READINESS}` && !isFile(address) && isFile(probed))
    return { file: probed, part: READINESS };
  for (let at = address.indexOf(':'); at > 0; at = address.indexOf(':', at + 1)) {
    const file = address.slice(0, at);
    if (isFile(file)) return { file, part: address.slice(at + 1) };
  }
  return { file: address, part: '' };
}

/**
 * The hook that is meant, of those of a file.
 *
 * @throws OperatorError CONFIG_INVALID listing the hooks of the file, when none or several are meant
 */
export function chooseHook(hooks: readonly Hook[], { file, part }: HookAddress): Hook {
  const runnable = hooks.filter(({ batch }) => batch?.type !== 'settings-check');
  const isMeant = ({ name, batch }: Hook): boolean => {
    if (part === '') return true;
    if (batch?.type === 'readiness') return part === READINESS;
    const isNamed = batch?.type === 'hook' && name.endsWith(`:${part}:${batch.index}`);
    return isNamed || name.endsWith(`:${part}`);
  };
  const [chosen, ...rest] = runnable.filter(isMeant);
  if (chosen !== undefined && rest.length === 0) return chosen;
  const names = runnable.map(({ name }) => name).join(', ');
  const problem =
    part === ''
      ? 'several hooks: append :NAME:INDEX or :INDEX of one of them'
      : `${chosen === undefined ? 'no hook' : 'several hooks'} '${part}': name one of its hooks`;
  throw new OperatorError('CONFIG_INVALID', `${file} has ${problem}, ${names}`);
}

/**
 * Whose hook the file at an absolute path is: below a directory `hooks` of a module it is the module's, else a global one,
 * which is named by its path below the global hooks directory, below a directory `global-hooks`, or by its file name.
 *
 * @param globalHooksDir of the settings, absolute
 * @throws OperatorError MODULE_INVALID when the directory of the module has a name that no module can have
 */
export function placeOf(address: string, globalHooksDir: string): HookPlace {
  const { file: path } = splitAddress(address);
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
 * The file of a hook, found in the way in which the operator finds it.
 *
 * @throws OperatorError CONFIG_INVALID when the operator would not take the file for a hook, and why
 */
export async function findHookFile(
  path: string,
  place: HookPlace,
  batchHooks: readonly string[],
): Promise<HookFile> {
  const root = place.type === 'module' ? join(place.moduleDir, 'hooks') : place.globalHooksDir;
  const found = await findHooks(root, ownerOf(place), silentLogger, { batchHooks }).catch(
    (error: unknown) => {
      throw new OperatorError('CONFIG_INVALID', `cannot look for hooks in ${root}: ${messageOf(error)}`, {
        cause: error,
      });
    },
  );
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
