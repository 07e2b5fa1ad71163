import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '@addon-operator/strings/shell-word';
import { parseModuleName } from '../../modules/module-name.ts';
import { OWN_CODE } from '../../own-code.ts';
import { readSetting } from '../../settings/read-settings.ts';
import { type NewFile, writeNewFiles } from '../../tools/scaffold/files.ts';
import type { Language } from '../../tools/scaffold/languages.ts';
import { newHook } from '../../tools/scaffold/new-hook.ts';
import { newModule } from '../../tools/scaffold/new-module.ts';
import { keyOfName } from '../../values/module-key.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';

export interface NewHookFlags {
  readonly lang?: Language;
  /** See `parseTrigger` of the package. */
  readonly on?: string;
}

export interface NewModuleFlags {
  readonly order: string;
  readonly with: string;
  readonly lang?: Language;
}

/** Writes a hook and its test, and returns the exit code. */
export async function newHookCommand(
  path: string,
  { lang, on }: NewHookFlags,
  host: CliHost,
): Promise<number> {
  const files = newHook({
    path: resolve(host.cwd, path),
    ...(lang && { language: lang }),
    ...(on !== undefined && { on }),
    ...testSchema(),
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
  { order, lang, with: parts }: NewModuleFlags,
  settingFlags: Readonly<Record<string, string>>,
  host: CliHost,
): Promise<number> {
  const [dir = 'modules'] = readSetting('modulesDirs', { env: host.env, flags: settingFlags });
  const module = parseModuleName(name);
  const files = newModule({
    name: module,
    key: keyOfName(module),
    modulesDir: resolve(host.cwd, dir),
    order: Number(order),
    parts: parts.split(','),
    ...(lang && { language: lang }),
    ...testSchema(),
  });
  const directory = shellWord(
    relative(host.cwd, resolve(host.cwd, dir, `${order.padStart(3, '0')}-${name}`)),
  );
  const hasTest = files.some(({ path }) => path.endsWith('.hook-test.yaml'));
  return await Promise.resolve(
    write(files, host, () => [...(hasTest ? [`hook test ${directory}`] : []), `module lint ${directory}`]),
  );
}

/** @param commandsFor what to try next, with the path of the test */
function write(
  files: readonly NewFile[],
  { cwd, stdout, command: program = 'addon-operator' }: CliHost,
  commandsFor: (test: string) => readonly string[],
): number {
  writeNewFiles(files);
  const paths = files.map(({ path }) => relative(cwd, path));
  const next = commandsFor(shellWord(paths.at(-1) ?? '')).map((command) => `  ${program} ${command}\n`);
  stdout.write(harmless(`${paths.map((path) => `${path}\n`).join('')}try:\n${next.join('')}`));
  return 0;
}

/** Editors complete tests by the schema of this program, wherever it is installed. */
function testSchema(): { readonly testSchema?: string } {
  const path = fileURLToPath(new URL('../docs/schema/hook-test.schema.json', OWN_CODE));
  return existsSync(path) ? { testSchema: path } : {};
}
