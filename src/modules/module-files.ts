import { constants, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { isMissingFile } from '../lib/missing-file.ts';
import { mergeValues } from '../values/merge.ts';
import { keyOfName } from '../values/module-key.ts';
import { readChartVersion, readManifest } from './manifest-file.ts';
import type { ChartKind, Module } from './module.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { flagOfFile, readValuesFile, sectionOfFile, type ValuesFile } from './values-file.ts';

/**
 * Reads what the directory of one module says.
 *
 * @param common the values.yaml beside the module's directory
 * @param isStrict whether the module must have a values.yaml
 * @throws OperatorError VALUES_INVALID for a values.yaml that cannot be used, MODULE_INVALID when something in the
 *   directory cannot be looked at
 */
export async function loadModule(
  { name, order, path }: Pick<Module, 'name' | 'order' | 'path'>,
  common: ValuesFile,
  isStrict: boolean,
  log: Logger,
): Promise<Module> {
  const key = keyOfName(name);
  const own = await readValuesFile(join(path, 'values.yaml'), isStrict, log);
  const manifest = await readManifest(path);
  return {
    name,
    key,
    order,
    path,
    chart: await chartKind(path),
    enabledScript: await enabledScript(path, name, log),
    ownFlag: flagOfFile(own, `${key}Enabled`),
    loadedValues: { text: own.text },
    staticValues: mergeValues(sectionOfFile(common, key), sectionOfFile(own, key)),
    manifest,
    version: manifest.version ?? (await readChartVersion(path)),
  };
}

/** A module of which only its place is known, and what the common values.yaml beside it says. */
export function refusedModule(
  { name, order, path }: Pick<Module, 'name' | 'order' | 'path'>,
  common: ValuesFile,
  refusal: string,
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

async function chartKind(path: string): Promise<ChartKind> {
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

/** What stands at the path, links followed; undefined if nothing does. */
async function look(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new OperatorError('MODULE_INVALID', `cannot access ${path}: ${messageOf(cause)}`, { cause });
  }
}
