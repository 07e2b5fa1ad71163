import { constants, type Stats } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isMissingFile } from '@addon-operator/files/missing-file';
import type { Json, JsonObject } from '@addon-operator/json';
import { isJsonMap, mergeValues } from '@addon-operator/json/merge';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { RULES_KEY } from '@addon-operator/value-schemas/schema-rules';
import { parseYaml } from '@addon-operator/yaml';
import validVersion from 'semver/functions/valid.js';
import { keyOfName } from '../values/module-key.ts';
import { parseSectionSchemas, type SchemaText, type SectionSchemas } from '../values/section-schemas.ts';
import type { Module, ModuleChart, Refusal } from './module.ts';
import { type ModuleManifest, NO_MANIFEST, parseModuleManifest } from './module-manifest.ts';

/** A module of which only the place is known. */
export interface FoundModule extends Pick<Module, 'name' | 'order' | 'path' | 'link' | 'entries'> {
  /** Whether the directory's name begins with a number, which is the order then. */
  readonly isNumbered: boolean;
}

/**
 * Reads the directory of one module. An invalid module.yaml, or a name that helm does not accept,
 * refuses the module.
 *
 * @param common the values.yaml beside the module's directory
 * @param isStrict whether the module must have a values.yaml
 * @throws OperatorError VALUES_INVALID for an invalid values.yaml, MODULE_INVALID when a file
 *   cannot be accessed
 */
export async function loadModule(
  { name, order, isNumbered, path, link, entries }: FoundModule,
  common: ValuesFile,
  isStrict: boolean,
  log: Logger,
): Promise<Module> {
  const key = keyOfName(name);
  const own = await readValuesFile(join(path, 'values.yaml'), isStrict, log);
  const chart = await chartKind(path);
  const { manifest, refusal = refusalOfName(name, chart) } = await readManifest(path, name);
  if (manifest.remarks.length > 0)
    log.warn({ module: name, path: join(path, MANIFEST_FILE), ignored: manifest.remarks }, IGNORED_MESSAGE);
  return {
    name,
    key,
    // The number in the directory's name wins over `weight`, which is Deckhouse's.
    order: isNumbered ? order : (manifest.weight ?? order),
    path,
    ...(refusal && { refusal }),
    ...(link !== undefined && { link }),
    ...(entries && { entries }),
    chart,
    enabledScript: await enabledScript(path, name, log),
    ownFlag: flagOfFile(own, `${key}Enabled`),
    loadedValues: { text: own.text },
    staticValues: mergeValues(sectionOfFile(common, key), sectionOfFile(own, key)),
    manifest,
    version: manifest.version ?? (await readChartVersion(path)),
  };
}

const MANIFEST_FILE = 'module.yaml';
const IGNORED_MESSAGE = 'module.yaml has keys or values that are ignored';

/** helm's limit for names of releases, which are the modules' names. */
const MAX_RELEASE_NAME = 53;

function refusalOfName(name: string, chart: ModuleChart): Refusal | undefined {
  if (chart === 'none' || name.length <= MAX_RELEASE_NAME) return undefined;
  return {
    type: 'invalid',
    reason: `the name ${name} has ${name.length} characters, but a helm release may have ${MAX_RELEASE_NAME}`,
    remedy: 'rename the directory of the module',
  };
}

/** A module of which only its place is known, with its section of the common values.yaml. */
export function refusedModule(
  { name, order, path }: Pick<Module, 'name' | 'order' | 'path'>,
  common: ValuesFile,
  refusal: Refusal,
): Module {
  const key = keyOfName(name);
  return {
    name,
    key,
    order,
    path,
    refusal,
    chart: 'none',
    enabledScript: undefined,
    ownFlag: undefined,
    staticValues: sectionOfFile(common, key),
    manifest: NO_MANIFEST,
    version: undefined,
  };
}

async function chartKind(path: string): Promise<ModuleChart> {
  if ((await look(join(path, 'Chart.yaml')))?.isFile()) return 'chart-yaml';
  return (await look(join(path, 'templates')))?.isDirectory() ? 'templates-only' : 'none';
}

