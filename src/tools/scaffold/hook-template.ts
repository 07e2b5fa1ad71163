import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { NewFile } from './files.ts';
import { baseOf, SCHEMA_FILE, schemaFile } from './new-hook.ts';

export interface HookTemplateOptions {
  /** Absolute path of the directory that gets the hooks, such as `hooks` of a module. */
  readonly directory: string;
  /** Name of a template; see {@link templateNames}. */
  readonly template: string;
  /** Directory of the catalogue of examples. */
  readonly catalogue: string;
  readonly testSchema: string;
}

const ANY_EXECUTE = 0o111;
/** Files beside the hooks that their tests name. */
const NAMED_FILE = /\.\.\/([\w.-]+\.ya?ml)/g;

/** Names of the examples with hooks and tests, without their numbers. */
export function templateNames(catalogue: string): readonly string[] {
  return examplesIn(catalogue).map(nameOf);
}

/**
 * The hooks of an example with their tests, and the files that the tests name.
 *
 * @throws OperatorError CONFIG_INVALID for a template that does not exist, with the names of all
 */
export function hookTemplate({
  directory,
  template,
  catalogue,
  testSchema,
}: HookTemplateOptions): readonly NewFile[] {
  const example = examplesIn(catalogue).find((name) => nameOf(name) === template);
  if (example === undefined) {
    const names = templateNames(catalogue);
    throw new OperatorError(
      'CONFIG_INVALID',
      names.length === 0
        ? '--template: this installation has no catalogue of examples'
        : `there is no template ${template}${didYouMean(template, names)}; there are ${names.join(', ')}`,
    );
  }
  const from = join(catalogue, example);
  const { base } = baseOf(directory);
  const hooks = filesBelow(join(from, 'hooks')).map((path) => copyOf(join(from, 'hooks'), path, directory));
  const tests = filesBelow(join(from, 'tests')).map((path) => {
    const file = copyOf(join(from, 'tests'), path, join(base, 'tests'));
    return { ...file, text: adapted(file.text, relative(base, directory)) };
  });
  const named = new Set(
    tests.flatMap(({ text }) => [...text.matchAll(NAMED_FILE)].map(([, name = '']) => name)),
  );
  const others = [...named].map((name) => copyOf(from, join(from, name), base));
  return [...hooks, ...others, schemaFile(base, testSchema), ...tests];
}

function examplesIn(catalogue: string): readonly string[] {
  if (!isDirectory(catalogue)) return [];
  return readdirSync(catalogue, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => ['hooks', 'tests'].every((part) => isDirectory(join(catalogue, name, part))))
    .toSorted();
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function nameOf(example: string): string {
  return example.replace(/^\d+-/, '');
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && basename(entry.parentPath) !== '__snapshots__')
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function copyOf(from: string, path: string, to: string): NewFile {
  const isExecutable = (statSync(path).mode & ANY_EXECUTE) !== 0;
  return { path: join(to, relative(from, path)), text: readFileSync(path, 'utf8'), isExecutable };
}

/** A test, with the schema beside it and the directory of the hooks. */
function adapted(test: string, hooks: string): string {
  return test
    .replace(/^(# yaml-language-server: \$schema=).*$/m, `$1${SCHEMA_FILE}`)
    .replace(/^(hook: )hooks\//m, `$1${hooks}/`);
}
