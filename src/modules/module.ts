import type { JsonObject } from '@addon-operator/json';
import type { ModuleKey, ModuleName } from '../values/module-key.ts';
import type { ModuleEntry } from './file-set.ts';
import type { ModuleManifest } from './module-manifest.ts';

/**
 * How helm gets the chart of a module: `chart-yaml`, the directory is a chart; `templates-only`, there are templates
 * but no Chart.yaml, so a chart is made for it; `none`, the module has hooks only and no release.
 */
export type ModuleChart = 'chart-yaml' | 'templates-only' | 'none';

/** Why a module is not run. Nothing of it is started, and what it has in the cluster stays. */
export type Refusal =
  /** The policy does not admit it: nothing was read from its directory. */
  | { readonly type: 'unauthorized'; readonly reason: string }
  | GoneRefusal
  /** A file of it cannot be used. */
  | { readonly type: 'invalid'; readonly reason: string; readonly remedy: string }
  /** It is one of modules that require each other in a cycle, or requires one of them. */
  | { readonly type: 'cycle'; readonly reason: string; readonly remedy: string };

/** Its directory is gone or cannot be read, or files are missing that it had when it was last run. */
export interface GoneRefusal {
  readonly type: 'gone';
  readonly lost: 'directory' | 'files';
  readonly reason: string;
  readonly remedy: string;
}

/** What keeps a module from being run, started or deleted. */
export type Hold =
  | Refusal
  /** Its enabled script failed, so that it is not known whether it is to run. What of it runs goes on. */
  | { readonly type: 'undecided'; readonly reason: string; readonly remedy: string };

/** One module, read once from its directory when the daemon starts. */
export interface Module {
  readonly name: ModuleName;
  readonly key: ModuleKey;
  /** Position in the run order: the number of the directory name, or the default order. */
  readonly order: number;
  /** Absolute path of the directory that it runs from; for a symbolic link the path it leads to. */
  readonly path: string;
  /** Absolute path of the link in the modules directory that led to it; absent where that was no link. */
  readonly link?: string;
  /** Absolute path of the directory it was copied from; absent when it runs from its original directory. */
  readonly source?: string;
  /** Absent when it may be run. */
  readonly refusal?: Refusal;
  readonly chart: ModuleChart;
  /** Absolute path of the executable enabled script; undefined when there is none or it is not executable. */
  readonly enabledScript: string | undefined;
  /** `<key>Enabled` of the module's own values.yaml. */
  readonly ownFlag: boolean | undefined;
  /** Its own values.yaml as it was read, which its chart is deployed with; absent where nothing was read. */
  readonly loadedValues?: { readonly text: string | undefined };
  /** Section of the common values.yaml beside the module, overridden by the section of its own values.yaml. */
  readonly staticValues: JsonObject;
  readonly manifest: ModuleManifest;
  /** What other modules can require: of module.yaml, else of Chart.yaml; undefined without a semantic version. */
  readonly version: string | undefined;
  /** What its directory contained when it was read; absent where it could not be read. */
  readonly entries?: readonly ModuleEntry[];
}

/** Its path in the modules directory, which may be that of a link. */
export function entryOf({ path, link, source }: Pick<Module, 'path' | 'link' | 'source'>): string {
  return link ?? source ?? path;
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
