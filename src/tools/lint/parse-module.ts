import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isObject, type JsonObject } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import type { HookConfig } from '../../hook-config/hook-config.ts';
import type { KubernetesBindingSpec } from '../../hook-config/kubernetes-binding.ts';
import type {
  LintedHook,
  ParsedModule,
  ParserProblem,
  Rendering,
  RequirementFacts,
  SiblingFacts,
} from './lint-facts.ts';
import type { ModuleDirectory } from './module-directories.ts';

/** A schema of values. */
export interface ValuesSchemaFacts {
  readonly withDefaults: (value: JsonObject) => JsonObject;
  /** @param key what paths begin with */
  readonly problems: (key: string, value: JsonObject) => readonly string[];
}

/** A hook that the operator can load. */
export interface ParsedHookFile {
  /** Absolute. */
  readonly path: string;
  readonly transport: LintedHook['transport'];
  readonly config: HookConfig;
  readonly name: string;
  /** Absent for the only hook of its file. */
  readonly batch?: object;
}

/** A module as the operator has read it. */
export interface LoadedModule {
  readonly name: string;
  readonly key: string;
  readonly version: string | undefined;
  readonly chart: ParsedModule['chart'];
  readonly requires: readonly RequirementFacts[];
  readonly reconcileEvery: string | undefined;
  readonly weight: number | undefined;
  /** Sentences about keys and values of module.yaml that have no effect. */
  readonly remarks: readonly string[];
  /** Its section of files, without defaults. */
  readonly staticValues: JsonObject;
  /** Its section with defaults. */
  readonly values: JsonObject;
  readonly schemas: { readonly config?: ValuesSchemaFacts; readonly values?: ValuesSchemaFacts };
  /** Files that helm gets, relative to the module. */
  readonly chartFiles: readonly string[];
  /** The files that are hooks; paths are absolute. */
  readonly hookFiles: readonly { readonly name: string; readonly path: string }[];
  /** @param onInvalid gets the error of each hook that cannot be loaded */
  readonly loadHooks: (onInvalid: (error: Error) => void) => Promise<readonly ParsedHookFile[]>;
  /** Renders the chart. @param values merged over those of the module: a key for the module, and `global` */
  readonly render: (values: JsonObject) => Promise<string>;
}

/** What the operator reads modules with. Each function throws what keeps the operator from using the module. */
export interface OperatorParsers {
  readonly checkName: (directoryName: string) => unknown;
  readonly checkCommonValues: (modulesDir: string) => unknown;
  readonly checkSchemas: (path: string) => unknown;
  readonly checkLinks: (directoryName: string, path: string) => unknown;
  /**
   * Reads a module; schemas that cannot be used are left out.
   *
   * @param path real path of its directory
   * @param directoryName name of the directory, or of the link to it
   */
  readonly load: (path: string, directoryName: string, modulesDir: string) => Promise<LoadedModule>;
  /** Throws KUBE_KIND_UNKNOWN for a kind that is not built in. */
  readonly findKind: (apiVersion: string | undefined, kind: string) => Promise<unknown>;
}

/** A value that is required may come from the ConfigMap or a hook. */
const MAY_COME_LATER = / is required$/;
const VALUES_TESTS = 'tests/values';

type Report = (rule: string, path: string, message: string) => void;
type TryParse = <T>(rule: string, path: string, act: () => T | Promise<T>) => Promise<T | undefined>;

/**
 * Reads a module with the parsers of the operator: what they refuse is collected instead of thrown.
 *
 * @throws `signal.reason` on abort
 */
export async function parseModule(
  { path: given }: ModuleDirectory,
  parsers: OperatorParsers,
  signal: AbortSignal,
): Promise<ParsedModule> {
  const [path, directoryName, modulesDir] = [realpathSync(given), basename(given), dirname(given)];
  const problems: ParserProblem[] = [];
  const report: Report = (rule, file, message) => {
    problems.push({ rule, path: file, message: message.replaceAll(`${path}/`, '') });
  };
  const attempt: TryParse = async (rule, file, act) => {
    try {
      return await act();
    } catch (error) {
      signal.throwIfAborted();
      report(rule, file, messageOf(error));
      return undefined;
    }
  };
  await attempt('module-name', '', () => parsers.checkName(directoryName));
  await attempt('values-invalid', '../values.yaml', () => parsers.checkCommonValues(modulesDir));
  await attempt('schema-invalid', 'openapi', () => parsers.checkSchemas(path));
  await attempt('link-leads-out', '', () => parsers.checkLinks(directoryName, path));
  const siblings = await siblingsIn(modulesDir, parsers);
  const nothing = {
    problems,
    siblings,
    requires: [],
    chartFiles: [],
    hookFiles: [],
    hooks: [],
    renderings: [],
  };
  const isReadable = !problems.some(({ rule }) => rule === 'module-name' || rule === 'values-invalid');
  const module = isReadable ? await loaded(parsers, { path, directoryName, modulesDir }, report) : undefined;
  if (module === undefined) return { ...nothing, chart: 'none' };
  checkValues(module, problems.length === 0, report);
  const { name, key, version, chart, requires, reconcileEvery, weight, remarks, values } = module;
  return {
    ...nothing,
    name,
    key,
    version,
    chart,
    requires,
    reconcileEvery,
    weight,
    ignored: remarks,
    chartFiles: module.chartFiles,
    values,
    hookFiles: module.hookFiles.map((file) => relative(path, file.path)),
    hooks: await hooksOf(module, path, modulesDir, parsers, report),
    renderings: chart === 'none' ? [] : await renderingsOf(module, path, attempt),
  };
}

