import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { chartKind, readChart } from '@addon-operator/helm/chart-source';
import { fieldsOf, type JsonObject } from '@addon-operator/json';
import { mergeValues } from '@addon-operator/json/merge';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { findHooks } from '../../hooks/find-hooks.ts';
import type { Hook } from '../../hooks/hook.ts';
import { loadModule, readSchemas, readValuesFile, sectionOfFile } from '../../modules/load-module.ts';
import type { Module } from '../../modules/module.ts';
import { parseDirectoryName } from '../../modules/module-name.ts';
import { refuseOutsideLinks } from '../../modules/outside-links.ts';
import type { HelmDriver } from '../../releases/helm-driver.ts';
import { GLOBAL_SECTION } from '../../values/module-key.ts';
import type { SectionSchemas } from '../../values/section-schemas.ts';
import { ValuesStore } from '../../values/values-store.ts';
import { visibleToHelm } from '../../values/visible-values.ts';
import type { LintedHook, ParsedModule, ParserProblem, Rendering } from './lint-facts.ts';
import type { ModuleDirectory } from './module-directories.ts';
import { namesIn } from './read-module.ts';
import { renderedObjects } from './rendered.ts';

/** The parts of the operator that need programs or an API server. */
export interface ModuleReaders {
  /** @param onInvalid gets the error of each hook that cannot be loaded */
  readonly loadHooks: (
    module: Module,
    signal: AbortSignal,
    onInvalid: (error: Error) => void,
  ) => Promise<readonly Hook[]>;
  readonly helm: Pick<HelmDriver, 'render'>;
  /** Throws KUBE_KIND_UNKNOWN for a kind that is not built in. */
  readonly findKind: (apiVersion: string | undefined, kind: string) => Promise<ApiResource>;
  readonly allowsLinksOutside: boolean;
  /** Packs the module as for a push, and throws what the push would refuse; absent: not checked. */
  readonly pack?: (directory: string, signal: AbortSignal) => Promise<void>;
}

/** A value that is required may come from the ConfigMap or a hook. */
const MAY_COME_LATER = / is required$/;
const VALUES_TESTS = 'tests/values';

type Report = (rule: string, path: string, message: string) => void;
type Attempt = <T>(rule: string, path: string, act: () => T | Promise<T>) => Promise<T | undefined>;

/**
 * Reads a module with the parsers of the operator: what they refuse is collected instead of thrown.
 *
 * @throws `signal.reason` on abort
 */
export async function parseModule(
  { path: given }: ModuleDirectory,
  readers: ModuleReaders,
  signal: AbortSignal,
): Promise<ParsedModule> {
  const [path, directoryName, modulesDir] = [realpathSync(given), basename(given), dirname(given)];
  const problems: ParserProblem[] = [];
  const report: Report = (rule, file, message) => {
    problems.push({ rule, path: file, message: message.replaceAll(`${path}/`, '') });
  };
  const attempt: Attempt = async (rule, file, act) => {
    try {
      return await act();
    } catch (error) {
      signal.throwIfAborted();
      report(rule, file, messageOf(error));
      return undefined;
    }
  };
  await attempt('module-name', '', () => parseDirectoryName(directoryName));
  await attempt('values-invalid', '../values.yaml', () => commonValues(modulesDir));
  const schemas =
    (await attempt('schema-invalid', 'openapi', () => readSchemas(path, new SchemaCheck()))) ?? {};
  if (!readers.allowsLinksOutside)
    await attempt('link-leads-out', '', () => refuseOutsideLinks(directoryName, path));
  await attempt('not-packable', '', () => readers.pack?.(given, signal));
  const parsed: ParsedModule = {
    problems,
    siblings: await siblingsIn(modulesDir),
    chartFiles: [],
    hookFiles: [],
    unusedFiles: [],
    hooks: [],
    renderings: [],
    namespacedKinds: new Set(),
  };
  const isReadable = !problems.some(({ rule }) => rule === 'module-name' || rule === 'values-invalid');
  const module = isReadable ? await readModule(path, directoryName, modulesDir, report) : undefined;
  if (module === undefined) return parsed;
  const { name, key } = module;
  const store = new ValuesStore({
    global: sectionOfFile(await commonValues(modulesDir), GLOBAL_SECTION),
    modules: new Map([[name, module.staticValues]]),
    schemas: new Map([[name, schemas]]),
  });
  const [values, visible] = [store.knownValues(name), visibleToHelm(store, name)];
  // Values that cannot be used are not compared with their schema.
  const hasUsableValues = Object.keys(module.staticValues).length > 0 && problems.length === 0;
  checkDefaults(key, schemas, report);
  if (hasUsableValues) checkValues(key, schemas, values, report);
  const render = (more: JsonObject): Promise<string> =>
    readers.helm.render({ module, values: mergeValues(visible, more) }, signal, { hasHooks: true });
  const renderings = module.chart === 'none' ? [] : await renderingsOf(render, path, attempt);
  return {
    ...parsed,
    ...(await readHooks(module, modulesDir, { readers, report, signal })),
    module,
    values,
    chartFiles: chartFilesOf(module, visible),
    renderings,
    namespacedKinds: await namespacedKinds(renderings, readers),
  };
}

