import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { chartKind, readChart } from '@addon-operator/helm/chart-source';
import { mergeValues } from '@addon-operator/json/merge';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { findHooks } from '../hooks/find-hooks.ts';
import { loadModule, readSchemas, readValuesFile, sectionOfFile } from '../modules/load-module.ts';
import type { Module } from '../modules/module.ts';
import { parseDirectoryName } from '../modules/module-name.ts';
import { refuseOutsideLinks } from '../modules/outside-links.ts';
import type { Inspection } from '../plan/inspection.ts';
import type { OperatorParsers } from '../tools/lint/module-lint.ts';
import { GLOBAL_SECTION } from '../values/module-key.ts';
import { ValuesStore } from '../values/values-store.ts';
import { visibleToHelm } from '../values/visible-values.ts';

/** What the operator reads modules with, for `module lint`. */
export function operatorParsers(
  { operator: { sources }, base: { helm, cluster } }: Inspection,
  allowsLinksOutside: boolean,
  signal: AbortSignal,
): OperatorParsers {
  const commonValues = (modulesDir: string): ReturnType<typeof readValuesFile> =>
    readValuesFile(join(modulesDir, 'values.yaml'), false, silentLogger);
  return {
    checkName: parseDirectoryName,
    checkCommonValues: commonValues,
    checkSchemas: (path) => readSchemas(path, new SchemaCheck()),
    checkLinks: (name, path) => (allowsLinksOutside ? undefined : refuseOutsideLinks(name, path)),
    load: async (path, directoryName, modulesDir) => {
      const { name, order } = parseDirectoryName(directoryName);
      const common = await commonValues(modulesDir);
      const found = { name, order: order ?? 0, isNumbered: order !== undefined, path };
      const module = await loadModule(found, common, false, silentLogger);
      if (module.refusal !== undefined) throw new OperatorError('MODULE_INVALID', module.refusal.reason);
      const schemas = await readSchemas(path, new SchemaCheck()).catch(() => ({}));
      const store = new ValuesStore({
        global: sectionOfFile(common, GLOBAL_SECTION),
        modules: new Map([[name, module.staticValues]]),
        schemas: new Map([[name, schemas]]),
      });
      return {
        ...module.manifest,
        ...module,
        values: store.knownValues(name),
        schemas,
        chartFiles: chartFilesOf(module, visibleToHelm(store, name)),
        hookFiles: await findHooks(join(path, 'hooks'), { type: 'module', module: name }, silentLogger),
        loadHooks: (onInvalid) => sources.loadModuleHooks(module, signal, onInvalid),
        render: (more) => {
          const values = mergeValues(visibleToHelm(store, name), more);
          return helm.render({ module, values }, signal, { hasHooks: true });
        },
      };
    },
    findKind: (apiVersion, kind) => cluster.discovery.find(apiVersion, kind, signal),
  };
}

/** What cannot be read is reported when the chart is rendered. */
function chartFilesOf(module: Pick<Module, 'path'>, values: unknown): readonly string[] {
  const kind = chartKind(module.path);
  try {
    return kind === undefined ? [] : readChart(module, kind, values).files.map(({ path }) => path);
  } catch {
    return [];
  }
}