async function loaded(
  parsers: OperatorParsers,
  { path, directoryName, modulesDir }: Readonly<Record<'path' | 'directoryName' | 'modulesDir', string>>,
  report: Report,
): Promise<LoadedModule | undefined> {
  try {
    return await parsers.load(path, directoryName, modulesDir);
  } catch (error) {
    if (hasCode(error, 'VALUES_INVALID')) report('values-invalid', 'values.yaml', error.message);
    else report('manifest-invalid', 'module.yaml', messageOf(error));
    return undefined;
  }
}

async function siblingsIn(modulesDir: string, parsers: OperatorParsers): Promise<readonly SiblingFacts[]> {
  const siblings: SiblingFacts[] = [];
  for (const directoryName of namesIn(modulesDir)) {
    try {
      const path = realpathSync(join(modulesDir, directoryName));
      const { name, version, requires } = await parsers.load(path, directoryName, modulesDir);
      siblings.push({ name, version, requires });
    } catch {
      // It is no module, or has findings of its own.
    }
  }
  return siblings;
}

/** @param isClean whether nothing else is wrong: values that cannot be used are not compared with their schema */
function checkValues(
  { key, schemas, staticValues, values }: LoadedModule,
  isClean: boolean,
  report: Report,
): void {
  for (const [file, schema] of Object.entries({
    'config-values': schemas.config,
    values: schemas.values,
  })) {
    const withoutDefaults = schema?.problems(key, {}) ?? [];
    for (const problem of schema?.problems(key, schema.withDefaults({})) ?? [])
      if (!withoutDefaults.includes(problem) && !MAY_COME_LATER.test(problem))
        report('default-violates-schema', `openapi/${file}.yaml`, problem);
  }
  if (Object.keys(staticValues).length === 0 || !isClean) return;
  const schema = schemas.values ?? schemas.config;
  for (const problem of schema?.problems(key, values) ?? [])
    if (!MAY_COME_LATER.test(problem)) report('values-violate-schema', 'values.yaml', problem);
}

async function hooksOf(
  { hookFiles, loadHooks }: LoadedModule,
  path: string,
  modulesDir: string,
  parsers: OperatorParsers,
  report: Report,
): Promise<readonly LintedHook[]> {
  const fileOf = (text: string): string =>
    relative(
      path,
      hookFiles.find((file) => text.includes(`'${file.name}'`) || text.includes(file.path))?.path ?? path,
    );
  const hooks = await loadHooks(({ message }) => report('hook-config-invalid', fileOf(message), message));
  const defined = definedKinds(modulesDir);
  const facts: LintedHook[] = [];
  for (const hook of hooks) {
    const unknownKinds: string[] = [];
    for (const { watch } of hook.config.kubernetes)
      if (!defined.has(watch.kind.toLowerCase()) && !(await isBuiltIn(watch, parsers)))
        unknownKinds.push(watch.kind);
    const { transport, config, name, batch } = hook;
    const part = batch === undefined ? {} : { part: name };
    facts.push({ path: relative(path, hook.path), transport, config, unknownKinds, ...part });
  }
  return facts;
}

async function isBuiltIn(
  { apiVersion, kind }: KubernetesBindingSpec,
  parsers: OperatorParsers,
): Promise<boolean> {
  try {
    await parsers.findKind(apiVersion, kind);
    return true;
  } catch (error) {
    if (!hasCode(error, 'KUBE_KIND_UNKNOWN')) throw error;
    return false;
  }
}

/** Names by which the kinds in `crds/` of all modules of a directory are known, in small letters. */
function definedKinds(modulesDir: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const module of namesIn(modulesDir))
    for (const file of namesIn(join(modulesDir, module, 'crds')))
      for (const name of crdNames(join(modulesDir, module, 'crds', file))) kinds.add(name.toLowerCase());
  return kinds;
}

/** What cannot be read defines nothing: the operator reports it when it installs the CRDs. */
function crdNames(path: string): readonly string[] {
  try {
    return [...yamlDocuments(readFileSync(path, 'utf8'))].flatMap(({ text }) => {
      const { value } = parseYaml(text, { source: path, booleans: 'yaml-1.1' });
      const spec = isObject(value) && isObject(value['spec']) ? value['spec'] : {};
      const names = isObject(spec['names']) ? spec['names'] : {};
      return Object.values(names)
        .flat()
        .filter((name) => typeof name === 'string');
    });
  } catch {
    return [];
  }
}

async function renderingsOf(
  { render }: LoadedModule,
  path: string,
  attempt: TryParse,
): Promise<readonly Rendering[]> {
  const renderings: Rendering[] = [];
  for (const file of ['', ...namesIn(join(path, VALUES_TESTS))]) {
    const valuesFile = file === '' ? '' : `${VALUES_TESTS}/${file}`;
    const manifests = await attempt('render-fails', valuesFile, async (): Promise<[string, string]> => {
      const values = valuesFile === '' ? {} : valuesIn(join(path, valuesFile));
      return [await render(values), await render(values)];
    });
    if (manifests !== undefined) renderings.push({ valuesFile, manifests });
  }
  return renderings;
}

function valuesIn(path: string): JsonObject {
  const { value } = parseYaml(readFileSync(path, 'utf8'), { source: path, booleans: 'yaml-1.1' });
  return isJsonMap(value) ? value : {};
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}
