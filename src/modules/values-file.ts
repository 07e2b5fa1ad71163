import { readFile } from 'node:fs/promises';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { Logger } from '../lib/log.ts';
import { isMissingFile } from '../lib/missing-file.ts';
import { isJsonMap } from '../values/merge.ts';
import { parseYaml } from '../values/yaml.ts';

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
 * @throws OperatorError VALUES_INVALID naming file and line when it is missing although required, is no UTF-8 text, or
 *   holds anything but a map
 */
export async function readValuesFile(path: string, isRequired: boolean, log: Logger): Promise<ValuesFile> {
  const text = await readText(path, isRequired);
  if (text === undefined) return { path, text, values: {} };
  const { value, hasMoreDocuments } = parseYaml(text, { source: path, booleans: 'yaml-1.1' });
  if (hasMoreDocuments) log.warn({ path }, 'only the first YAML document of the file is used');
  return { path, text, values: mapOf(value, path, 'the file') };
}

/**
 * One section of the file, `{}` if it is absent or empty.
 *
 * @throws OperatorError VALUES_INVALID when it is no map
 */
export function sectionOfFile({ path, values }: ValuesFile, key: string): JsonObject {
  return mapOf(Object.hasOwn(values, key) ? values[key] : undefined, path, `section '${key}'`);
}

/**
 * A flag of the file; undefined if it is absent.
 *
 * @throws OperatorError VALUES_INVALID when it is neither a boolean nor the text of one
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
    const bytes = await readFile(path);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const isMissing = isMissingFile(cause);
    if (isMissing && !isRequired) return undefined;
    const advice = isMissing ? ' (strict mode is on: every modules directory and module needs one)' : '';
    throw new OperatorError('VALUES_INVALID', `cannot read ${path}: ${messageOf(cause)}${advice}`, { cause });
  }
}
