import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** A file that was saved, moved or removed. */
export interface SavedFile {
  /** Absolute, as it is watched. */
  readonly path: string;
  /** The same without symbolic links: modules run from there. */
  readonly real: string;
}

/** The effect of a reload on a module. */
export type ModuleReload = 'new' | 'gone' | 'refused' | 'not-loaded' | 'restarted' | 'same';

/** The effects of a reload, for the client that saved the files. */
export interface ReloadFacts {
  /** The effect on each hook, by the path of its file. */
  readonly hooks: ReadonlyMap<string, string>;
  readonly modules: readonly {
    readonly name: string;
    readonly path: string;
    readonly reload: ModuleReload;
  }[];
  readonly modulesDirs: readonly string[];
}

/** Files with one effect, and that effect as a sentence. */
export interface SavedFilesEffect {
  readonly effect: string;
  readonly files: readonly string[];
}

/** Temporary files of editors (vim, emacs), which come and go with the saved file. */
const OF_EDITORS = /^(?:4913|.*~|#.*#)$/;

/** Resolves symbolic links; for a removed file those of its directory. */
export function savedFile(path: string): SavedFile {
  const absolute = resolve(path);
  const parent = realPathOf(dirname(absolute));
  return { path: absolute, real: realPathOf(absolute) ?? join(parent ?? dirname(absolute), basename(path)) };
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The effect of a reload for each saved file; files with the same effect are grouped. */
export function effectsOfSaving(
  saved: readonly SavedFile[],
  facts: ReloadFacts,
): readonly SavedFilesEffect[] {
  const effects = new Map<string, Set<string>>();
  for (const file of saved) {
    if (OF_EDITORS.test(basename(file.path)) || isAbove(file, saved)) continue;
    const effect = effectOf(file, facts);
    effects.set(effect, (effects.get(effect) ?? new Set()).add(basename(file.path)));
  }
  return [...effects].map(([effect, files]) => ({ effect, files: [...files] }));
}

/** A directory is reported together with the files in it. */
function isAbove({ path }: SavedFile, saved: readonly SavedFile[]): boolean {
  return saved.some((other) => other.path.startsWith(`${path}/`));
}

function effectOf({ path, real }: SavedFile, { hooks, modules, modulesDirs }: ReloadFacts): string {
  const ofHook = hooks.get(path) ?? hooks.get(real);
  if (ofHook !== undefined) return ofHook;
  // A renamed module is known in both places: the current one comes first.
  const module = modules.find((each) => isWithin(real, each.path) || isWithin(path, each.path));
  if (module !== undefined) return `module ${module.name} ${MODULE_EFFECTS[module.reload]}`;
  return modulesDirs.some((directory) => isWithin(path, resolve(directory)))
    ? 'all modules run again with it'
    : 'hooks use it at their next run';
}

const MODULE_EFFECTS: Readonly<Record<ModuleReload, string>> = {
  new: 'is new and runs if it is enabled',
  gone: 'is gone: what it runs ends, and its release is removed',
  refused: 'does not run with these files; `addon-operator status` says why',
  'not-loaded': 'stays as it was until its files can be loaded',
  restarted: 'starts anew with all its hooks',
  same: 'runs again with it',
};

function isWithin(path: string, directory: string): boolean {
  return !/^\.\.(?:\/|$)/.test(relative(directory, path));
}
