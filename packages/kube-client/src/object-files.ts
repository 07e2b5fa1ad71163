import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import type { NewObject } from './object-patch/patch-operation.ts';

const OBJECT_FILE = /\.(?:ya?ml|json)$/;
/** Kinds on which other objects depend are created first. */
const FIRST_KINDS = ['Namespace', 'CustomResourceDefinition'];

/**
 * The objects in files of YAML or JSON, and in such files directly in directories; namespaces and CRDs first.
 *
 * @throws OperatorError CONFIG_INVALID naming the file, the line and what is wrong
 */
export async function readObjectFiles(paths: readonly string[]): Promise<readonly NewObject[]> {
  const objects: NewObject[] = [];
  for (const path of paths)
    for (const file of await filesAt(path)) objects.push(...parseObjects(await contentOf(file), file));
  const rank = ({ kind }: NewObject): number => (FIRST_KINDS.indexOf(kind) + 1 || FIRST_KINDS.length + 1) - 1;
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * The objects in `crds/` of a module; none without that directory.
 *
 * @throws OperatorError CONFIG_INVALID
 */
export async function moduleCrds(moduleDir: string): Promise<readonly NewObject[]> {
  return await readObjectFiles([join(moduleDir, 'crds')]).catch((error: unknown) => {
    if (error instanceof OperatorError && fieldsOf(error.cause)['code'] === 'ENOENT') return [];
    throw error;
  });
}

async function filesAt(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw new OperatorError('CONFIG_INVALID', `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => OBJECT_FILE.test(name))
    .toSorted()
    .map((name) => join(path, name));
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The objects in one or more YAML documents; those of a `List` one by one. Empty documents are skipped.
 *
 * @throws OperatorError CONFIG_INVALID
 */
export function parseObjects(yaml: string, source: string): readonly NewObject[] {
  return [...yamlDocuments(yaml)].flatMap((document) =>
    objectsIn(valueOf(document.text, source), `${source}:${document.line}`),
  );
}

/**
 * The objects in a parsed value of YAML or JSON: the items of a `List` one by one, none for null.
 *
 * @param place where it is from, for messages
 * @throws OperatorError CONFIG_INVALID
 */
export function objectsIn(value: unknown, place: string): readonly NewObject[] {
  const isList = isObject(value) && Array.isArray(value['items']) && stringOf(value['kind']).endsWith('List');
  const items: readonly unknown[] = isList ? (value['items'] as readonly unknown[]) : [value];
  return items.filter((item) => item !== null).map((item) => objectOf(item, place));
}

function valueOf(yaml: string, source: string): unknown {
  try {
    return parseYaml(yaml, { source, booleans: 'yaml-1.1' }).value;
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', messageOf(error), { cause: error });
  }
}

function objectOf(value: unknown, place: string): NewObject {
  const { apiVersion, kind, metadata, ...fields } = fieldsOf(value);
  const { name } = fieldsOf(metadata);
  if (typeof apiVersion === 'string' && typeof kind === 'string' && typeof name === 'string')
    return { apiVersion, kind, metadata: fieldsOf(metadata), ...fields };
  const lacking = Object.entries({ apiVersion, kind, 'metadata.name': name })
    .filter(([, given]) => typeof given !== 'string')
    .map(([field]) => field);
  throw new OperatorError(
    'CONFIG_INVALID',
    `${place}: not a Kubernetes object: ${lacking.join(', ')} missing`,
  );
}
