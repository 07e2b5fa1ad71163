import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { publishedSchema } from '../../src/hooks/published-schema.ts';
import { isObject } from '../../src/lib/json.ts';

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
  'the schema of %s for %s hooks is one, and describes every property',
  (version, scope) => {
    const schema = publishedSchema(version, scope);
    expect(new Ajv().validateSchema(schema)).toBe(true);
    expect(undescribed(schema, '')).toEqual([]);
  },
);

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
