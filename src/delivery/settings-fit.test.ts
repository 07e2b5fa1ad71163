import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { parseSectionSchemas } from '../values/section-schemas.ts';
import { type SettingsOfContent, settingsFit } from './settings-fit.ts';

const CONFIG = `
type: object
properties:
  replicas: {type: integer, default: 1, maximum: 3}
  password: {type: string, minLength: 3}
`;
const VALUES = `
type: object
x-extend: {schema: config-values.yaml}
required: [internal]
properties:
  internal: {type: object, properties: {port: {type: integer}}}
`;

const schemasOf = (config?: string, values?: string): SettingsOfContent['schemas'] =>
  parseSectionSchemas(
    config === undefined ? undefined : { path: 'config-values.yaml', text: config },
    values === undefined ? undefined : { path: 'values.yaml', text: values },
    { check: new SchemaCheck() },
  );

const fit = (facts: Partial<SettingsOfContent>): readonly string[] =>
  settingsFit({
    module: 'my-web' as ModuleName,
    section: undefined,
    staticValues: {},
    schemas: schemasOf(CONFIG, VALUES),
    ...facts,
  });

test.each<readonly [string, Partial<SettingsOfContent>, readonly string[]]>([
  ['no section fits', {}, []],
  ['an empty section fits', { section: {} }, []],
  ['a section without schemas fits', { section: { any: 1 }, schemas: {} }, []],
  ['a valid section fits', { section: { replicas: 3 } }, []],
  [
    'a field of another type has its path',
    { section: { replicas: 'two' } },
    ['myWeb.replicas in body must be of type integer: "string"'],
  ],
  [
    'an unknown field has its path',
    { section: { replicas: 1, canary: true } },
    ['myWeb.canary in body is a forbidden property'],
  ],
  [
    'values of files are checked with the section',
    { staticValues: { internal: { port: 'http' } } },
    ['myWeb.internal.port in body must be of type integer: "string"'],
  ],
  [
    'the section wins over the values of files',
    { staticValues: { replicas: 9 }, section: { replicas: 2 } },
    [],
  ],
])('%s', (_name, facts, problems) => {
  expect(fit(facts)).toEqual(problems);
});

test('a reference to a Secret is judged by its text, and not at all without one', () => {
  const section = { password: { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } } };
  const secrets = (text?: string): SettingsOfContent['secrets'] => ({
    namespace: 'addons',
    lookup: () => (text === undefined ? { type: 'unknown', why: 'not read' } : { type: 'known', text }),
  });
  expect(fit({ section, secrets: secrets('long enough') })).toEqual([]);
  expect(fit({ section, secrets: secrets('x') })).toEqual([
    'myWeb.password in body should be at least 3 chars long',
  ]);
  expect(fit({ section, secrets: secrets() })).toEqual([]);
});
