import type { JsonObject } from '@addon-operator/json';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { expect, test } from 'vitest';
import type { ModuleName } from '../../values/module-key.ts';
import { parseSectionSchemas } from '../../values/section-schemas.ts';
import { ValuesStore } from '../../values/values-store.ts';
import { type EditableModule, suggestEdit } from './edit-suggestion.ts';

function module(name: string, values: JsonObject, configValues: JsonObject = {}): EditableModule {
  return { name, section: name, values, configValues, choices: () => [], accepts: () => true };
}

/** With the schemas of a ConfigMap section and of all values, both as YAML. */
function storeOf(values: JsonObject, config: string, all = ''): ValuesStore {
  const file = (path: string, text: string) => (text === '' ? undefined : { path, text });
  const tools = { check: new SchemaCheck() };
  const schemas = parseSectionSchemas(file('config-values.yaml', config), file('values.yaml', all), tools);
  const name = 'web' as ModuleName;
  return new ValuesStore({
    global: {},
    modules: new Map([[name, values]]),
    schemas: new Map([[name, schemas]]),
  });
}

test('suggestEdit() prefers replicas, and keeps what the ConfigMap says already', () => {
  const modules = [
    module('db', { size: 3 }),
    module('web', { message: 'hi', replicas: 2 }, { message: 'hi' }),
  ];
  expect(suggestEdit(modules)).toEqual({
    module: 'web',
    section: 'web',
    key: 'replicas',
    value: 3,
    sectionValues: { message: 'hi', replicas: 3 },
  });
});

test.each<[string, JsonObject, unknown]>([
  ['a number', { title: 'a', size: 3 }, { size: 4 }],
  ['a text where there is no whole number', { ratio: 0.5, title: 'a' }, { title: 'edited by hand' }],
  ['nothing where there are no plain values', { list: [1], on: true }, undefined],
])('suggestEdit() takes %s', (_case, values, expected) => {
  expect(suggestEdit([module('m', values)])?.sectionValues).toEqual(expected);
});

const ENUM = `type: object
properties:
  mode: {type: string, default: Direct, oneOf: [{enum: [Direct]}, {enum: [Proxy]}]}
  level: {type: string, pattern: '^v[0-9]$', default: v1}
`;

test.each<readonly [string, JsonObject, string, string, JsonObject | undefined]>([
  ['another item of an enum', {}, ENUM, '', { mode: 'Proxy' }],
  [
    'a number that is not above its maximum',
    { size: 3 },
    'properties: {size: {type: integer, maximum: 3}}',
    '',
    { size: 2 },
  ],
  [
    'nothing where only one text is right',
    {},
    'properties: {mode: {type: string, enum: [A], default: A}}',
    '',
    undefined,
  ],
  [
    'nothing that helm would not get',
    { mode: 'a' },
    '',
    'properties: {mode: {type: string, maxLength: 3}}',
    undefined,
  ],
  [
    'what the schema of all values lists',
    { mode: 'a' },
    '',
    'properties: {mode: {type: string, enum: [a, b]}}',
    { mode: 'b' },
  ],
])('suggestEdit() takes %s', (_case, files, config, all, expected) => {
  const store = storeOf(files, config, all);
  const name = 'web' as ModuleName;
  const edit = suggestEdit([
    {
      name,
      section: 'web',
      values: store.writtenValues(name),
      configValues: {},
      choices: (key) => store.choices(name, key),
      accepts: (section) => store.acceptsSection(name, section),
    },
  ]);
  expect(edit?.sectionValues).toEqual(expected);
});