async function enabledScript(modulePath: string, name: string, log: Logger): Promise<string | undefined> {
  const path = join(modulePath, 'enabled');
  const stats = await look(path);
  if (stats === undefined) return undefined;
  if (stats.isFile() && (await isExecutable(path))) return path;
  log.warn(
    { module: name, path, fix: `chmod +x ${path}` },
    'Found non-executable enabled script for module - assuming enabled state',
  );
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file at the path, after links; undefined if there is none. */
async function look(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new OperatorError('MODULE_INVALID', `cannot access ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** Reads the `module.yaml` of a module; without one the module requires nothing. */
async function readManifest(
  modulePath: string,
  name: string,
): Promise<{ readonly manifest: ModuleManifest; readonly refusal?: Refusal }> {
  const path = join(modulePath, MANIFEST_FILE);
  try {
    const content = await readYaml(path);
    return { manifest: content === undefined ? NO_MANIFEST : parseModuleManifest(content, name, path) };
  } catch (cause) {
    const isNamed = cause instanceof OperatorError && cause.code === 'MODULE_INVALID';
    const error = isNamed
      ? cause
      : new OperatorError('MODULE_INVALID', `cannot use ${path}: ${messageOf(cause)}`, { cause });
    return { manifest: NO_MANIFEST, refusal: invalidFile(error) };
  }
}

/** The refusal of a module with an invalid file. */
export function invalidFile(error: OperatorError): Refusal {
  return {
    type: 'invalid',
    reason: error.message,
    remedy: 'correct the file',
  };
}

/** The version in a module's Chart.yaml; undefined without a semantic one. */
async function readChartVersion(modulePath: string): Promise<string | undefined> {
  try {
    const chart = await readYaml(join(modulePath, 'Chart.yaml'));
    const version = isJsonMap(chart) ? chart['version'] : undefined;
    return (typeof version === 'string' && validVersion(version)) || undefined;
  } catch {
    // An invalid chart is reported by helm when the module runs.
    return undefined;
  }
}

async function readYaml(path: string): Promise<Json | undefined> {
  let content: string;
  try {
    content = await readRegular(path);
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw cause;
  }
  return parseYaml(content, { source: path, booleans: 'yaml-1.2' }).value;
}

/**
 * Reads the schemas in `openapi/` below a directory: of a module, or of the global hooks for the
 * section `global`.
 *
 * @throws OperatorError VALUES_INVALID for an invalid or unreadable schema
 */
export async function readSchemas(directory: string, check: SchemaCheck): Promise<SectionSchemas> {
  const [config, values] = await Promise.all([
    readSchema(join(directory, 'openapi', 'config-values.yaml')),
    readSchema(join(directory, 'openapi', 'values.yaml')),
  ]);
  return await parseSchemas(config, values, check);
}

/** @throws OperatorError VALUES_INVALID for a text that is no schema */
export async function parseSchemas(
  config: SchemaText | undefined,
  values: SchemaText | undefined,
  check = new SchemaCheck(),
): Promise<SectionSchemas> {
  const hasRules = [config, values].some((file) => file?.text.includes(RULES_KEY));
  // Imported on demand: rules are rare, and their interpreter takes time to load.
  const rules = hasRules ? await import('@addon-operator/value-schemas/cel-rules') : undefined;
  return parseSectionSchemas(config, values, { check, parseRules: rules?.parseCelRules });
}

async function readSchema(path: string): Promise<SchemaText | undefined> {
  try {
    return { path, text: await readRegular(path) };
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new OperatorError('VALUES_INVALID', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** A values.yaml that was read. */
export interface ValuesFile {
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  /** `{}` if the file is empty or does not exist. */
  readonly values: JsonObject;
}

/**
 * Reads a values.yaml.
 *
 * @param isRequired whether the file must exist
 * @throws OperatorError VALUES_INVALID with file and line if a required file is missing, it is not
 *   UTF-8, or it is no map
 */
export async function readValuesFile(path: string, isRequired: boolean, log: Logger): Promise<ValuesFile> {
  const text = await readText(path, isRequired);
  if (text === undefined) return { path, text, values: {} };
  // YAML 1.1, because helm reads the same file: there `yes` and `on` are booleans.
  const { value, hasMoreDocuments } = parseYaml(text, { source: path, booleans: 'yaml-1.1' });
  if (hasMoreDocuments) log.warn({ path }, 'only the first YAML document of the file is used');
  return { path, text, values: mapOf(value, path, 'the file') };
}

/**
 * One section of the file, `{}` if it is absent or empty.
 *
 * @throws OperatorError VALUES_INVALID if it is no map
 */
export function sectionOfFile({ path, values }: ValuesFile, key: string): JsonObject {
  return mapOf(Object.hasOwn(values, key) ? values[key] : undefined, path, `section '${key}'`);
}

/**
 * A flag of the file; undefined if it is absent.
 *
 * @throws OperatorError VALUES_INVALID if it is neither a boolean nor the string of one
 */
export function flagOfFile({ path, values }: ValuesFile, key: string): boolean | undefined {
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw new OperatorError(
    'VALUES_INVALID',
    `${path}: unknown type for Enabled flag: ${key}: ${typeName(value)} (write true or false)`,
  );
}

function mapOf(value: Json | undefined, path: string, what: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonMap(value)) return value;
  throw new OperatorError(
    'VALUES_INVALID',
    `${path}: expect map[string]interface{} in module values: ${what} is a ${typeName(value)}`,
  );
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

async function readText(path: string, isRequired: boolean): Promise<string | undefined> {
  try {
    const bytes = await readBytes(path);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const isMissing = isMissingFile(cause);
    if (isMissing && !isRequired) return undefined;
    const advice = isMissing ? ' (strict mode is on: every modules directory and module needs one)' : '';
    throw new OperatorError('VALUES_INVALID', `cannot read ${path}: ${messageOf(cause)}${advice}`, { cause });
  }
}

async function readRegular(path: string): Promise<string> {
  return (await readBytes(path)).toString('utf8');
}

/** Refuses pipes and devices, which would be read for ever. */
async function readBytes(path: string): Promise<Buffer> {
  const stats = await stat(path);
  if (!stats.isFile() && !stats.isDirectory()) throw new Error(`${path} is not a regular file`);
  return await readFile(path);
}
