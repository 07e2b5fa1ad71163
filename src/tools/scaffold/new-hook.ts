import { basename, dirname, join, relative } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { NewFile } from './files.ts';
import { hookTestText } from './hook-test-text.ts';
import { hookFilesIn, LANGUAGES, type Language } from './languages.ts';
import { parseTrigger } from './trigger.ts';

export interface NewHookOptions {
  /** Absolute, with or without an ending. */
  readonly path: string;
  /** Default: that of the ending, else `sh`. */
  readonly language?: Language;
  /** See `parseTrigger`; default: `beforeHelm` for hooks of modules, else `onStartup`. */
  readonly on?: string;
  /** The schema of tests as JSON, for editors: it is written beside the test, where it is there for everyone. Absent: none. */
  readonly testSchema?: string;
}

const ENDINGS: readonly (readonly [string, Language])[] = [
  ['.http.yaml', 'http'],
  ['.sh', 'sh'],
  ['.py', 'python'],
  ['.ts', 'ts'],
  ['.go', 'go'],
];
/** Beside the tests that name it. */
export const SCHEMA_FILE = 'hook-test.schema.json';
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const IGNORED = ['lib', 'venv'];

/**
 * A hook with one binding, and its test.
 *
 * @throws OperatorError CONFIG_INVALID for a name that is no hook's, an ending of another language, or a trigger that
 *   is none
 */
export function newHook({ path, language, on, testSchema }: NewHookOptions): readonly NewFile[] {
  const [ending, ofEnding] = ENDINGS.find(([each]) => path.endsWith(each)) ?? ['', undefined];
  const name = basename(path, ending);
  const chosen = language ?? ofEnding ?? 'sh';
  if (ofEnding !== undefined && ofEnding !== chosen)
    throw new OperatorError(
      'CONFIG_INVALID',
      `${basename(path)} is the name of a hook in ${ofEnding}, not in ${chosen}`,
    );
  if (!NAME.test(name))
    throw new OperatorError(
      'CONFIG_INVALID',
      `${JSON.stringify(name)} cannot be the name of a hook: use letters, digits, "-" and "_", and an ending of ${LANGUAGES.join(', ')} or none`,
    );
  const directory = dirname(path);
  const { base, isOfModule } = baseOf(directory);
  const skipped = relative(base, directory)
    .split('/')
    .find((part) => (part.startsWith('.') ? part !== '.' && part !== '..' : IGNORED.includes(part)));
  if (skipped !== undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      `hooks in a directory named ${skipped} are never run: choose another one`,
    );
  const trigger = parseTrigger(on ?? (isOfModule ? 'beforeHelm' : 'onStartup'), isOfModule);
  const greeting = `${name} runs`;
  const files = hookFilesIn(chosen, { name, greeting, trigger }).map((file) => ({
    ...file,
    path: join(directory, file.path),
  }));
  const [hook] = files;
  const testPath = join(base, 'tests', `${name}.hook-test.yaml`);
  const test = hookTestText({
    hook: relative(base, hook?.path ?? path),
    greeting,
    trigger,
    schema: testSchema && SCHEMA_FILE,
    skip: chosen === 'http' ? 'start the server that address names' : undefined,
  });
  const schema = testSchema === undefined ? [] : [schemaFile(base, testSchema)];
  return [...files, ...schema, { path: testPath, text: test }];
}

/** The file with the schema of the tests below a directory. */
export function schemaFile(base: string, text: string): NewFile {
  return { path: join(base, 'tests', SCHEMA_FILE), text, isShared: true };
}

/** The directory that `tests` is in: that of the module, or the one above the global hooks. */
export function baseOf(directory: string): { readonly base: string; readonly isOfModule: boolean } {
  for (let each = directory; each !== dirname(each); each = dirname(each)) {
    if (basename(each) === 'hooks') return { base: dirname(each), isOfModule: true };
    if (basename(each) === 'global-hooks') return { base: dirname(each), isOfModule: false };
  }
  return { base: directory, isOfModule: false };
}
