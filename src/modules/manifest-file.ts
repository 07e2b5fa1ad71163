import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import validVersion from 'semver/functions/valid.js';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import { isMissingFile } from '../lib/missing-file.ts';
import { isJsonMap } from '../values/merge.ts';
import { parseYaml } from '../values/yaml.ts';
import { type ModuleManifest, NO_MANIFEST, parseManifest } from './module-manifest.ts';

/**
 * Reads the `module.yaml` of a module's directory; without one the module requires nothing.
 *
 * @throws OperatorError MODULE_INVALID for a file that cannot be read or used
 */
export async function readManifest(modulePath: string): Promise<ModuleManifest> {
  const path = join(modulePath, 'module.yaml');
  try {
    const content = await readYaml(path);
    return content === undefined ? NO_MANIFEST : parseManifest(content, path);
  } catch (cause) {
    if (cause instanceof OperatorError && cause.code === 'MODULE_INVALID') throw cause;
    throw new OperatorError('MODULE_INVALID', `cannot use ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** The version in the Chart.yaml of a module's directory, if there is one that other modules can be compared with. */
export async function readChartVersion(modulePath: string): Promise<string | undefined> {
  try {
    const chart = await readYaml(join(modulePath, 'Chart.yaml'));
    const version = isJsonMap(chart) ? chart['version'] : undefined;
    return (typeof version === 'string' && validVersion(version)) || undefined;
  } catch {
    // Whether the chart can be used is for helm to say, when the module runs.
    return undefined;
  }
}

async function readYaml(path: string): Promise<Json | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw cause;
  }
  return parseYaml(text, { source: path, booleans: 'yaml-1.2' }).value;
}
