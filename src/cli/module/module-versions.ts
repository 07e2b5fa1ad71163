import { fieldsOf, isObject, parseJson, stringOf } from '@addon-operator/json';
import { explainWait, type Pending } from '../../delivery/decide.ts';
import { requestDebug } from '../../server/debug-client.ts';
import { type CliHost, fail } from '../cli-host.ts';
import { harmless } from '../harmless.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Prints the versions of modules that come from sources, as a running operator knows them. */
export async function printVersions(
  name: string | undefined,
  socketPath: string,
  host: CliHost,
): Promise<number> {
  const { status, body } = await requestDebug({ socketPath, path: '/delivery.json' }, host.clock);
  if (status !== 200) return fail(host, body);
  const view = fieldsOf(parseJson(body));
  const installs = listOf(view['installs']).filter((one) => name === undefined || one['name'] === name);
  if (name !== undefined && installs.length === 0)
    return fail(host, `${name} does not come from a source: its versions are those of its files`);
  const urls = new Map(listOf(view['sources']).map((one) => [one['name'], stringOf(one['url'])]));
  for (const install of installs)
    host.stdout.write(`${harmless(versionsText(install, urls.get(install['source'])))}\n`);
  return 0;
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
