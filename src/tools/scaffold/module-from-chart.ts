import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';

export interface ModuleFromChartOptions {
  readonly name: string;
  /** Key of its values, such as `webShop`. */
  readonly key: string;
  /** Absolute path of the directory of the module, which does not exist yet. */
  readonly directory: string;
  /** Absolute path of the chart. */
  readonly chart: string;
}

/**
 * Writes a module that deploys a chart as it is: the chart becomes a dependency under the key of the module, so that its
 * templates find their values where they look for them. CRDs are copied to where the operator keeps them up to date.
 *
 * @returns the chart's name and version
 * @throws OperatorError CONFIG_INVALID for a directory that exists, and a chart that cannot be used
 */
export function writeModuleFromChart({ name, key, directory, chart }: ModuleFromChartOptions): {
  readonly chart: string;
  readonly version: string;
} {
  if (existsSync(directory)) throw refused(`nothing is written, because ${directory} exists`);
  const file = join(chart, 'Chart.yaml');
  if (!existsSync(file)) throw refused(`${chart} is not a chart: it has no Chart.yaml`);
  const { value } = parseYaml(readFileSync(file, 'utf8'), { source: file, booleans: 'yaml-1.2' });
  const fields = fieldsOf(value);
  const [chartName, version] = [stringOf(fields['name']), stringOf(fields['version'])];
  if (!/^[\w.-]+$/.test(chartName) || version === '') throw refused(`${file} has no name or no version`);
  refuseMissingDependencies(chart, fields['dependencies']);
  // The key becomes .Chart.Name, of which charts make names of objects, unless they are given another one.
  const isRenamed = key !== name;
  if (isRenamed && !hasNameOverride(chart))
    throw refused(
      `the chart names its objects after the key of the module, which is ${key}, and has no value nameOverride: choose a name without "-", such as ${name.replaceAll('-', '')}`,
    );
  const inside = join(directory, 'charts', chartName);
  mkdirSync(join(directory, 'charts'), { recursive: true });
  cpSync(chart, inside, { recursive: true, filter: (path) => !path.endsWith('/.git') });
  if (existsSync(join(chart, 'crds')))
    cpSync(join(chart, 'crds'), join(directory, 'crds'), { recursive: true });
  const dependency = { name: chartName, version, ...(key !== chartName && { alias: key }) };
  const manifest = { apiVersion: 'v2', name, version: '0.1.0', dependencies: [dependency] };
  writeFileSync(join(directory, 'Chart.yaml'), dumpYaml(manifest, 2));
  const values = isRenamed ? `${key}:\n  nameOverride: ${name}` : `${key}: {}`;
  writeFileSync(
    join(directory, 'values.yaml'),
    `${key}Enabled: true\n# Values of the chart; its defaults are in charts/${chartName}/values.yaml.\n${values}\n`,
  );
  return { chart: chartName, version };
}

/** Whether the chart offers another name for its objects, as charts of `helm create` do. */
function hasNameOverride(chart: string): boolean {
  const file = join(chart, 'values.yaml');
  if (!existsSync(file)) return false;
  const { value } = parseYaml(readFileSync(file, 'utf8'), { source: file, booleans: 'yaml-1.2' });
  return 'nameOverride' in fieldsOf(value);
}

/** Helm would name them only when the module runs. */
function refuseMissingDependencies(chart: string, dependencies: unknown): void {
  const wanted = Array.isArray(dependencies)
    ? dependencies.map((each) => stringOf(fieldsOf(each)['name']))
    : [];
  const vendored = existsSync(join(chart, 'charts')) ? readdirSync(join(chart, 'charts')) : [];
  const missing = wanted.filter(
    (name) => !vendored.some((entry) => entry === name || entry.startsWith(`${name}-`)),
  );
  if (missing.length > 0)
    throw refused(
      `the chart lacks its dependencies ${missing.join(', ')}: run "helm dependency build ${chart}" first`,
    );
}

function refused(reason: string): OperatorError {
  return new OperatorError('CONFIG_INVALID', reason);
}
