import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@addon-operator/json';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { publishedSchema } from '../../src/hook-config/hook-config-schemas.ts';
import { httpHookSchema } from '../../src/hooks/http/http-endpoint.ts';
import { RECORDING_SCHEMA } from '../../src/recordings/hook-recordings.ts';
import { TEST_FILE_SCHEMA } from '../../src/tools/hook-test/hook-test.ts';
import { projectRoot } from './checkout.ts';

// `npx vitest run --project unit test/checks/hook-schemas.test.ts -u` writes the files anew.
const PUBLISHED = [
  ['v0', 'global'],
  ['v0', 'module'],
  ['v1', 'global'],
  ['v1', 'module'],
] as const;

test.each(PUBLISHED)('docs/schema has the schema of %s for %s hooks', async (version, scope) => {
  const text = `${JSON.stringify(publishedSchema(version, scope), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(`../../docs/schema/hook-config-${version}.${scope}.schema.json`);
});

test.each(PUBLISHED)(
  'the schema of %s for %s hooks is valid, and describes every property',
  (version, scope) => {
    const schema = publishedSchema(version, scope);
    expect(new Ajv({ allowUnionTypes: true }).validateSchema(schema)).toBe(true);
    expect(undescribed(schema, '')).toEqual([]);
  },
);

test.each(['global', 'module'] as const)(
  'docs/schema has the schema of HTTP hooks, %s ones, and it describes every property',
  async (scope) => {
    const schema = httpHookSchema(scope);
    expect(new Ajv({ allowUnionTypes: true }).validateSchema(schema)).toBe(true);
    expect(undescribed(schema, '')).toEqual([]);
    const text = `${JSON.stringify(schema, undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`../../docs/schema/http-hook-v1.${scope}.schema.json`);
  },
);

test('the schemas of HTTP hooks accept the samples of their page, and the example', () => {
  const page = readFileSync(join(projectRoot, 'docs/http-hooks.md'), 'utf8');
  const samples = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => text);
  const example = 'examples/http-hook/modules/001-size/hooks/size.http.yaml';
  const accepts = new Ajv({ allowUnionTypes: true }).compile(httpHookSchema('module'));
  for (const text of [...samples, readFileSync(join(projectRoot, example), 'utf8')])
    expect([text, accepts(load(text)), accepts.errors]).toEqual([text, true, null]);
  expect(accepts({ address: 'http://a/', beforeAll: 1 })).toBe(false);
});

test('docs/schema has the schema of recordings of hooks, and it describes every property', async () => {
  expect(new Ajv({ allowUnionTypes: true }).validateSchema(RECORDING_SCHEMA)).toBe(true);
  expect(undescribed(RECORDING_SCHEMA, '')).toEqual([]);
  const text = `${JSON.stringify(RECORDING_SCHEMA, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/schema/hook-recording.schema.json');
});

test('docs/schema has the schema of tests of hooks, and it describes every property', async () => {
  expect(new Ajv({ allowUnionTypes: true }).validateSchema(TEST_FILE_SCHEMA)).toBe(true);
  expect(undescribed(TEST_FILE_SCHEMA, '')).toEqual([]);
  const text = `${JSON.stringify(TEST_FILE_SCHEMA, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/schema/hook-test.schema.json');
});

/** Paths of the properties that say nothing about themselves. */
function undescribed(schema: unknown, path: string): readonly string[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [
    ...properties.flatMap(([name, property]) => [
      ...(isObject(property) && typeof property['description'] === 'string' ? [] : [`${path}.${name}`]),
      ...undescribed(property, `${path}.${name}`),
    ]),
    ...undescribed(schema['items'], `${path}[]`),
  ];
}
