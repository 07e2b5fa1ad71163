import type { Json } from '@addon-operator/json';
import { isObject, parseJson, stringOf } from '@addon-operator/json';
import type { CliHost } from '../cli-host.ts';
import type { OutputFormat } from './output-format.ts';
import { printData } from './print-data.ts';

/**
 * Runs a command that prints text or JSON, and prints what it says in any format.
 *
 * @param namesIn the names in its JSON
 */
export async function inFormat(
  format: OutputFormat,
  host: CliHost,
  namesIn: (data: unknown) => readonly string[],
  run: (format: 'text' | 'json', host: CliHost) => Promise<number>,
): Promise<number> {
  if (format === 'json') return await run('json', host);
  if (format !== 'yaml' && format !== 'name') return await run('text', host);
  const said: string[] = [];
  const exitCode = await run('json', { ...host, stdout: { write: (text) => said.push(text) } });
  const text = said.join('');
  if (text !== '') {
    const data = parseJson(text);
    printData(host, format === 'yaml' ? await yamlOf(data as Json) : lines(namesIn(data)));
  }
  return exitCode;
}

/** The values under one key of the objects in a list. */
export function fieldOfEach(list: unknown, key: string): readonly string[] {
  return Array.isArray(list) ? list.map((item) => (isObject(item) ? stringOf(item[key]) : '')) : [];
}

async function yamlOf(data: Json): Promise<string> {
  const { dumpYaml } = await import('@addon-operator/yaml');
  return dumpYaml(data, 2);
}

function lines(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join('');
}
