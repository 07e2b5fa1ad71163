import { parseYaml } from '@addon-operator/yaml';
import { describe, expect, test } from 'vitest';
import { LANGUAGES, type Language } from './languages.ts';
import { type NewHookOptions, newHook } from './new-hook.ts';
import { configOf, parseTrigger } from './trigger.ts';

const HOOKS = '/project/modules/030-web/hooks';
const TEST = '/project/modules/030-web/tests/count.hook-test.yaml';
const pathsOf = (options: NewHookOptions): readonly string[] => newHook(options).map(({ path }) => path);

test.each<{ what: string; options: NewHookOptions; paths: readonly string[] }>([
  { what: 'no ending: sh', options: { path: `${HOOKS}/count` }, paths: [`${HOOKS}/count.sh`, TEST] },
  { what: 'an ending', options: { path: `${HOOKS}/count.py` }, paths: [`${HOOKS}/count.py`, TEST] },
  {
    what: 'an ending of two parts',
    options: { path: `${HOOKS}/count.http.yaml` },
    paths: [`${HOOKS}/count.http.yaml`, TEST],
  },
  {
    what: 'a language',
    options: { path: `${HOOKS}/count`, language: 'ts' },
    paths: [`${HOOKS}/count.ts`, TEST],
  },
  {
    what: 'a language with a program below lib/',
    options: { path: `${HOOKS}/count`, language: 'go' },
    paths: [`${HOOKS}/count`, `${HOOKS}/lib/count/main.go`, TEST],
  },
  {
    what: 'a directory below hooks/',
    options: { path: `${HOOKS}/deep/count` },
    paths: [`${HOOKS}/deep/count.sh`, TEST],
  },
  {
    what: 'a global hook',
    options: { path: '/project/global-hooks/count' },
    paths: ['/project/global-hooks/count.sh', '/project/tests/count.hook-test.yaml'],
  },
  {
    what: 'a directory that is neither',
    options: { path: '/project/any/count' },
    paths: ['/project/any/count.sh', '/project/any/tests/count.hook-test.yaml'],
  },
])('newHook() writes for $what', ({ options, paths }) => {
  expect(pathsOf(options)).toEqual(paths);
});

test.each<{ what: string; options: NewHookOptions; message: string }>([
  {
    what: 'an ending of another language',
    options: { path: `${HOOKS}/count.py`, language: 'sh' },
    message: 'count.py is the name of a hook in python, not in sh',
  },
  {
    what: 'a name with a space',
    options: { path: `${HOOKS}/two words` },
    message: '"two words" cannot be the name of a hook',
  },
  {
    what: 'an unknown ending',
    options: { path: `${HOOKS}/count.rb` },
    message: '"count.rb" cannot be the name of a hook',
  },
  {
    what: 'a directory for libraries',
    options: { path: `${HOOKS}/lib/count` },
    message: 'hooks in a directory named lib are never run: choose another one',
  },
  {
    what: 'a hidden directory',
    options: { path: `${HOOKS}/.old/count` },
    message: 'hooks in a directory named .old are never run',
  },
  {
    what: 'a trigger of global hooks in a module',
    options: { path: `${HOOKS}/count`, on: 'beforeAll' },
    message: '--on beforeAll: write one of onStartup, beforeHelm',
  },
])('newHook() refuses $what', ({ options, message }) => {
  expect(() => newHook(options)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  );
});

test('newHook() runs hooks of modules before helm, and global hooks at the start', () => {
  const [ofModule] = newHook({ path: `${HOOKS}/count` });
  const [global] = newHook({ path: '/project/global-hooks/count' });
  expect(ofModule?.text).toContain('\nbeforeHelm: 10\n');
  expect(global?.text).toContain('\nonStartup: 10\n');
});

test('newHook() skips the test of an HTTP hook, and has the schema of tests beside it', () => {
  const files = newHook({ path: `${HOOKS}/count.http.yaml`, testSchema: '{}' });
  const [schema, test] = files.slice(-2);
  const text = test?.text ?? '';
  expect(schema).toMatchObject({
    path: expect.stringMatching(/\/tests\/hook-test\.schema\.json$/),
    text: '{}',
  });
  expect(text).toContain('# yaml-language-server: $schema=hook-test.schema.json\n');
  expect(text).toContain('  skip: "start the server that address names"\n');
});

/** The configuration of a hook, as YAML. */
const CONFIG_IN: Readonly<Record<Language, (text: string) => string>> = {
  sh: (text) => /<<'CONFIG'\n([^]*)CONFIG\n {2}exit/.exec(text)?.[1] ?? '',
  python: (text) => /CONFIG = """\n([^]*?)"""/.exec(text)?.[1] ?? '',
  go: (text) => /const config = `([^]*?)`/.exec(text)?.[1] ?? '',
  http: (text) => text,
  ts: (text) => /defineHook\(\n([^]*?),\n {2}\(input\)/.exec(text)?.[1] ?? '',
};
const TRIGGERS = [
  'beforeHelm',
  'schedule:0 * * * *',
  'kubernetes:v1/Secret',
  'validating:apps/v1/deployments',
];

describe.each(LANGUAGES)('a new hook in %s', (language) => {
  test.each(TRIGGERS)('has the configuration for %s', (on) => {
    const files = newHook({ path: `${HOOKS}/count`, language, on });
    const text = files.at(language === 'go' ? 1 : 0)?.text ?? '';
    const { value } = parseYaml(CONFIG_IN[language](text), { source: 'hook', booleans: 'yaml-1.2' });
    expect(value).toMatchObject(configOf(parseTrigger(on, true), 'count'));
  });

  test('allows everything, if it is an admission webhook', () => {
    const textOf = (on: string): string =>
      newHook({ path: `${HOOKS}/count`, language, on })
        .map(({ text }) => text)
        .join('');
    const allows = /allowed["']?: (?:true|True)|admission\.allow\(\)/;
    // The server of an HTTP hook is not written.
    expect(allows.test(textOf('validating:v1/pods'))).toBe(language !== 'http');
    expect(allows.test(textOf('beforeHelm'))).toBe(false);
  });

  test('is executable, if it is a program', () => {
    const [hook] = newHook({ path: `${HOOKS}/count`, language });
    expect(hook?.isExecutable ?? false).toBe(['sh', 'python', 'go'].includes(language));
  });
});
