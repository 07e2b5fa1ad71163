import type { JsonObject } from '@addon-operator/json';
import type { ModuleKey, ModuleName } from '../values/module-key.ts';
import type { ModuleEntry } from './file-set.ts';
import type { ModuleManifest } from './module-manifest.ts';

/**
 * The source of a module's chart: `chart-yaml`, the directory is a chart; `templates-only`,
 * templates without Chart.yaml, for which a chart is generated; `none`, hooks only and no release.
 */
export type ModuleChart = 'chart-yaml' | 'templates-only' | 'none';

/** Why a module is not run. None of its parts is started, and its objects in the cluster stay. */
export type Refusal =
  /** The policy does not allow it: nothing was read from its directory. */
  | { readonly type: 'unauthorized'; readonly reason: string }
  | GoneRefusal
  /** One of its files is invalid. */
  | { readonly type: 'invalid'; readonly reason: string; readonly remedy: string }
  /** It requires modules in a cycle, or requires one of those. */
  | { readonly type: 'cycle'; readonly reason: string; readonly remedy: string };

/**
 * The directory is gone or unreadable, files are missing that existed in the last run, or the content of the installed
 * version is nowhere.
 */
export interface GoneRefusal {
  readonly type: 'gone';
  readonly lost: 'directory' | 'files' | 'content';
  readonly reason: string;
  readonly remedy: string;
}

/** Why a module is not run, started or deleted. */
export type Hold =
  | Refusal
  /** The enabled script failed, so the decision is unknown. Running parts continue. */
  | { readonly type: 'undecided'; readonly reason: string; readonly remedy: string };

/** One module, read once from its directory when the daemon starts. */
export interface Module {
  readonly name: ModuleName;
  readonly key: ModuleKey;
  /** Position in the run order: the number of the directory name, or the default order. */
  readonly order: number;
  /** Absolute path of the directory that it runs from; for a link the target. */
  readonly path: string;
  /** Absolute path of the link in the modules directory; absent if it is no link. */
  readonly link?: string;
  /** Absolute path of the original directory, if it runs from a copy; otherwise absent. */
  readonly source?: string;
  /** Absent if it may run. */
  readonly refusal?: Refusal;
  /** Set for a module of the module store: it is enabled unless a flag says otherwise. */
  readonly isStored?: true;
  /** Set when a user removed it from the module store: it is deleted like a disabled module. */
  readonly isRemoved?: true;
  readonly chart: ModuleChart;
  /** Absolute path of the executable enabled script; undefined when there is none or it is not executable. */
  readonly enabledScript: string | undefined;
  /** `<key>Enabled` of the module's own values.yaml. */
  readonly ownFlag: boolean | undefined;
  /** Its own values.yaml, with which its chart is deployed; absent if nothing was read. */
  readonly loadedValues?: { readonly text: string | undefined };
  /** Section of the common values.yaml beside the module, overridden by the section of its own values.yaml. */
  readonly staticValues: JsonObject;
  readonly manifest: ModuleManifest;
  /**
   * The version for requirements: of module.yaml, else of Chart.yaml; undefined without a semantic
   * version.
   */
  readonly version: string | undefined;
  /** The entries of its directory; absent if it could not be read. */
  readonly entries?: readonly ModuleEntry[];
}

/** The path in the modules directory, which may be a link. */
export function entryOf({ path, link, source }: Pick<Module, 'path' | 'link' | 'source'>): string {
  return link ?? source ?? path;
}

/** The directory with its files, without links; not that of a copy. */
export function filesOf({ path, source }: Pick<Module, 'path' | 'source'>): string {
  return source ?? path;
}

/** Sorts by number, then by name. */
export function compareRunOrder(
  a: Pick<Module, 'name' | 'order'>,
  b: Pick<Module, 'name' | 'order'>,
): number {
  if (a.order !== b.order) return a.order - b.order;
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}
