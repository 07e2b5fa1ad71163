import { fieldsOf, isObject, type Json, parseJson, stringifyJson, stringOf } from '@addon-operator/json';
import { explainWait, type Pending } from '../../delivery/decide.ts';
import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, fail } from '../cli-host.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { printData } from '../output/print-data.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface VersionsRequest {
  /** Default: all modules that come from sources. */
  readonly name: string | undefined;
  readonly format: OutputFormat;
  /** Shows changes until the process is asked to stop, looking this often. */
  readonly watchInterval: string | undefined;
}

const PATH = '/delivery.json';

/** Prints the versions of modules that come from sources, as a running operator knows them. Returns the exit code. */
export async function printVersions(
  request: VersionsRequest,
  socketPath: string,
  host: CliHost,
): Promise<number> {
  const { name, format, watchInterval } = request;
  const { dumpYaml } = await import('@addon-operator/yaml');
  const toText = (body: string): string => {
    const { installs, urls } = versionsIn(body, name);
    if (format === 'json') return `${stringifyJson(installs)}\n`;
    if (format === 'yaml') return dumpYaml(installs as Json, 2);
    const lineOf = (install: Fields): string =>
      format === 'name' ? stringOf(install['name']) : versionsText(install, urls.get(install['source']));
    return installs.map((install) => `${lineOf(install)}\n`).join('');
  };
  if (watchInterval !== undefined) {
    const { watchResponse } = await import('../output/watch-response.ts');
    return await watchResponse(socketPath, PATH, watchInterval, host, { toText });
  }
  const { status, body } = await requestDebug({ socketPath, path: PATH }, host.clock);
  if (status !== 200) return fail(host, body);
  if (name !== undefined && versionsIn(body, name).installs.length === 0)
    return fail(host, `${name} does not come from a source: its versions are those of its files`);
  printData(host, toText(body));
  return 0;
}

/** The installs in a response, or the one of a module, and the URLs of sources by name. */
function versionsIn(body: string, name: string | undefined) {
  const view = fieldsOf(parseJson(body));
  return {
    installs: listOf(view['installs']).filter((one) => name === undefined || one['name'] === name),
    urls: new Map(listOf(view['sources']).map((one) => [one['name'], stringOf(one['url'])])),
  };
}

/** The paragraph about one module. */
export function versionsText(install: Fields, url: string | undefined): string {
  const name = stringOf(install['name']);
  const line = (title: string, value: unknown): string[] => {
    const { version, digest } = fieldsOf(value);
    return version === undefined
      ? []
      : [`  ${title.padEnd(10)} ${stringOf(version)} ${stringOf(digest)}`.trimEnd()];
  };
  const note = (title: string, value: unknown): string[] =>
    value === undefined ? [] : [`  ${title.padEnd(10)} ${stringOf(value)}`];
  const { pending } = install;
  return [
    name,
    ...line('installed', install['installed']),
    ...line('last good', install['lastGood']),
    ...line('wanted', install['wanted']),
    ...listOf(install['failed']).flatMap((one) => line('failed', one)),
    ...note('available', url === undefined ? undefined : `addon-operator module versions ${url}/${name}`),
    ...note('why', isObject(pending) ? explainWait(pending as unknown as Pending) : undefined),
    ...note('observed', install['waitsFor']),
    ...note(
      'problem',
      install['invalid'] ?? install['missing'] ?? install['problem'] ?? install['sourceProblem'],
    ),
  ].join('\n');
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