function commonValues(modulesDir: string): ReturnType<typeof readValuesFile> {
  return readValuesFile(join(modulesDir, 'values.yaml'), false, silentLogger);
}

/** @throws OperatorError for what keeps the operator from reading the module at all */
async function loadedModule(path: string, directoryName: string, modulesDir: string): Promise<Module> {
  const { name, order } = parseDirectoryName(directoryName);
  const found = { name, order: order ?? 0, isNumbered: order !== undefined, path };
  return await loadModule(found, await commonValues(modulesDir), false, silentLogger);
}

/** Undefined for a module that the operator refuses. */
async function readModule(
  path: string,
  directoryName: string,
  modulesDir: string,
  report: Report,
): Promise<Module | undefined> {
  try {
    const module = await loadedModule(path, directoryName, modulesDir);
    if (module.refusal === undefined) return module;
    report('manifest-invalid', 'module.yaml', module.refusal.reason);
  } catch (error) {
    const [rule, file] = hasCode(error, 'VALUES_INVALID')
      ? (['values-invalid', 'values.yaml'] as const)
      : (['manifest-invalid', 'module.yaml'] as const);
    report(rule, file, messageOf(error));
  }
  return undefined;
}

async function siblingsIn(modulesDir: string): Promise<readonly Module[]> {
  const siblings: Module[] = [];
  for (const directoryName of shownNamesIn(modulesDir)) {
    try {
      const path = realpathSync(join(modulesDir, directoryName));
      siblings.push(await loadedModule(path, directoryName, modulesDir));
    } catch {
      // It is no module, or has findings of its own.
    }
  }
  return siblings;
}

function checkDefaults(key: string, schemas: SectionSchemas, report: Report): void {
  for (const [file, schema] of Object.entries({
    'config-values': schemas.config,
    values: schemas.values,
  })) {
    const withoutDefaults = schema?.problems(key, {}) ?? [];
    for (const problem of schema?.problems(key, schema.withDefaults({})) ?? [])
      if (!withoutDefaults.includes(problem) && !MAY_COME_LATER.test(problem))
        report('default-violates-schema', `openapi/${file}.yaml`, problem);
  }
}

function checkValues(key: string, schemas: SectionSchemas, values: JsonObject, report: Report): void {
  const schema = schemas.values ?? schemas.config;
  for (const problem of schema?.problems(key, values) ?? [])
    if (!MAY_COME_LATER.test(problem)) report('values-violate-schema', 'values.yaml', problem);
}

/** What cannot be read is reported when the chart is rendered. */
function chartFilesOf(module: Module, values: unknown): readonly string[] {
  const kind = chartKind(module.path);
  try {
    return kind === undefined ? [] : readChart(module, kind, values).files.map(({ path }) => path);
  } catch {
    return [];
  }
}

