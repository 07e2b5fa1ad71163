import type { JsonObject } from '@addon-operator/json';
import type { ModuleKey, ModuleName } from '../values/module-key.ts';
import type { ModuleManifest } from './module-manifest.ts';

/**
 * How helm gets the chart of a module: `chart-yaml`, the directory is a chart; `templates-only`, there are templates
 * but no Chart.yaml, so a chart is made for it; `none`, the module has hooks only and no release.
 */
export type ChartKind = 'chart-yaml' | 'templates-only' | 'none';

/** One module, read once from its directory when the daemon starts. */
export interface Module {
  readonly name: ModuleName;
  readonly key: ModuleKey;
  /** Position in the run order: the number of the directory name, or the default order. */
  readonly order: number;
  /** Absolute path of the directory that it runs from; for a symbolic link the path it leads to. */
  readonly path: string;
  /** Absolute path of the directory it was copied from; absent when it runs from its original directory. */
  readonly source?: string;
  /** Why it may not be run: then nothing was read from its directory. Absent when it may. */
  readonly refusal?: string;
  readonly chart: ChartKind;
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
