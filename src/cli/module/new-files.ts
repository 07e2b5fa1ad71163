import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '@addon-operator/base/errors';
import { shellWord } from '@addon-operator/strings/shell-word';
import { parseModuleName } from '../../modules/module-name.ts';
import { OWN_CODE } from '../../own-code.ts';
import { readSetting } from '../../settings/read-settings.ts';
import { TEST_FILE_SCHEMA } from '../../tools/hook-test/test-file.ts';
import { type NewFile, writeNewFiles } from '../../tools/scaffold/files.ts';
import { hookTemplate } from '../../tools/scaffold/hook-template.ts';
import type { Language } from '../../tools/scaffold/languages.ts';
import { type ModuleFromChartOptions, writeModuleFromChart } from '../../tools/scaffold/module-from-chart.ts';
import { newHook } from '../../tools/scaffold/new-hook.ts';
import { directoryName, newModule } from '../../tools/scaffold/new-module.ts';
import { keyOfName } from '../../values/module-key.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { openChart } from './open-chart.ts';

const CATALOGUE = fileURLToPath(new URL('../examples/catalogue', OWN_CODE));
const TEST_SCHEMA = `${JSON.stringify(TEST_FILE_SCHEMA)}\n`;

/** Of `module new`. */
export const DEFAULT_PARTS = 'chart,schema,hook';

export interface NewHookFlags {
  readonly lang?: Language;
  /** See `parseTrigger` of the package. */
  readonly on?: string;
  /** Name of an example of the catalogue. */
  readonly template?: string;
}

export interface NewModuleFlags {
  readonly order: string;
  readonly with?: string;
  /** A chart that the module deploys: a directory, an archive or a version in a registry. */
  readonly from?: string;
  readonly lang?: Language;
}

/**
 * Writes a hook and its test, or the hooks of a template, and returns the exit code.
 *
 * @throws OperatorError CONFIG_INVALID for a hook that cannot be written so
 */
export async function newHookCommand(
  path: string,
  { lang, on, template }: NewHookFlags,
  host: CliHost,
): Promise<number> {
  if (template !== undefined) {
    if (lang !== undefined || on !== undefined)
      throw new OperatorError(
        'CONFIG_INVALID',
        'a template has its languages and bindings: leave out --lang and --on',
      );
    const directory = resolve(host.cwd, path);
    const files = hookTemplate({ directory, template, catalogue: CATALOGUE, testSchema: TEST_SCHEMA });
    return await Promise.resolve(write(files, host, (test) => [`hook test ${dirname(test)}`]));
  }
  const files = newHook({
    path: resolve(host.cwd, path),
    ...(lang && { language: lang }),
    ...(on !== undefined && { on }),
    testSchema: TEST_SCHEMA,
  });
  return await Promise.resolve(write(files, host, (test) => [`hook test ${test}`]));
}

/**
 * Writes a module into the first modules directory, and returns the exit code.
 *
 * @param settingFlags values of flags of settings, by flag name
 */
export async function newModuleCommand(
  name: string,
  { order, lang, with: parts, from }: NewModuleFlags,
  settingFlags: Readonly<Record<string, string>>,
  host: CliHost,
): Promise<number> {
  const [dir = 'modules'] = readSetting('modulesDirs', { env: host.env, flags: settingFlags });
  const module = parseModuleName(name);
  const key = keyOfName(module);
  if (from !== undefined) {
    if (lang !== undefined || parts !== undefined)
      throw new OperatorError('CONFIG_INVALID', '--from takes all of the chart: leave out --with and --lang');
    const directory = resolve(host.cwd, dir, directoryName(order, module));
    return await newModuleFromChart(from, { name: module, key, directory }, host);
  }
  const files = newModule({
    name: module,
    key,
    modulesDir: resolve(host.cwd, dir),
    order: Number(order),
    parts: (parts ?? DEFAULT_PARTS).split(','),
    ...(lang && { language: lang }),
    testSchema: TEST_SCHEMA,
  });
  const directory = shellWord(relative(host.cwd, resolve(host.cwd, dir, directoryName(order, module))));
  const hasTest = files.some(({ path }) => path.endsWith('.hook-test.yaml'));
  return await Promise.resolve(
    write(files, host, () => [...(hasTest ? [`hook test ${directory}`] : []), `module lint ${directory}`]),
  );
}

/** Writes a module that deploys a chart as it is. */
async function newModuleFromChart(
  from: string,
  module: Omit<ModuleFromChartOptions, 'chart'>,
  host: CliHost,
): Promise<number> {
  await using opened = await openChart(from, host);
  const { chart, version } = writeModuleFromChart({ ...module, chart: opened.directory });
  const { command = 'addon-operator' } = host;
  const path = relative(host.cwd, module.directory);
  host.stdout.write(
    harmless(
      `${path} deploys chart ${chart} ${version}; its values are below ${module.key} in ${join(path, 'values.yaml')}, and in the ConfigMap\ntry:\n  ${command} module lint ${shellWord(path)}\n`,
    ),
  );
  return 0;
}

/** @param commandsFor what to try next, with the path of the test */
function write(
  files: readonly NewFile[],
  { cwd, stdout, command: program = 'addon-operator' }: CliHost,
  commandsFor: (test: string) => readonly string[],
): number {
  const paths = writeNewFiles(files).map((path) => relative(cwd, path));
  const next = commandsFor(shellWord(paths.at(-1) ?? '')).map((command) => `  ${program} ${command}\n`);
  stdout.write(harmless(`${paths.map((path) => `${path}\n`).join('')}try:\n${next.join('')}`));
  return 0;
}