async function readHooks(
  module: Module,
  modulesDir: string,
  { readers, report, signal }: Readonly<{ readers: ModuleReaders; report: Report; signal: AbortSignal }>,
): Promise<Pick<ParsedModule, 'hookFiles' | 'unusedFiles' | 'hooks'>> {
  const { path, name } = module;
  const unusedFiles: string[] = [];
  const files = await findHooks(join(path, 'hooks'), { type: 'module', module: name }, silentLogger, {
    onUnused: (file) => unusedFiles.push(relative(path, file)),
  });
  const fileOf = (text: string): string =>
    files.find((file) => text.includes(`'${file.name}'`) || text.includes(file.path))?.path ?? path;
  const loaded = await readers.loadHooks(module, signal, ({ message }) =>
    report('hook-config-invalid', relative(path, fileOf(message)), message),
  );
  const defined = definedKinds(modulesDir);
  const hooks: LintedHook[] = [];
  for (const { path: file, transport, config, batch, name: part } of loaded) {
    const unknownKinds: string[] = [];
    for (const { watch } of config.kubernetes)
      if (!defined.has(watch.kind.toLowerCase()) && (await builtIn(watch, readers)) === undefined)
        unknownKinds.push(watch.kind);
    hooks.push({ path: relative(path, file), transport, config, unknownKinds, ...(batch && { part }) });
  }
  return { hookFiles: files.map((file) => relative(path, file.path)), unusedFiles, hooks };
}

/** Undefined for a kind that is not built in. */
async function builtIn(
  { apiVersion, kind }: { readonly apiVersion?: string; readonly kind: string },
  { findKind }: ModuleReaders,
): Promise<ApiResource | undefined> {
  try {
    return await findKind(apiVersion, kind);
  } catch (error) {
    if (!hasCode(error, 'KUBE_KIND_UNKNOWN')) throw error;
    return undefined;
  }
}

/** Names by which the kinds in `crds/` of all modules of a directory are known, in small letters. */
function definedKinds(modulesDir: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const module of shownNamesIn(modulesDir))
    for (const file of shownNamesIn(join(modulesDir, module, 'crds')))
      for (const name of crdNames(join(modulesDir, module, 'crds', file))) kinds.add(name.toLowerCase());
  return kinds;
}

/** What cannot be read defines nothing: the operator reports it when it installs the CRDs. */
function crdNames(path: string): readonly string[] {
  try {
    return renderedObjects(readFileSync(path, 'utf8'))
      .flatMap(({ object }) => Object.values(fieldsOf(fieldsOf(object['spec'])['names'])).flat())
      .filter((name) => typeof name === 'string');
  } catch {
    return [];
  }
}

async function renderingsOf(
  render: (values: JsonObject) => Promise<string>,
  path: string,
  attempt: Attempt,
): Promise<readonly Rendering[]> {
  const renderings: Rendering[] = [];
  for (const file of ['', ...shownNamesIn(join(path, VALUES_TESTS))]) {
    const valuesFile = file === '' ? '' : `${VALUES_TESTS}/${file}`;
    const manifests = await attempt('render-fails', valuesFile, async (): Promise<[string, string]> => {
      const { values } =
        valuesFile === '' ? { values: {} } : await readValuesFile(join(path, valuesFile), true, silentLogger);
      return [await render(values), await render(values)];
    });
    if (manifests !== undefined) renderings.push({ valuesFile, manifests });
  }
  return renderings;
}

async function namespacedKinds(
  renderings: readonly Rendering[],
  readers: ModuleReaders,
): Promise<ReadonlySet<string>> {
  const kinds = new Set<string>();
  for (const { manifests } of renderings)
    for (const object of renderedObjects(manifests[0]))
      if ((await builtIn(object, readers))?.isNamespaced === true)
        kinds.add(`${object.apiVersion}/${object.kind}`);
  return kinds;
}

function shownNamesIn(directory: string): readonly string[] {
  return namesIn(directory).filter((name) => !name.startsWith('.'));
}
