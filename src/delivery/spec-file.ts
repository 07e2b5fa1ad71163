/** The documents of `--module-sources`, where there are no CRDs. The file is read again when its content changes. */

import { readFile } from 'node:fs/promises';
import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';
import type { DeliverySpecs } from './delivery.ts';
import { DELIVERY_API_VERSION } from './delivery-crds.ts';
import { type Parsed, parseInstall, parseSource } from './parse-spec.ts';
import { nameOfSpec } from './records.ts';

const LOOK_MS = 10_000;

/**
 * Reads the documents of a file.
 *
 * @throws OperatorError SOURCE_INVALID with every mistake, one a line
 */
export function parseSpecFile(content: string, path: string): DeliverySpecs {
  const problems: string[] = [];
  const sources: DeliverySpecs['sources'][number][] = [];
  const installs: DeliverySpecs['installs'][number][] = [];
  for (const { text, line } of yamlDocuments(content)) {
    const at = `${path}:${line}`;
    try {
      const { value } = parseYaml(text, { source: path, booleans: 'yaml-1.2' });
      if (value === null) continue;
      const { kind, name, spec } = documentOf(value);
      const parsed = kind === 'ModuleSource' ? parseSource({ name, spec }) : parseInstall({ name, spec });
      if (parsed.type === 'invalid')
        problems.push(...parsed.problems.map((each) => `${at}: ${kind} ${name}: ${each}`));
      if (kind === 'ModuleSource') sources.push(parsed as DeliverySpecs['sources'][number]);
      else installs.push(parsed as DeliverySpecs['installs'][number]);
    } catch (error) {
      problems.push(`${at}: ${messageOf(error)}`);
    }
  }
  for (const [kind, all] of [
    ['ModuleSource', sources],
    ['ModuleInstall', installs],
  ] as const)
    for (const name of duplicates(all)) problems.push(`${path}: two documents are ${kind} ${name}`);
  if (sources.length + installs.length + problems.length === 0)
    problems.push(`${path}: no document: write at least one ModuleSource, or leave --module-sources out`);
  if (problems.length > 0) throw new OperatorError('SOURCE_INVALID', problems.join('\n'));
  return { sources, installs };
}

function documentOf(value: unknown) {
  const object = isObject(value) ? value : {};
  const { apiVersion, kind, spec } = object;
  if (apiVersion !== DELIVERY_API_VERSION || (kind !== 'ModuleSource' && kind !== 'ModuleInstall'))
    throw new OperatorError(
      'SOURCE_INVALID',
      `must be a ModuleSource or ModuleInstall of ${DELIVERY_API_VERSION}`,
    );
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const { name } = metadata;
  if (typeof name !== 'string' || name === '')
    throw new OperatorError('SOURCE_INVALID', `${kind} without metadata.name`);
  return { kind, name, spec };
}

function duplicates(all: readonly Parsed<{ readonly name: string }>[]): readonly string[] {
  const names = all.map(nameOfSpec);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/**
 * Passes on the documents of the file, now and after each change. One that cannot be read or is invalid changes nothing.
 *
 * @throws OperatorError SOURCE_INVALID when the first reading fails; later ones are logged
 */
export async function followSpecFile(
  path: string,
  { clock, log }: { readonly clock: Pick<SteadyClock, 'sleep'>; readonly log: Logger },
  onSpecs: (specs: DeliverySpecs) => void,
  signal: AbortSignal,
): Promise<{ readonly run: () => Promise<void> }> {
  let known = await readSpecFile(path);
  onSpecs(parseSpecFile(known, path));
  const run = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      try {
        const content = await readSpecFile(path);
        if (content === known) continue;
        known = content;
        onSpecs(parseSpecFile(content, path));
        log.info({ path }, 'module sources have changed');
      } catch (error) {
        log.error(
          { path, ...errorFields(error) },
          'module sources cannot be used, the last ones stay in effect',
        );
      }
    }
  };
  return { run };
}

/** The documents of the file, read once. @throws OperatorError SOURCE_INVALID */
export async function readSpecs(path: string): Promise<DeliverySpecs> {
  return parseSpecFile(await readSpecFile(path), path);
}

async function readSpecFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new OperatorError('SOURCE_INVALID', `cannot read --module-sources ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
