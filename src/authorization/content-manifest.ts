/**
 * The signed description of a module: name, serial number, and the hash of each file. It is written with sorted files and
 * canonical JSON, so the same module always has the same text.
 */

import { createHash } from 'node:crypto';
import { canonicalJson, isObject, parseJson } from '@addon-operator/json';
import { type ContentEntry, refused } from './module-content.ts';

const FORMAT = 'addon-operator-module/v1';

/** The identity of a module: its name and its content. */
interface ModuleContent {
  readonly name: string;
  /** Sorted by path. */
  readonly files: readonly ContentEntry[];
}

/** The signed document. */
interface ContentManifest extends ModuleContent {
  /** Grows with each signature of a module, so that an older one cannot take the place of a newer one. */
  readonly serial: number;
}

/** `sha256:` and 64 hex digits; equal for the same name and content only. */
export function contentDigest({ name, files }: ModuleContent): string {
  return `sha256:${createHash('sha256')
    .update(canonicalJson({ format: FORMAT, name, files }))
    .digest('hex')}`;
}

/** The text that is signed, one line for each file. */
export function manifestText({ name, serial, files }: ContentManifest): string {
  const lines = files.map((file) => `    ${canonicalJson(file)}`);
  const head = [`  "format": "${FORMAT}"`, `  "name": ${JSON.stringify(name)}`, `  "serial": ${serial}`];
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n${head.join(',\n')},\n  "files": ${list}\n}\n`;
}

/** The number of a manifest that is about to be replaced; undefined where the text is none. */
export function serialOf(content: string): number | undefined {
  try {
    const manifest: unknown = parseJson(content);
    return isObject(manifest) && isSerial(manifest['serial']) ? manifest['serial'] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a manifest speaks of this module as it is.
 *
 * @param content the manifest, its signature is good
 * @returns the serial number of the manifest
 * @throws OperatorError MODULE_UNAUTHORIZED naming what differs
 */
export function checkManifest(content: string, { name, files }: ModuleContent): number {
  const manifest = parse(content);
  if (manifest['format'] !== FORMAT)
    throw refused(`module.manifest has the format ${JSON.stringify(manifest['format'])}, expected ${FORMAT}`);
  if (manifest['name'] !== name)
    throw refused(`module.manifest was signed for the module ${JSON.stringify(manifest['name'])}`);
  const { serial } = manifest;
  if (!isSerial(serial)) throw refused('module.manifest has no serial number');
  const signed = linesOf(manifest['files']);
  const found = linesOf(files);
  const paths = new Set([...signed.keys(), ...found.keys()]);
  const differing = [...paths].filter((path) => signed.get(path) !== found.get(path)).toSorted();
  if (differing.length > 0)
    throw refused(`the content differs from what was signed: ${differenceText(differing, signed, found)}`);
  return serial;
}

function isSerial(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function parse(content: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = parseJson(content);
    if (isObject(manifest)) return manifest;
  } catch (cause) {
    throw refused('module.manifest is not valid JSON: sign the module again', cause);
  }
  throw refused('module.manifest is not a JSON object: sign the module again');
}

function linesOf(files: unknown): ReadonlyMap<string, string> {
  if (!Array.isArray(files)) throw refused('module.manifest has no list of files: sign the module again');
  const lines = files.map((file: unknown): readonly [string, string] => {
    const path = isObject(file) ? file['path'] : undefined;
    return [typeof path === 'string' ? path : '', canonicalJson(file)];
  });
  return new Map(lines);
}

const MAX_PATHS = 5;

function differenceText(
  paths: readonly string[],
  signed: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): string {
  const strings = paths.slice(0, MAX_PATHS).map((path) => {
    if (!signed.has(path)) return `${path} was added`;
    return found.has(path) ? `${path} was changed` : `${path} is missing`;
  });
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  return `${strings.join(', ')}${more}`;
}
